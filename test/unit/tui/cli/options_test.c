/* The command line, its agent form, and what is printed of JVMs with hostile names. */
#include "core/wire/wire_names.h"
#include "test/unit/tui/cli/options_fixture.h"
#include "tui/cli/command/command.h"
#include "tui/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void live_batch_and_collect_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum options_action action;
        const char *target;
    } cases[] = {
        {"", ACTION_LIVE, NULL},
        {"123", ACTION_LIVE, "123"},
        {"-e cpu -i 1ms -t -s --ascii --no-color jps", ACTION_LIVE, "jps"},
        {"--title x Main", ACTION_LIVE, "Main"},
        {"--record r.jtop 123", ACTION_LIVE, "123"},
        {"-d 10 123", ACTION_COLLECT, "123"},
        {"123 -d10", ACTION_COLLECT, "123"},
        {"-f out.svg 123", ACTION_COLLECT, "123"},
        {"-o flat 123", ACTION_COLLECT, "123"},
        {"collect 123", ACTION_COLLECT, "123"},
        {"-i 1ms collect -s jps", ACTION_COLLECT, "jps"},
        {"123 collect", ACTION_COLLECT, "123"},
        {"--batch -n 5 123", ACTION_FRAMES, "123"},
        {"-n 5 --batch 123", ACTION_FRAMES, "123"},
        {"--list", ACTION_LIST, NULL},
        {"--list --json", ACTION_LIST, NULL},
        {"-d 10 --help", ACTION_HELP, NULL},
        {"--help serve", ACTION_HELP, NULL},
        {"push -h", ACTION_HELP, NULL},
        {"-v", ACTION_VERSION, NULL},
        {"--timeout 5s 123", ACTION_COLLECT, "123"},
        {"--loop 1h -f %t.svg 123", ACTION_COLLECT, "123"},
        {"-e alloc,wall 123", ACTION_LIVE, "123"},
        {"list 123", ACTION_EVENTS, "123"},
        {"check -e alloc 123", ACTION_CHECK, "123"},
        {"-- -odd-name", ACTION_LIVE, "-odd-name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o = good(cases[i].line);
        if (o.action != cases[i].action)
            fail_msg("jtop-prof %s: action %d", cases[i].line, (int)o.action);
        if (cases[i].target)
            assert_string_equal(o.target, cases[i].target);
        else
            assert_null(o.target);
    }
    struct options o;
    struct err e;
    assert_int_equal(parse_as("/opt/asprof", "123", &o, &e), 0);
    assert_int_equal(o.action, ACTION_COLLECT);
    assert_true(o.as_asprof);
    assert_int_equal(parse_as("asprof", "start 123", &o, &e), 0);
    assert_int_equal(o.action, ACTION_BACKGROUND);
    assert_int_equal(parse_as("asprof", "list 123", &o, &e), 0);
    assert_int_equal(o.action, ACTION_EVENTS);
    assert_int_equal(parse_as("./profiler.sh", "-e cpu Main", &o, &e), 0);
    assert_int_equal(o.action, ACTION_COLLECT);
}

static void n_is_a_count_beside_batch_and_norm_otherwise(void **state) {
    (void)state;
    struct options o = good("-n -d 1 5");
    assert_true(o.export.normalize);
    assert_string_equal(o.target, "5");
    assert_int_equal(o.frames, 0);
    o = good("-n5 --batch 7");
    assert_false(o.export.normalize);
    assert_int_equal(o.frames, 5);
    /* The word is a value here, so no frames are asked for. */
    o = good("--title --batch -n -d 1 5");
    assert_true(o.export.normalize);
    assert_string_equal(o.export.title, "--batch");
    bad("--batch -n x 7", 1, "-n x");
}

