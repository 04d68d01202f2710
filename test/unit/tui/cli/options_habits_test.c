/* What people's scripts and fingers know from profiler.sh and asprof. */
#include "tui/cli/option/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int parse(const char *line, struct options *o, struct err *e) {
    static char text[4096];
    static char *argv[64];
    int argc = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    *e = (struct err){0};
    return options_parse(o, argc, argv, e);
}

static struct options good(const char *line) {
    struct options o;
    struct err e;
    if (parse(line, &o, &e) != 0)
        fail_msg("%s: %s", line, e.message);
    return o;
}

static void bad(const char *line, int exit_code, const char *says) {
    struct options o;
    struct err e;
    if (parse(line, &o, &e) >= 0)
        fail_msg("%s was accepted", line);
    if (e.exit_code != exit_code || !strstr(e.message, says))
        fail_msg("%s: exit %d, wanted %d; \"%s\", wanted \"%s\"", line, e.exit_code, exit_code,
                 e.message, says);
}

/* "TARGET|WORD|WORD" */
static void jvm_words(const char *line, const char *expected) {
    struct options o = good(line);
    char got[256];
    int n = snprintf(got, sizeof got, "%s", o.target);
    for (int i = 0; i < o.operands; i++)
        n += snprintf(got + n, sizeof got - (size_t)n, "|%s", o.operand[i]);
    assert_int_equal(o.action, ACTION_JVM);
    if (strcmp(got, expected) != 0)
        fail_msg("%s: %s, wanted %s", line, got, expected);
}

static void which_word_is_the_jvm(void **state) {
    (void)state;
    jvm_words("asprof jcmd 12 Thread.print -l", "12|Thread.print|-l");
    jvm_words("asprof 12 jcmd Thread.print -l -e", "12|Thread.print|-l|-e");
    jvm_words("asprof jcmd jps VM.version", "jps|VM.version");
    jvm_words("asprof jcmd Main VM.version", "Main|VM.version");
    jvm_words("asprof jcmd Thread.print 12", "12|Thread.print");
    jvm_words("asprof threaddump 12", "12");
    jvm_words("jtop-prof -q threaddump Main", "Main");
    jvm_words("asprof threaddump 12 -l", "12|-l");
    jvm_words("asprof dumpheap 12 heap.hprof -all", "12|heap.hprof|-all");
    jvm_words("asprof load 12 /a/b.so true x=1", "12|/a/b.so|true|x=1");
    jvm_words("asprof load /a/b.so Main", "Main|/a/b.so");
    jvm_words("asprof load /a/b.so 12", "12|/a/b.so");
    bad("asprof jcmd", 1, "jcmd: which JVM?");
    bad("asprof threaddump", 1, "threaddump: which JVM?");
    bad("asprof jcmd 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", 1, "more than 16 words");
}

static void actions_of_the_others(void **state) {
    (void)state;
    static const char *const words[] = {"start", "resume", "stop", "dump", "status", "metrics"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "asprof %s -e cpu -f x.svg 12", words[i]);
        struct options o = good(line);
        assert_int_equal(o.action, ACTION_BACKGROUND);
        assert_string_equal(o.word, words[i]);
        assert_string_equal(o.target, "12");
        snprintf(line, sizeof line, "asprof %s", words[i]);
        bad(line, 1, "which JVM?");
    }
    struct options o = good("jtop-prof convert a.jfr b.html");
    assert_int_equal(o.action, ACTION_CONVERT);
    assert_int_equal(o.operands, 2);
    o = good("jtop-prof diff -o markdown a.jfr b.jfr -f c.md");
    assert_int_equal(o.action, ACTION_DIFF);
    assert_int_equal(o.operands, 2);
    assert_int_equal(o.files, 1);
}

