/* What /prof makes of a URL, and what it says where there is nothing to profile. */
#include "core/http/serve/prof/prof_table.h"
#include "core/http/serve/server/route.h"

#include "core/http/serve/page/pages_hash.h"
#include "test/unit/export/export_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* NULL: refused, and `e` says why. */
static struct prof_ask *ask(const char *form, struct err *e) {
    static char text[4096];
    struct params p = {0};
    struct prof_ask *a = NULL;
    (void)snprintf(text, sizeof text, "%s", form);
    assert_int_equal(params_read(&p, text, e), 0);
    int r = prof_ask_read(&p, &a, e);
    assert_int_equal(r == 0, a != NULL);
    return a;
}

static struct prof_ask *asked(const char *form) {
    struct err e = {0};
    struct prof_ask *a = ask(form, &e);
    if (!a)
        fail_msg("%s: %s", form, e.message);
    return a;
}

static void refused(const char *form, const char *begins, const char *has) {
    struct err e = {0};
    if (ask(form, &e))
        fail_msg("%s was taken", form);
    if (strncmp(e.message, begins, strlen(begins)) != 0 || !strstr(e.message, has))
        fail_msg("%s: %s", form, e.message);
}

static void nothing_said_is_the_servlets_default(void **state) {
    (void)state;
    struct prof_ask *a = asked("");
    assert_int_equal(a->pid, 0);
    assert_int_equal(a->duration_s, 10);
    assert_int_equal(a->want.engines, 1);
    assert_string_equal(a->want.engine[0].name, "cpu");
    assert_string_equal(a->exporter->name, "html");
    assert_false(a->export.threads || a->export.simple || a->export.reverse || a->wait);
    free(a);
}

static void every_parameter_counts(void **state) {
    (void)state;
    struct prof_ask *a = asked(
        "pid=42&event=alloc&duration=2m&interval=512k&jstackdepth=64&bufsize=1m&thread&simple&"
        "output=svg&width=800&height=20&minwidth=0.5&reverse&title=a%26b&norm&sig&ann&lib&total&"
        "inverted&include=java/*&include=*shop*&exclude=*gc*&wait&refreshDelay=5");
    assert_int_equal(a->pid, 42);
    assert_int_equal(a->event[0], WIRE_EVENT_ALLOC);
    assert_int_equal(a->duration_s, 120);
    assert_int_equal(a->want.engine[0].interval, 512 << 10);
    assert_int_equal(a->want.depth, 64);
    assert_int_equal(a->want.ring_bytes, 1 << 20);
    assert_string_equal(a->exporter->name, "svg");
    assert_int_equal(a->export.width, 800);
    assert_int_equal(a->export.height, 20);
    assert_true(a->export.minwidth > 0.49 && a->export.minwidth < 0.51);
    assert_string_equal(a->export.title, "a&b");
    assert_true(a->export.threads && a->export.simple && a->export.reverse && a->export.inverted);
    assert_true(a->export.normalize && a->export.signatures && a->export.annotate);
    assert_true(a->export.library && a->export.total && a->wait);
    assert_int_equal(a->refresh_delay_s, 5);
    struct query q;
    prof_ask_query(a, &q);
    assert_int_equal(q.includes, 2);
    assert_string_equal(q.include[1], "*shop*");
    assert_int_equal(q.excludes, 1);
    assert_string_equal(q.exclude[0], "*gc*");
    free(a);
}

static void outputs_are_the_servlets_and_ours(void **state) {
    (void)state;
    static const char *const outputs[][2] = {
        {"summary", "text"},      {"traces", "text"},        {"flat", "text"},
        {"traces=9", "text"},     {"text", "text"},          {"collapsed", "collapsed"},
        {"svg", "svg"},           {"tree", "tree"},          {"jfr", "jfr"},
        {"html", "html"},         {"otlp", "otlp"},          {"flamegraph", "html"},
        {"pprof", "pprof"},       {"json", "json"},          {"speedscope", "speedscope"},
        {"markdown", "markdown"}, {"summary,flat=5", "text"}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        char form[64];
        (void)snprintf(form, sizeof form, "output=%s", outputs[i][0]);
        struct prof_ask *a = asked(form);
        assert_string_equal(a->exporter->name, outputs[i][1]);
        free(a);
    }
    struct prof_ask *a = asked("output=summary,flat=5");
    assert_true(a->export.want_summary && a->export.want_flat && !a->export.want_traces);
    assert_int_equal(a->export.flat, 5);
    free(a);
}