static void values_reach_their_fields(void **state) {
    (void)state;
    struct options o =
        good("-d 2m -e itimer -i 500us -j 64 -b 2m -f a.svg -f b.txt -o flat=20,svg -t -s -g -a -l "
             "--total --title=a\1b --width 800 --height 20 --minwidth 0.25 --reverse --inverted "
             "--record r --libpath /l.so --cstack vmx --precise --refresh 2s --history 5m 9");
    assert_int_equal(o.duration_ms, 120000);
    assert_int_equal(o.session.engines, 1);
    assert_int_equal(o.session.engine[0].event, WIRE_EVENT_CPU);
    assert_int_equal(o.session.engine[0].mechanism, WIRE_MECHANISM_ITIMER);
    assert_int_equal(o.session.engine[0].interval, 500000);
    assert_int_equal(o.session.depth, 64);
    assert_int_equal(o.session.ring_bytes, 2 << 20);
    assert_int_equal(o.session.history_seconds, 300);
    assert_int_equal(o.session.walk, WIRE_WALK_VMX);
    assert_true(o.session.precise);
    assert_string_equal(o.session.record, "r");
    assert_string_equal(o.session.library, "/l.so");
    assert_int_equal(o.refresh_ms, 2000);
    assert_int_equal(o.files, 2);
    assert_string_equal(o.file[1], "b.txt");
    assert_int_equal(o.formats, 2);
    assert_string_equal(o.format[0]->name, "text");
    assert_string_equal(o.format[1]->name, "svg");
    assert_int_equal(o.export.flat, 20);
    assert_true(o.export.want_flat && !o.export.want_traces);
    assert_true(o.export.threads && o.export.simple && o.export.signatures);
    assert_true(o.export.annotate && o.export.library && o.export.total);
    assert_true(o.export.reverse && o.export.inverted && !o.export.normalize);
    assert_string_equal(o.export.title, "a b");
    assert_int_equal(o.export.width, 800);
    assert_int_equal(o.export.height, 20);
    assert_true(o.export.minwidth == 0.25);
    assert_false(good("--total --samples 9").export.total);
    /* A script of another profiler asks for more than there is: it gets what there is. */
    assert_int_equal(good("-j 100000 9").session.depth, WIRE_FRAMES_MAX);
    assert_int_equal(good("-b 1 9").session.ring_bytes, WIRE_RING_BYTES_MIN);
    assert_int_equal(good("-i 1000000 9").session.engine[0].interval, 1000000);
    assert_int_equal(good("--cstack no --cstack default 9").session.walk, WIRE_WALK_VM);
    for (int i = 0; i < WIRE_WALKS; i++) {
        char line[64];
        snprintf(line, sizeof line, "--cstack=%s 9", wire_walk_name[i]);
        assert_int_equal(good(line).session.walk, i);
    }
}

/* Events in the order given, each with its interval: "cpu 1000 alloc 0". */
static void engines_are(const char *line, const char *expected) {
    struct options o = good(line);
    struct text t = {0};
    for (uint32_t i = 0; i < o.session.engines; i++)
        text_addf(&t, "%s%s %llu", i ? " " : "", o.session.engine[i].name,
                  (unsigned long long)o.session.engine[i].interval);
    if (strcmp(t.data, expected) != 0)
        fail_msg("%s: %s", line, t.data);
    text_free(&t);
}

static void several_events_and_their_intervals(void **state) {
    (void)state;
    engines_are("9", "cpu 0");
    engines_are("-i 2ms 9", "cpu 2000000");
    engines_are("-e cpu,alloc,lock,wall 9", "cpu 0 alloc 0 lock 0 wall 0");
    engines_are("-e cpu -e alloc -e cpu -i 1ms 9", "cpu 1000000 alloc 0");
    engines_are("-e alloc -i 1m 9", "alloc 1048576");
    engines_are("-e alloc -i 0 9", "alloc 1"); /* every single one, which 0 would not say */
    engines_are("-e nativemem -i 0 9", "nativemem 0");
    engines_are("-e lock -i 5us 9", "lock 5000");
    engines_are("-e cycles -i 2m 9", "cycles 2000000");
    engines_are("-e cycles 9", "cycles 1000000");
    /* The comma between slashes is the PMU's. */
    engines_are("-e software/config=2,period=7/,alloc 9", "software/config=2,period=7/ 7 alloc 0");
}