static void taken_with_a_word(void **state) {
    (void)state;
    static const char *const lines[] = {"asprof -e wall --all-user 9", "asprof --live 9",
                                        "asprof -e wall --all-kernel 9",
                                        "asprof -e alloc --target-cpu 0 9", "asprof --nofree 9"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!good(lines[i]).remark[0])
            fail_msg("%s: nothing is said", lines[i]);
    static const char *const silent[] = {
        "asprof --sync-walk 9",      "asprof --safe-mode 6 9",   "asprof -F vtable,comptask 9",
        "asprof --call-graph fp 9",  "asprof -L warn 9",         "asprof --log debug 9",
        "asprof --loglevel error 9", "asprof -e cpu --samples 9"};
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
        if (good(silent[i]).remark[0])
            fail_msg("%s: %s", silent[i], good(silent[i]).remark);
    assert_true(good("asprof --log none 9").quiet && good("asprof -q 9").quiet);
    assert_false(good("asprof --log info 9").quiet);
    bad("asprof --log loud 9", 100, "--log loud: not one of: trace");
    assert_int_equal(good("asprof --call-graph fp 9").session.walk, WIRE_WALK_FP);
}

static void jfr_and_its_options(void **state) {
    (void)state;
    struct options o = good("asprof --jfrsync profile --chunksize 16m --chunktime 5m 9");
    assert_string_equal(o.jfr_sync, "profile");
    assert_int_equal(o.formats, 1);
    assert_string_equal(o.format[0]->name, "jfr");
    assert_int_equal(o.chunk_bytes, 16 << 20);
    assert_int_equal(o.chunk_ms, 300000);
    assert_int_equal(good("asprof --jfrsync default -f a.jfr 9").formats, 0);
}

static void patterns_and_times(void **state) {
    (void)state;
    struct options o = good("asprof -I a* -I *b -X c --exclude d --from 5 --to 1m r.jfr -o flat");
    assert_int_equal(o.includes, 2);
    assert_string_equal(o.include[1], "*b");
    assert_int_equal(o.excludes, 2);
    assert_string_equal(o.exclude[1], "d");
    assert_int_equal(o.from_ms, 5000);
    assert_int_equal(o.to_ms, 60000);
    assert_int_equal(good("asprof --from 0s r.jfr -o flat").from_ms, 0);
}

static void formats_with_counters(void **state) {
    (void)state;
    assert_true(good("asprof -o collapsed=total 9").export.total);
    assert_false(good("asprof -o svg=samples 9").export.total);
    assert_true(good("asprof -o tree=total -f a.html 9").export.total);
    assert_true(good("asprof -o flamegraph=total -f a.html 9").export.total);
    struct options o = good("asprof -o summary,traces=200,flat=30 9");
    assert_int_equal(o.export.traces, 200);
    assert_int_equal(o.export.flat, 30);
    assert_int_equal(o.formats, 1);
}

static void agent_forms(void **state) {
    (void)state;
    char list[] = "start,event=cpu,log=/tmp/x,loglevel=warn,include=*a*,exclude=b,jfrsync,features="
                  "vtable,fdtransfer=@x,mcache,safemode=1,nobatch,chunksize=1g,tree=total,status,"
                  "dumb";
    struct options o = {.reader_fd = -1};
    struct text unknown = {0};
    struct err e = {0};
    if (options_parse_agent(&o, list, &unknown, &e) != 0)
        fail_msg("%s", e.message);
    assert_string_equal(unknown.data, "status, dumb");
    assert_string_equal(o.log_level, "warn");
    assert_string_equal(o.jfr_sync, "default");
    assert_int_equal(o.includes, 1);
    assert_int_equal(o.excludes, 1);
    assert_true(o.session.fd_transfer && o.export.total);
    text_free(&unknown);
}

/* Habits of other tools get an answer that helps. */
static void habits_of_other_tools(void **unused) {
    (void)unused;
    bad("x -p 4711", 1, "give the process ID alone, as in jtop-prof 4711");
    bad("x --pid 4711", 1, "give the process ID alone");
    bad("x top 4711", 1, "no action top: jtop-prof 4711 alone shows this JVM live");
    bad("x shop.Main other.Main", 1,
        "one JVM at a time, but two were named: shop.Main and other.Main");
    bad("x stpo 4711", 1, "did you mean the action stop");
    bad("x -F 99 -d 1 4711", 100, "99 is not a feature (vtable, comptask, pcaddr)");
    bad("x -F nosuch -d 1 4711", 100, "there is no feature nosuch");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_word_is_the_jvm), cmocka_unit_test(actions_of_the_others),
        cmocka_unit_test(taken_with_a_word),     cmocka_unit_test(jfr_and_its_options),
        cmocka_unit_test(patterns_and_times),    cmocka_unit_test(formats_with_counters),
        cmocka_unit_test(agent_forms),           cmocka_unit_test(habits_of_other_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