static void several_events_go_where_there_is_room(void **state) {
    (void)state;
    struct prof_ask *a = asked("event=cpu,alloc,lock&output=jfr&interval=5ms,256k");
    assert_int_equal(a->want.engines, 3);
    assert_int_equal(a->want.engine[0].interval, 5000000);
    assert_int_equal(a->want.engine[1].interval, 256 << 10);
    free(a);
    refused("event=cpu,alloc", "event: ", "html holds only one event");
    refused("event=cpu,cpu&output=jfr", "event: ", "cannot be sampled together");
    refused("event=cpu,itimer&output=jfr", "event: ", "cannot be sampled together");
    refused("event=cpu,,alloc&output=jfr", "event: ", "empty");
    refused("event=cpu&interval=1ms,2ms", "interval: ", "more intervals");
}

static void a_method_is_an_event(void **state) {
    (void)state;
    struct prof_ask *a = asked("method=shop.Cart.discount&duration=5&output=TREE");
    assert_int_equal(a->event[0], WIRE_EVENT_METHOD);
    assert_string_equal(a->want.engine[0].name, "shop.Cart.discount");
    assert_string_equal(a->exporter->name, "tree");
    free(a);
    refused("method=shop.Cart.discount&event=cpu", "method: ", "give event or method, not both");
    refused("method=cpu", "method: ", "is not Class.method");
    refused("method=", "event: ", "");
}

static void capitals_make_no_difference(void **state) {
    (void)state;
    struct prof_ask *a = asked("event=ALLOC&output=JFR");
    assert_int_equal(a->event[0], WIRE_EVENT_ALLOC);
    assert_string_equal(a->exporter->name, "jfr");
    free(a);
    a = asked("event=LLC-LOAD-misses");
    assert_string_equal(a->want.engine[0].name, "LLC-load-misses");
    free(a);
}

static void wrong_values_are_named(void **state) {
    (void)state;
    refused("pid=abc", "pid: ", "abc");
    refused("pid=0", "pid: ", "0");
    refused("pid=-1", "pid: ", "-1");
    refused("pid=99999999999", "pid: ", "9999");
    refused("duration=0", "duration: ", "from 1 to 3600");
    refused("duration=3601", "duration: ", "from 1 to 3600");
    refused("duration=61m", "duration: ", "from 1 to 3600");
    refused("duration=abc", "duration: ", "\"abc\"");
    refused("duration=", "duration: ", "seconds");
    refused("duration=18446744073709551617", "duration: ", "from 1");
    refused("duration=1.5", "duration: ", "1.5");
    refused("interval=10q", "interval: ", "nanoseconds");
    refused("interval=99us", "interval: ", "100us");
    refused("interval=10ms&event=alloc", "interval: ", "bytes");
    refused("interval=18446744073709551615", "interval: ", "1844");
    refused("jstackdepth=0", "jstackdepth: ", "");
    refused("bufsize=1t", "bufsize: ", "bytes");
    refused("bufsize=1g", "bufsize: ", "1g");
    refused("output=pdf", "output: ", "collapsed");
    refused("output=", "output: ", "empty");
    refused("output=flat=0", "output: ", "flat=0");
    refused("output=svg,html", "output: ", "one format at a time");
    refused("width=5", "width: ", "");
    refused("height=1000", "height: ", "");
    refused("minwidth=x", "minwidth: ", "percentage");
    refused("minwidth=101", "minwidth: ", "percentage");
    refused("minwidth=nan", "minwidth: ", "percentage");
    refused("include=", "include: ", "");
    refused("refreshDelay=3601", "refreshDelay: ", "3600");
    refused("durtion=5", "durtion: ", "duration?");
    refused("colour=red", "colour: ", "no such parameter. Parameters are pid");
}