static void options_about_events(void **state) {
    (void)state;
    engines_are("--alloc 2k 9", "alloc 2048");
    engines_are("-e cpu --alloc 2k --wall 20ms --lock 1ms --nativemem 0 --nativelock 3us 9",
                "cpu 0 alloc 2048 wall 20000000 lock 1000000 nativemem 0 nativelock 3000");
    engines_are("-e alloc,cpu --alloc 1m -i 1ms 9", "alloc 1048576 cpu 1000000");
    engines_are("-e a.B.c:10ms,cpu -i 2ms 9", "a.B.c 10000000 cpu 2000000");
    struct options o = good("-e cpu,alloc,nativemem,page-faults --all-user --live --tlab --nofree "
                            "--target-cpu 0 --signal 30/31 --sched --record-cpu --memlimit 64m 9");
    const struct wire_engine_request *q = o.session.engine;
    assert_int_equal(q[0].flags, WIRE_ENGINE_ALL_USER | WIRE_ENGINE_TARGET_CPU);
    assert_int_equal(q[0].cpu, 0);
    assert_int_equal(q[1].flags, WIRE_ENGINE_LIVE | WIRE_ENGINE_TLAB);
    assert_int_equal(q[2].flags, WIRE_ENGINE_NO_FREE);
    assert_int_equal(q[3].flags, WIRE_ENGINE_ALL_USER | WIRE_ENGINE_TARGET_CPU);
    assert_int_equal(o.session.signal, 30);
    assert_int_equal(o.session.wall_signal, 31);
    assert_true(o.session.tag_cpu && o.session.tag_sched);
    assert_int_equal(o.session.memory_limit, 64 << 20);
    o = good("--target-cpu 0 --all-kernel --clock tsc --signal 12 9");
    assert_int_equal(o.session.engine[0].flags, WIRE_ENGINE_ALL_KERNEL | WIRE_ENGINE_TARGET_CPU);
    assert_int_equal(o.session.engine[0].cpu, 0);
    assert_int_equal(o.session.wall_signal, 0);

    o = good("--filter 120-127,132 --filter 7 --thread ^http- 9");
    assert_int_equal(o.session.tid_ranges, 3);
    assert_true(o.tid[0].first == 120 && o.tid[0].last == 127);
    assert_true(o.tid[1].first == 132 && o.tid[1].last == 132 && o.tid[2].first == 7);
    assert_string_equal(o.session.thread_pattern, "^http-");
    o = good("--begin f --end g --nostop 9");
    assert_string_equal(o.session.begin, "f");
    assert_string_equal(o.session.end, "g");
    assert_true(o.session.window_marks);
    assert_string_equal(good("--ttsp 9").session.begin, "SafepointSynchronize::begin");
}

static void lengths_and_times_of_day(void **state) {
    (void)state;
    struct options o = good("--timeout 90 --loop 1h 9");
    assert_int_equal(options_moment_ms(&o.timeout, 0), 90000);
    assert_int_equal(options_moment_ms(&o.loop, 0), 3600000);
    o.loop = (struct options_moment){0};
    assert_int_equal(options_moment_ms(&o.loop, 0), 0);
    setenv("TZ", "UTC", 1);
    tzset();
    const int64_t noon = INT64_C(43200);
    o = good("--timeout 12:00:05 9");
    assert_int_equal(options_moment_ms(&o.timeout, noon), 5000);
    assert_int_equal(options_moment_ms(&o.timeout, noon + 5), 86400000); /* tomorrow's */
    o = good("--loop 24:30:00 9");                                       /* of every hour */
    assert_int_equal(options_moment_ms(&o.loop, noon), 1800000);
    assert_int_equal(options_moment_ms(&o.loop, noon + 1800), 3600000);
}

