#include "core/http/serve/api/api_question.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* "a=b&c" without any decoding. */
static int read_all(const char *text, struct api_question *q, struct err *e) {
    struct params p = {0};
    char *form = strdup(text);
    for (char *piece = strtok(form, "&"); piece; piece = strtok(NULL, "&")) {
        char *value = strchr(piece, '=');
        if (value)
            *value++ = '\0';
        p.item[p.count].name = piece;
        p.item[p.count++].value = value ? value : "";
    }
    *e = (struct err){0};
    int r = api_question_read(q, &p, e);
    if (r == 0)
        r = api_question_rest(&p, e);
    free(form);
    return r;
}

static struct api_question good(const char *text) {
    struct api_question q;
    struct err e;
    if (read_all(text, &q, &e) != 0)
        fail_msg("%s: %s", text, e.message);
    return q;
}

/* Refused, and the parameter's name is what the message begins with. */
static void bad(const char *text) {
    struct api_question q;
    struct err e;
    size_t name = strcspn(text, "=&");
    if (read_all(text, &q, &e) != -EINVAL)
        fail_msg("taken: %s", text);
    if (strncmp(e.message, text, name) != 0 || e.message[name] != ':')
        fail_msg("%s: %s", text, e.message);
    assert_int_equal(e.code, EINVAL);
}

static void what_nobody_said(void **state) {
    (void)state;
    struct api_question q = good("");
    assert_int_equal(q.want.engines, 1);
    assert_int_equal(q.want.engine[0].event, WIRE_EVENT_CPU);
    assert_false(q.want.as_it_is);
    assert_int_equal(q.event, WIRE_EVENT_CPU);
    assert_false(q.from.given);
    assert_false(q.to.given);
    assert_string_equal(q.filter, "");
    assert_int_equal(q.tid, 0);
    assert_int_equal(q.virtual_id, 0);
    assert_true(q.tree);
    assert_false(q.inverted);
    assert_int_equal(q.rows, 100);
    assert_int_equal(q.nodes, 20000);
}

static void counts_and_flags(void **state) {
    (void)state;
    struct api_question q = good("rows=0&nodes=100000&thread=77&virtual=5&tree=0&inverted");
    assert_int_equal(q.rows, 0);
    assert_int_equal(q.nodes, 100000);
    assert_int_equal(q.tid, 77);
    assert_int_equal(q.virtual_id, 5);
    assert_false(q.tree);
    assert_true(q.inverted);
    assert_true(good("tree=1").tree);
    assert_true(good("tree").tree);
    assert_false(good("inverted=0").inverted);
    assert_true(good("sites=1").sites);
    assert_false(good("").sites);
    bad("rows=1001");
    bad("rows=-1");
    bad("rows=");
    bad("rows=1x");
    bad("nodes=100001");
    bad("thread=0");
    bad("thread=main");
    bad("thread=2147483648");
    bad("virtual=0");
    bad("virtual=9223372036854775808");
    bad("pid=1");
    bad("colour");
}

static void events(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int event;
        uint32_t engine, flags;
    } known[] = {
        {"cpu", WIRE_EVENT_CPU, WIRE_EVENT_CPU, 0},
        {"wall", WIRE_EVENT_WALL, WIRE_EVENT_WALL, 0},
        {"alloc", WIRE_EVENT_ALLOC, WIRE_EVENT_ALLOC, 0},
        {"live", EVENT_LIVE, WIRE_EVENT_ALLOC, WIRE_ENGINE_LIVE},
        {"lock", WIRE_EVENT_LOCK, WIRE_EVENT_LOCK, 0},
        {"nativemem", WIRE_EVENT_NATIVEMEM, WIRE_EVENT_NATIVEMEM, 0},
        {"leak", EVENT_LEAK, WIRE_EVENT_NATIVEMEM, 0},
        {"page-faults", WIRE_EVENT_PERF, WIRE_EVENT_PERF, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[64] = "event=";
        strcat(text, known[i].name);
        struct api_question q = good(text);
        assert_int_equal(q.event, known[i].event);
        assert_int_equal(q.want.engine[0].event, known[i].engine);
        assert_int_equal(q.want.engine[0].flags & WIRE_ENGINE_LIVE, known[i].flags);
    }
    /* What the command line takes, and a URL must not: paths, addresses, code to break into. */
    bad("event=uprobe:/etc/passwd:x");
    bad("event=uprobe:malloc");
    bad("event=kprobe:schedule");
    bad("event=mem:0x1234:rw");
    bad("event=trace:314");
    bad("event=cpu/event=0x3c/");
    bad("event=java.util.HashMap.put");
    bad("event=pthread_create");
    bad("event=");
    bad("event=cpu,wall");
}