static void nothing_that_is_opened_comes_from_a_url(void **state) {
    (void)state;
    refused("event=uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc", "event: ", "path");
    refused("event=cpu/event=0x3c/", "event: ", "path");
    refused("event=../../etc/passwd", "event: ", "path");
    refused("event=..:x", "event: ", "path");
    refused("event=%2e%2e:x", "event: ", "path");
    refused("event=%2fetc%2fpasswd", "event: ", "path");
}

static void the_same_question_is_known_again(void **state) {
    (void)state;
    static const char *const others[] = {
        "duration=11", "event=wall", "interval=1ms",  "thread",    "simple",     "output=svg",
        "width=800",   "minwidth=1", "reverse",       "inverted",  "title=x",    "include=a*",
        "exclude=a*",  "bufsize=1m", "jstackdepth=9", "pid=7",     "norm",       "sig",
        "ann",         "lib",        "total",         "height=20", "output=tree"};
    struct prof_ask *a = asked(""), *b = asked("duration=10s&output=flamegraph&event=cpu&wait");
    assert_true(prof_ask_same(a, b));
    free(b);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        b = asked(others[i]);
        if (prof_ask_same(a, b) || prof_ask_same(b, a))
            fail_msg("%s makes no difference", others[i]);
        free(b);
    }
    free(a);
}

/* The policy allows the script of a page with a profile in it, hostile names included. */
static void scripts_are_allowed_by_what_they_are(void **state) {
    (void)state;
    static const char *const names[] = {"html", "tree", "svg"};
    static const char *const marks[][2] = {{"<script>", "</script>"},
                                           {"<script>", "</script>"},
                                           {"<script><![CDATA[", "]]></script>"}};
    for (size_t i = 0; i < 3; i++) {
        struct export_options o = {0};
        const struct exporter *x = exporter_by_format(names[i], &o);
        const char *policy = prof_format_policy(x);
        const struct export_quality quality = {.event = "cpu", .unit = "ns", .jvm = "</script>"};
        struct profile *p = profile_new(0);
        struct profile_frame frame = fixture_frame(p, "j:a/B.</script><script>alert(1)");
        const struct profile_sample sample = {
            .time_ns = 1, .weight = 5, .count = 1, .tid = 1, .frames = 1, .frame = &frame};
        const struct query q = {.tree = true};
        assert_int_equal(profile_add(p, &sample), 0);
        struct snapshot *s = snapshot_take(p, &q);
        struct text out = {0};
        assert_int_equal(x->write(&out, p, s, &quality, &o), 0);
        const char *begin = NULL;
        for (const char *at = out.data; (at = strstr(at, marks[i][0])); at++)
            begin = at + strlen(marks[i][0]);
        assert_non_null(begin);
        const char *end = strstr(begin, marks[i][1]);
        struct pages_hash h;
        char hash[PAGES_HASH_TEXT];
        pages_hash_begin(&h);
        pages_hash_add(&h, begin, (size_t)(end - begin));
        pages_hash_end(&h, hash);
        assert_non_null(policy);
        assert_non_null(strstr(policy, hash));
        assert_non_null(strstr(policy, "sandbox allow-scripts"));
        assert_null(strstr(policy, "allow-same-origin"));
        assert_null(strstr(policy, "connect-src"));
        text_free(&out);
        snapshot_free(s);
        profile_free(p);
    }
    struct export_options o = {0};
    assert_null(prof_format_policy(exporter_by_format("collapsed", &o)));
    assert_true(exporter_by_format("jfr", &o)->download);
}

static struct serve server;

static int begin(void **state) {
    (void)state;
    static const struct fleet_options options;
    static const struct serve_options serve;
    struct err e = {0};
    server.options = &serve;
    if (fleet_new(&options, &server.fleet, &e) < 0)
        return -1;
    server.profs = prof_table_new(&server, &e);
    return server.profs ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    prof_table_free(server.profs);
    fleet_free(server.fleet);
    return 0;
}