static void wrong_lines_get_one_clear_line(void **state) {
    (void)state;
    bad("--titel x 9", 1, "nearest known one: --title ");
    bad("-D 5 9", 1, "nearest known one: -d ");
    bad("--thraeds 9", 1, "nearest known one: --threads ");
    bad("--reader-pd 5", 1, "unknown option");
    bad("-d", 1, "-d needs a value");
    bad("--ascii=yes 9", 1, "takes no value");
    bad("-d 0 9", 1, "-d 0");
    bad("-d -5 9", 1, "-d -5");
    bad("-d 10x 9", 1, "-d 10x");
    bad("-d 1.5 9", 1, "-d 1.5");
    bad("-d 99999999999999999999999 9", 1, "from 1ms to 365d");
    bad("-d 18446744073709552s 9", 1, "from 1ms to 365d"); /* times 1000: just over 2^64 */
    bad("-i 0 9", 100, "from 1us");
    bad("-i 999 9", 100, "from 1us");
    bad("-i abc 9", 100, "-i abc: not an interval");
    bad("-i 18446744073709551616 9", 100, "from 1us");
    bad("-i 1m 9", 100, "not an interval");
    bad("-j 0 9", 100, "-j 0");
    bad("-b 2g 9", 100, "to 1g");
    bad("--minwidth nan 9", 100, "--minwidth nan");
    bad("--minwidth 101 9", 100, "--minwidth 101");
    bad("-e cache-mises 9", 100, "nearest known one: cache-misses");
    bad("-e cpu,,wall 9", 100, "name of the event is empty");
    bad("-e cpu,itimer 9", 100, "-e: cpu and itimer cannot be sampled together: choose one");
    bad("-e cycles -e page-faults 9", 100, "cycles and page-faults cannot be");
    bad("-e alloc -i 1ms 9", 100, "-i 1ms: not a number of bytes");
    bad("-e wall -i 1m 9", 100, "not an interval");
    bad("-e wall -i 0 9", 100, "from 1us");
    bad("-e cycles -i 0 9", 100, "from 1 to");
    bad("--alloc 1m -i 1ms 9", 100, "every event already has its own interval");
    bad("--wall 5x 9", 100, "--wall 5x: not an interval");
    bad("--lock x 9", 100, "--lock x: not a time");
    bad("--all-user --all-kernel 9", 100, "exclude each other");
    bad("--target-cpu x 9", 100, "--target-cpu x: not a processor's number");
    bad("--target-cpu 65000 9", 100, "--target-cpu 65000: this machine has ");
    bad("--signal 11 9", 100, "--signal 11: must be N or N/M");
    bad("--signal 27/27 9", 100, "must be N or N/M");
    bad("--signal 27/ 9", 100, "must be N or N/M");
    bad("--signal 99 9", 100, "must be N or N/M");
    bad("--clock sundial 9", 100, "unknown clock \"sundial\"; there are: tsc, monotonic");
    bad("--filter 5-3 9", 100, "--filter 5-3: not thread ids");
    bad("--filter 1,,2 9", 100, "not thread ids");
    bad("--filter 0 9", 100, "not thread ids");
    bad("--end g 9", 100, "--end needs --begin");
    bad("--nostop 9", 100, "--nostop needs --begin");
    bad("--ttsp --begin f 9", 100, "--ttsp sets its own window");
    bad("--timeout 25:61:00 9", 100, "not a time of day");
    bad("--timeout 1:2 9", 100, "not a time of day");
    bad("--loop 1x 9", 100, "--loop 1x: not a duration");
    bad("--memlimit 1k 9", 100, "from 16m");
    bad("-o nosuch 9", 100, "unknown format \"nosuch\"; there are: text, ");
    bad("-o flat,,svg 9", 100, "unknown format \"\"");
    bad("-o flat=0 9", 100, "flat=0");
    bad("--cstack lbr 9", 100, "\"lbr\"; there are: vm, vmx, fp, dwarf, no, asgct");
    bad("--cstack VM 9", 100, "\"VM\"; there are: vm, ");
    bad("--cstack= 9", 100, "\"\"; there are: vm, ");
    bad("--precise=yes 9", 1, "takes no value");
    bad("meminfo 9", 1, "action meminfo is not in this version; there are: collect start resume ");
    bad("list", 1, "list: which JVM?");
    bad("check -e cpu", 1, "check: which JVM?");
    bad("8 9", 1, "8 and 9");
    bad("-d 5", 1, "which JVM?");
    bad("--batch", 1, "which JVM?");
    bad("--batch -d 5 9", 1, "--batch");
    bad("--json 9", 1, "--list");
    bad("--list 9", 1, "no PID");
    bad("--reader 3", 1, "--reader-pid");
    char many[1024] = "";
    for (int i = 0; i <= OPTIONS_OUTPUTS_MAX; i++)
        strcat(many, "-f x ");
    bad(strcat(many, "9"), 100, "more than 16 files");
}

