/* One report of a session: its window, its counters, one event or several. */
#include "core/report/report_format.h"

#include "test/unit/recording.h"

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

#define SECOND UINT64_C(1000000000)
#define JAVA(method) wire_frame_java(WIRE_FRAME_C2, method, 0)

static char path[] = "/tmp/jtop-report-XXXXXX";
static struct session *session;

static void cpu_at(struct recording *r, uint64_t second, uint64_t dropped) {
    struct wire_engine_status engine = {.event = WIRE_EVENT_CPU,
                                        .mechanism = WIRE_MECHANISM_PERF,
                                        .interval = 10,
                                        .dropped = dropped,
                                        .name = "cpu"};
    recording_engine(r, second * SECOND, &engine);
}

/* CPU samples of Cart.add in seconds 100 to 103, one more in each than in the one before; two of
 * allocated objects; five that were dropped. */
static int begin(void **state) {
    (void)state;
    static const struct session_options options;
    struct recording r = {0};
    struct err e;
    const uint64_t frame = JAVA(1);
    recording_jvm(&r, 42, "shop.Main", "17.0.1");
    recording_method(&r, 1, "shop/Cart", "add", "(I)V");
    recording_thread(&r, 7, 1, "main");
    cpu_at(&r, 100, 0);
    for (uint64_t second = 0; second < 4; second++)
        for (uint64_t i = 0; i <= second; i++)
            recording_sample(&r, (100 + second) * SECOND + i, 7, 10, 1, JAVA(1));
    for (uint64_t i = 0; i < 2; i++)
        recording_event_sample(&r, WIRE_EVENT_ALLOC, 101 * SECOND, 7, 512, &frame, 1);
    cpu_at(&r, 104, 5);
    int fd = mkstemp(path), saved = recording_save(&r, path);
    recording_done(&r);
    return fd < 0 || saved < 0 || close(fd) < 0 || session_replay(path, &options, &session, &e) < 0
               ? -1
               : 0;
}

static int end(void **state) {
    (void)state;
    session_close(session);
    return unlink(path);
}

/* The exporter and its options, as -o has it. */
static struct report_request asked(const char *format) {
    struct report_request q = {0};
    q.exporter = exporter_by_format(format, &q.export);
    assert_non_null(q.exporter);
    return q;
}

static void says(const struct report_request *q, const char *has, const char *has_not) {
    struct text out = {0};
    struct err e = {0};
    if (report_format(session, q, &out, &e) != 0)
        fail_msg("%s", e.message);
    if (!strstr(out.data, has) || (has_not && strstr(out.data, has_not)))
        fail_msg("wanted %s, and not %s: %s", has, has_not ? has_not : "-", out.data);
    text_free(&out);
}

static void everything_there_is(void **state) {
    (void)state;
    struct report_request q = asked("collapsed");
    says(&q, "shop/Cart.add 10\n", NULL);
    q.export.threads = true;
    says(&q, "[main tid=7];shop/Cart.add 10\n", NULL);
    q.export.simple = true;
    says(&q, "[main tid=7];Cart.add 10\n", NULL);
    q = asked("summary");
    says(&q, "dropped ", NULL);
}

static void a_window_of_it(void **state) {
    (void)state;
    struct report_request q = asked("collapsed");
    q.query.from_second = 101;
    q.query.to_second = 102;
    says(&q, "shop/Cart.add 5\n", NULL);
    q.query.event = WIRE_EVENT_ALLOC;
    says(&q, "shop/Cart.add 2\n", NULL);
    q.query.from_second = q.query.to_second = 103;
    struct text out = {0};
    struct err e = {0};
    assert_int_equal(report_format(session, &q, &out, &e), 0); /* sampled, but not then */
    assert_int_equal(out.len, 0);
    text_free(&out);
}

/* What happened before is not the report's. */
static void counters_are_the_windows(void **state) {
    (void)state;
    struct report_request q = asked("summary");
    struct report_mark none = {0}, all;
    report_mark(session, &all);
    assert_int_equal(all.dropped[WIRE_EVENT_CPU], 5);
    assert_int_equal(all.event_samples[WIRE_EVENT_CPU], 10);
    q.since = &none;
    says(&q, "dropped ", NULL);
    q.since = &all;
    says(&q, "Total samples", "dropped ");
    q.since = NULL;
    q.elapsed_ns = SECOND;
    says(&q, "Total samples", "dropped ");
    /* Counters that began anew are not below zero. */
    all.dropped[WIRE_EVENT_CPU] = UINT64_MAX;
    all.elapsed_ns = UINT64_MAX;
    q.since = &all;
    q.elapsed_ns = 0;
    says(&q, "Total samples", "dropped ");
}

static void elapsed_time_is_as_told(void **state) {
    (void)state;
    struct report_request q = asked("json");
    says(&q, "4000000000", NULL);
    q.elapsed_ns = 2345678901;
    says(&q, "2345678901", "4000000000");
    struct report_mark mark = {.elapsed_ns = SECOND};
    q.elapsed_ns = 0;
    q.since = &mark;
    says(&q, "3000000000", "4000000000");
}

static void several_events(void **state) {
    (void)state;
    static const int both[] = {WIRE_EVENT_CPU, WIRE_EVENT_ALLOC};
    struct report_request q = asked("json");
    q.event = both;
    q.events = 2;
    says(&q, "\"cpu\"", NULL);
    says(&q, "\"alloc\"", NULL);
    q = asked("collapsed");
    q.event = both;
    q.events = 2;
    struct text out = {0};
    struct err e = {0};
    assert_int_equal(report_format(session, &q, &out, &e), -EINVAL);
    assert_non_null(strstr(e.message, "collapsed holds only one event, and there are 2"));
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    text_free(&out);
}

static void what_was_not_sampled(void **state) {
    (void)state;
    struct report_request q = asked("collapsed");
    struct text out = {0};
    struct err e = {0};
    q.query.event = WIRE_EVENT_LOCK;
    assert_int_equal(report_format(session, &q, &out, &e), -ENODATA);
    assert_string_equal(e.message, "lock was not sampled");
    q.query.event = EVENT_KINDS;
    assert_int_equal(report_format(session, &q, &out, &e), -EINVAL);
    q.query.event = -1;
    assert_int_equal(report_format(session, &q, &out, &e), -EINVAL);
    assert_int_equal(out.len, 0);
    text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_there_is),      cmocka_unit_test(a_window_of_it),
        cmocka_unit_test(counters_are_the_windows), cmocka_unit_test(elapsed_time_is_as_told),
        cmocka_unit_test(several_events),           cmocka_unit_test(what_was_not_sampled),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