static void answers(const char *rest, const char *form, unsigned status, const char *has) {
    static char text[4096];
    struct params p = {0};
    struct err e = {0};
    struct serve_answer a = {0};
    (void)snprintf(text, sizeof text, "%s", form);
    assert_int_equal(params_read(&p, text, &e), 0);
    struct serve_request q = {.method = "GET", .path = "/prof", .rest = rest, .params = &p};
    serve_prof(&server, &q, &a);
    if (a.status != status || !a.body.data || !strstr(a.body.data, has))
        fail_msg("%s?%s: %u %s", rest, form, a.status, a.body.data ? a.body.data : "");
    text_free(&a.body);
}

static void what_there_is_not_is_said(void **state) {
    (void)state;
    char own[64];
    answers("", "pid=4194304", 404, "pid: ");
    (void)snprintf(own, sizeof own, "pid=%d", (int)getpid());
    answers("", own, 404, "pid: "); /* a process, but no JVM */
    answers("", "pid=1&duration=x", 400, "duration: ");
    answers("0123456789abcdef0123456789abcdef", "", 404, "no such profile");
    answers("../../etc/passwd", "", 404, "no such profile");
    answers("0123456789abcdef0123456789abcdef", "pid=1", 400, "pid: ");
}

/* A question about a JVM that is gone by the time the profile begins: what came of it is kept. */
static void a_failure_is_a_result(void **state) {
    (void)state;
    struct err e = {0};
    struct prof *p = NULL, *again = NULL;
    bool joined = true;
    uint32_t left;
    struct prof_ask *a = asked("pid=4194304&duration=1");
    assert_int_equal(prof_begin(server.profs, a, &p, &joined, &left, &e), 0);
    assert_false(joined);
    assert_int_equal(strlen(p->id), PROF_ID_BYTES - 1);
    while (prof_state_of(p, &left) != PROF_FAILED)
        (void)usleep(1000);
    assert_int_equal(left, 0);
    assert_int_equal(p->error.code, ESRCH);
    again = prof_find(server.profs, p->id);
    assert_ptr_equal(again, p);
    answers(p->id, "", 404, "4194304");
    prof_drop(again);
    /* It is over: the same question is a new one. */
    assert_int_equal(
        prof_begin(server.profs, asked("pid=4194304&duration=1"), &again, &joined, &left, &e), 0);
    assert_false(joined);
    assert_string_not_equal(again->id, p->id);
    prof_drop(again);
    prof_drop(p);
}

static void results_are_bounded(void **state) {
    (void)state;
    char first[PROF_ID_BYTES] = "";
    for (int i = 0; i < PROF_FAILED_MAX + 5; i++) {
        struct err e = {0};
        struct prof *p = NULL;
        bool joined;
        uint32_t left;
        assert_int_equal(
            prof_begin(server.profs, asked("pid=4194304&duration=1"), &p, &joined, &left, &e), 0);
        while (prof_state_of(p, &left) != PROF_FAILED)
            (void)usleep(1000);
        if (!first[0])
            memcpy(first, p->id, sizeof first);
        prof_drop(p);
    }
    assert_null(prof_find(server.profs, first));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_the_servlets_default),
        cmocka_unit_test(every_parameter_counts),
        cmocka_unit_test(outputs_are_the_servlets_and_ours),
        cmocka_unit_test(several_events_go_where_there_is_room),
        cmocka_unit_test(a_method_is_an_event),
        cmocka_unit_test(capitals_make_no_difference),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(nothing_that_is_opened_comes_from_a_url),
        cmocka_unit_test(the_same_question_is_known_again),
        cmocka_unit_test(scripts_are_allowed_by_what_they_are),
        cmocka_unit_test(what_there_is_not_is_said),
        cmocka_unit_test(a_failure_is_a_result),
        cmocka_unit_test(results_are_bounded),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