static void the_agent_form_means_the_same(void **state) {
    (void)state;
    char list[] = "start,ctimer,interval=1ms,cstack=dwarf,precise,file=out.svg,threads,simple,flat="
                  "7,nosuch=1,"
                  "collapsed,jstackdepth=99,,title=a b,frontend=/x,bogus";
    struct options o = {.reader_fd = -1};
    struct text unknown = {0};
    struct err e = {0};
    assert_int_equal(options_parse_agent(&o, list, &unknown, &e), 0);
    assert_int_equal(o.session.engine[0].mechanism, WIRE_MECHANISM_CTIMER);
    assert_int_equal(o.session.engine[0].interval, 1000000);
    assert_int_equal(o.session.depth, 99);
    assert_int_equal(o.session.walk, WIRE_WALK_DWARF);
    assert_true(o.session.precise);
    assert_string_equal(o.file[0], "out.svg");
    assert_string_equal(o.export.title, "a b");
    assert_true(o.export.threads && o.export.simple && o.export.want_flat);
    assert_int_equal(o.export.flat, 7);
    assert_int_equal(o.formats, 2);
    assert_string_equal(unknown.data, "nosuch=1, bogus");
    text_free(&unknown);

    struct options several = {.reader_fd = -1};
    char events[] = "start,event=cpu,alloc,lock=1ms,wall=20ms,live,filter=5;7-9,interval=2ms,"
                    "alluser,begin=f,nostop,loop=1h,timeout=12:00:00,thread=x,page-faults,bogus";
    text_clear(&unknown);
    assert_int_equal(options_parse_agent(&several, events, &unknown, &e), 0);
    assert_string_equal(unknown.data, "bogus"); /* and no function of that name */
    assert_int_equal(several.session.engines, 5);
    assert_int_equal(several.session.engine[0].interval, 2000000);
    assert_int_equal(several.session.engine[1].flags, WIRE_ENGINE_LIVE);
    assert_int_equal(several.session.engine[2].interval, 1000000);
    assert_string_equal(several.session.engine[4].name, "page-faults");
    assert_int_equal(several.session.tid_ranges, 2);
    assert_ptr_equal(several.session.tids, several.tid);
    assert_true(several.timeout.of_day && several.loop.ms == 3600000);

    char wrong[] = "start,event=no-such";
    assert_true(options_parse_agent(&o, wrong, &unknown, &e) < 0);
    assert_int_equal(e.exit_code, 100);
    char walk[] = "cstack=lbr";
    assert_true(options_parse_agent(&o, walk, &unknown, &e) < 0);
    assert_int_equal(e.exit_code, 100);
    char number[] = "interval=0";
    assert_true(options_parse_agent(&o, number, &unknown, &e) < 0);
    assert_non_null(strstr(e.message, "interval 0"));
    text_free(&unknown);
}

static void expect_width(const struct text *help, const char *of) {
    char *copy = strdup(help->data);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
        if (strlen(line) > 80)
            fail_msg("help of %s: longer than 80 columns: %s", of, line);
    free(copy);
}

/* -h fits on one screen, and names every action. An action's help has only its options. */
static void help_is_short(void **state) {
    (void)state;
    struct text all = {0}, words = {0};
    int lines = 0;
    options_help(&all, NULL, true);
    assert_true(strncmp(all.data, "Usage: jtop-prof ", 17) == 0);
    for (const char *c = all.data; *c; c++)
        lines += *c == '\n';
    assert_true(lines < 24);
    expect_width(&all, "-h");
    options_actions(&words);
    for (char *word = words.data, *end; (end = strchr(word, ' ')); word = end + 1) {
        struct text help = {0};
        *end = '\0';
        assert_non_null(strstr(all.data, word));
        options_help(&help, word, false);
        assert_true(strncmp(help.data, "Usage: jtop-prof ", 17) == 0);
        if (!strstr(help.data, word))
            fail_msg("no help of %s", word);
        expect_width(&help, word);
        bool http = !strcmp(word, "serve") || !strcmp(word, "push");
        assert_int_equal(strstr(help.data, "--tls-cert") != NULL, http);
        assert_int_equal(strstr(help.data, "--listen") != NULL, !strcmp(word, "serve"));
        assert_int_equal(strstr(help.data, "--to URL") != NULL, !strcmp(word, "push"));
        assert_null(strstr(help.data, "--refresh"));
        /* Options that it refuses, or that have no effect in it. */
        bool samples =
            !strcmp(word, "collect") || !strcmp(word, "start") || !strcmp(word, "resume");
        assert_int_equal(strstr(help.data, "--duration") != NULL, samples);
        assert_int_equal(strstr(help.data, "--loop") != NULL, samples);
        assert_int_equal(strstr(help.data, "--record FILE") != NULL, samples);
        assert_int_equal(strstr(help.data, "--jfrsync") != NULL, samples);
        text_free(&help);
    }
    text_free(&words);
    text_free(&all);
}