static void intervals(void **state) {
    (void)state;
    assert_int_equal(good("interval=20ms").want.engine[0].interval, 20 * MS);
    assert_int_equal(good("interval=5000").want.engine[0].interval, 5000);
    assert_int_equal(good("interval=1us").want.engine[0].interval, 1000);
    assert_int_equal(good("interval=1s&event=wall").want.engine[0].interval, 1000 * MS);
    assert_int_equal(good("interval=512k&event=alloc").want.engine[0].interval, 512 << 10);
    assert_int_equal(good("interval=2k&event=page-faults").want.engine[0].interval, 2000);
    assert_int_equal(good("interval=0").want.engine[0].interval, good("").want.engine[0].interval);
    bad("interval=999");
    bad("interval=10k");
    bad("interval=10ms&event=alloc");
    bad("interval=-1");
    bad("interval=");
    bad("interval=10 ms");
    bad("interval=99999999999999999999");
    bad("interval=999999999999999s");
}

static void window(const char *text, bool limited, uint64_t from, uint64_t to, uint64_t query_from,
                   uint64_t query_to) {
    uint64_t f, t;
    struct api_question q = good(text);
    struct query query = api_question_query(&q, 500);
    if (api_question_window(&q, 500, &f, &t) != limited || f != from || t != to)
        fail_msg("%s: %d %lu %lu", text, limited, (unsigned long)f, (unsigned long)t);
    if (query.from_second != query_from || query.to_second != query_to)
        fail_msg("%s: query %lu %lu", text, (unsigned long)query.from_second,
                 (unsigned long)query.to_second);
}

static void windows(void **state) {
    (void)state;
    window("", false, 0, 500, 0, 0);
    window("from=100", true, 100, 500, 100, 0);
    window("from=100&to=200", true, 100, 200, 100, 200);
    window("to=200", true, 0, 200, 0, 200);
    window("from=-9", true, 491, 500, 491, 0);
    window("from=-20&to=-11", true, 480, 489, 480, 489);
    window("from=-600", true, 0, 500, 0, 0);
    window("to=-500", true, 0, 0, 0, 1);
    window("to=0", true, 0, 0, 0, 1);
    bad("from=abc");
    bad("from=");
    bad("from=-");
    bad("from=--1");
    bad("from=1.5");
    bad("to=10000000000000");
    bad("to=0x10");
}

static void filters(void **state) {
    (void)state;
    static const char *const taken[] = {
        "HashMap",      "!HashMap",     "java\\.util\\.", "^java.*Map$",
        "a|b|c",        "(get|put)Val", "[A-Z]+x",        "x+y+",
        "[[:alpha:]]+", "a\\+b",        "Foo\\$",         "(a|b)*",
        "(a|b)?c",      "[^]x]+",       "\\{x",           "",
        ".+",           "Lambda$1",     "\\)+",           "^a|^b",
        "!^a",          "(a|b)|^c$",    "[^^]",           "\\^",
        "\\w+\\.",      "a*+",          "(a|^b)",         "a{3}",
        "(\\<|a)*",     "a\\b",         "(a*)\\1",
    };
    static const char *const refused[] = {
        "filter=(((((((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+$",
        "filter=a++++++++++++++++++++++++++++++",
        "filter=((a{1,255}){1,255}){1,255}",
        "filter=(a|aa)+$", /* takes too long */
        "filter=(a*)*(a*)*(a*)*b?c?$",
        "filter=a\\1",
        "filter=(",
        "filter=[a",
        "filter=[[:alpha:",
        "filter=[[=",
        "filter=!(",
    };
    char longest[API_FILTER_MAX + 9] = "filter=";
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        char text[80] = "filter=";
        strcat(text, taken[i]);
        struct api_question q = good(text);
        assert_string_equal(q.filter, taken[i]);
        const char *filter = api_question_query(&q, 0).filter;
        assert_true(taken[i][0] ? filter == q.filter : filter == NULL);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        bad(refused[i]);
    memset(longest + 7, 'a', API_FILTER_MAX);
    assert_int_equal(strlen(good(longest).filter), API_FILTER_MAX);
    longest[7 + API_FILTER_MAX] = 'a';
    bad(longest);
}

/* Each parameter makes it another question, and how it is written does not. */
static void same_questions(void **state) {
    (void)state;
    static const char *const different[] = {
        "",
        "from=1",
        "from=-1",
        "to=1",
        "to=-1",
        "filter=a",
        "with=A.f",
        "filter=b",
        "thread=1",
        "virtual=1",
        "tree=0",
        "inverted",
        "sites",
        "locks",
        "before=1-2",
        "before=1-3",
        "rows=1",
        "nodes=1",
        "event=wall",
        "event=alloc",
        "event=live",
        "event=page-faults",
        "event=cycles",
        "interval=20ms",
        "event=ctimer",
    };
    const size_t n = sizeof different / sizeof different[0];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            struct api_question a = good(different[i]), b = good(different[k]);
            if (api_question_same(&a, &b) != (i == k))
                fail_msg("\"%s\" and \"%s\"", different[i], different[k]);
        }
    struct api_question a = good("interval=20ms&rows=7"), b = good("rows=7&interval=20000000");
    assert_true(api_question_same(&a, &b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_said), cmocka_unit_test(counts_and_flags),
        cmocka_unit_test(events),           cmocka_unit_test(intervals),
        cmocka_unit_test(windows),          cmocka_unit_test(filters),
        cmocka_unit_test(same_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
