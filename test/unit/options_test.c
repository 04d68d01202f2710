/* The command line, its agent form, and what is printed of JVMs with hostile names. */
#include "tui/list.h"
#include "tui/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Splits a line at blanks and parses it; "\1" stands for a blank inside a word. */
static int parse_as(const char *program, const char *line, struct options *o, struct err *e) {
    static char text[4096];
    static char *argv[64];
    int argc = 0;
    snprintf(text, sizeof text, "%s %s", program, line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        for (char *p = word; *p; p++)
            if (*p == '\1')
                *p = ' ';
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    *e = (struct err){0};
    return options_parse(o, argc, argv, e);
}

static struct options good(const char *line) {
    struct options o;
    struct err e;
    if (parse_as("/usr/bin/jtop-prof", line, &o, &e) != 0)
        fail_msg("jtop-prof %s: %s", line, e.message);
    return o;
}

static void bad(const char *line, int exit_code, const char *says) {
    struct options o;
    struct err e;
    if (parse_as("jtop-prof", line, &o, &e) >= 0)
        fail_msg("jtop-prof %s was accepted", line);
    if (e.exit_code != exit_code || !strstr(e.message, says))
        fail_msg("jtop-prof %s: exit %d, wanted %d; \"%s\", wanted \"%s\"", line, e.exit_code,
                 exit_code, e.message, says);
    assert_null(strchr(e.message, '\n'));
}

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
        {"-v", ACTION_VERSION, NULL},
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
    assert_true(parse_as("asprof", "start 123", &o, &e) < 0);
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
    assert_int_equal(o.session.event, WIRE_EVENT_CPU);
    assert_int_equal(o.session.mechanism, WIRE_MECHANISM_ITIMER);
    assert_int_equal(o.session.interval, 500000);
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
    assert_int_equal(good("-i 1000000 9").session.interval, 1000000);
    assert_int_equal(good("--cstack no --cstack default 9").session.walk, WIRE_WALK_VM);
    for (int i = 0; i < WIRE_WALKS; i++) {
        char line[64];
        snprintf(line, sizeof line, "--cstack=%s 9", session_walk_name[i]);
        assert_int_equal(good(line).session.walk, i);
    }
}

static void wrong_lines_get_one_clear_line(void **state) {
    (void)state;
    bad("--titel x 9", 1, "nearest known one: --title ");
    bad("-D 5 9", 1, "nearest known one: -d ");
    bad("--thread x 9", 1, "nearest known one: --threads ");
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
    bad("-e wall 9", 100, "event wall is not in this version; there are: cpu, ctimer, itimer");
    bad("-e nosuch 9", 100, "unknown event \"nosuch\"; there are: cpu, ctimer, itimer");
    bad("-e cpu,itimer 9", 100, "one event at a time");
    bad("-e cpu -e ctimer 9", 100, "one event at a time");
    bad("-o nosuch 9", 100, "unknown format \"nosuch\"; there are: text, ");
    bad("-o flat,,svg 9", 100, "unknown format \"\"");
    bad("-o flat=0 9", 100, "flat=0");
    bad("--cstack lbr 9", 100, "\"lbr\"; there are: vm, vmx, fp, dwarf, no, asgct");
    bad("--cstack VM 9", 100, "\"VM\"; there are: vm, ");
    bad("--cstack= 9", 100, "\"\"; there are: vm, ");
    bad("--precise=yes 9", 1, "takes no value");
    bad("start 9", 1, "action start is not in this version");
    bad("list", 1, "--list");
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
    assert_int_equal(o.session.mechanism, WIRE_MECHANISM_CTIMER);
    assert_int_equal(o.session.interval, 1000000);
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

    char wrong[] = "start,event=nosuch";
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

/* Nothing is reachable twice, and help shows every option once. */
static void the_table_is_sound(void **state) {
    (void)state;
    struct text help = {0};
    options_help(&help);
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
    for (char *line = strtok(help.data, "\n"); line; line = strtok(NULL, "\n"))
        if (strlen(line) > 80)
            fail_msg("--help: longer than 80 columns: %s", line);
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
    assert_non_null(strstr(t.data, "\"name\": \"a\\\"b\\\\c\\u0001\\u007f\\ufffd\xc3\xa4"
                                   "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\", "));
    assert_non_null(strstr(t.data, "\"cpu_percent\": 12.3,"));
    text_clear(&t);
    list_json(&t, NULL, 0);
    assert_string_equal(t.data, "[]\n");
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_batch_and_collect_are_told_apart),
        cmocka_unit_test(n_is_a_count_beside_batch_and_norm_otherwise),
        cmocka_unit_test(values_reach_their_fields),
        cmocka_unit_test(wrong_lines_get_one_clear_line),
        cmocka_unit_test(the_agent_form_means_the_same),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(json_is_safe_whatever_a_jvm_calls_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