/* Nothing is reachable twice, and help shows every option once. */
static void the_table_is_sound(void **state) {
    (void)state;
    struct text help = {0};
    options_help(&help, NULL, false);
    for (int i = 0; i < option_row_count; i++) {
        const struct option_row *a = &option_rows[i];
        assert_int_equal(a->kind == OPTION_QUANTITY, a->quantity != NULL);
        for (int j = i + 1; j < option_row_count; j++) {
            const struct option_row *b = &option_rows[j];
            for (int n = 0; n < 4 && (a->when == b->when || !a->when || !b->when); n++) {
                const char *x = a->name[n & 1], *y = b->name[n >> 1];
                assert_false(x && y && strcmp(x, y) == 0);
            }
            assert_false(a->agent && b->agent && strcmp(a->agent, b->agent) == 0);
        }
        for (int n = 0; n < 2; n++)
            if (a->name[n] && a->group != GROUP_READER)
                assert_non_null(strstr(help.data, a->name[n]));
    }
    expect_width(&help, "all");
    text_free(&help);
}

static void json_is_safe_whatever_a_jvm_calls_itself(void **state) {
    (void)state;
    struct jvm j = {.pid = 7,
                    .name = "a\"b\\c\x01\x7f\xff\xc3\xa4\xed\xa0\x80\xe2\x82",
                    .version = "17",
                    .cpu_percent = 12.34};
    struct text t = {0};
    list_json(&t, &j, 1);
    assert_non_null(
        strstr(t.data, "\"name\": \"a\\u0022b\\u005cc\\u0001\\u007f?\xc3\xa4?????\", "));
    assert_non_null(strstr(t.data, "\"cpu_percent\": 12.3,"));
    text_clear(&t);
    list_json(&t, NULL, 0);
    assert_string_equal(t.data, "[]\n");
    text_free(&t);
}

static void the_live_screen(void **state) {
    (void)state;
    struct options o = good("--theme light --view flame --plain --no-mouse --source-path /a:/b 12");
    assert_int_equal(o.action, ACTION_LIVE);
    assert_string_equal(o.theme, "light");
    assert_string_equal(o.view, "flame");
    assert_string_equal(o.source_path, "/a:/b");
    assert_true(o.plain && o.no_mouse);
    o = good("");
    assert_true(!o.theme && !o.view && !o.source_path && !o.plain && !o.no_mouse);
    bad("--view graph", 1, "--view graph: not one of: overview methods");
    bad("--view=", 1, "not one of");
    bad("--view flam", 1, "not one of");
    /* what is typed is what there is */
    for (int i = 0; i < VIEWS; i++) {
        char line[64];
        snprintf(line, sizeof line, "--view %s", views[i]->name);
        assert_string_equal(good(line).view, views[i]->name);
    }
}

static void what_it_says_of_itself(void **state) {
    (void)state;
    assert_int_equal(good("--print-config").action, ACTION_CONFIG);
    struct options o = good("--check-theme mine");
    assert_int_equal(o.action, ACTION_CHECK_THEME);
    assert_string_equal(o.about, "mine");
    o = good("--completion=zsh");
    assert_int_equal(o.action, ACTION_COMPLETION);
    assert_string_equal(o.about, "zsh");
    bad("--completion csh", 1, "not one of: bash zsh fish");
    bad("--check-theme", 1, "--check-theme needs a value: NAME");
    assert_int_equal(good("--help --completion bash").action, ACTION_HELP);
    assert_true(good("serve -h").help_in_brief);
    assert_false(good("--help serve").help_in_brief);
    assert_string_equal(good("--help serve").word, "serve");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_live_screen),
        cmocka_unit_test(what_it_says_of_itself),
        cmocka_unit_test(live_batch_and_collect_are_told_apart),
        cmocka_unit_test(n_is_a_count_beside_batch_and_norm_otherwise),
        cmocka_unit_test(values_reach_their_fields),
        cmocka_unit_test(several_events_and_their_intervals),
        cmocka_unit_test(options_about_events),
        cmocka_unit_test(lengths_and_times_of_day),
        cmocka_unit_test(wrong_lines_get_one_clear_line),
        cmocka_unit_test(the_agent_form_means_the_same),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(help_is_short),
        cmocka_unit_test(json_is_safe_whatever_a_jvm_calls_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
