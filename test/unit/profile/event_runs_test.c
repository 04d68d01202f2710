/* A rate is over the time in which its event was sampled. */
#include "core/profile/history/event_runs.h"

#include "core/profile/profile.h"
#include "core/profile/snapshot/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void between(void **unused) {
    (void)unused;
    struct event_runs r = {.count = 0};
    assert_int_equal(event_runs_between(&r, 0, UINT64_MAX, 100), 0);
    event_runs_note(&r, 5, false);
    event_runs_note(&r, 10, true);
    event_runs_note(&r, 15, true);
    assert_int_equal(event_runs_between(&r, 0, UINT64_MAX, 0), 5);
    assert_int_equal(event_runs_between(&r, 0, UINT64_MAX, 18), 8);
    event_runs_note(&r, 20, false);
    event_runs_note(&r, 25, false);
    event_runs_note(&r, 30, true);
    event_runs_note(&r, 28, true); /* a clock that goes back */
    event_runs_note(&r, 40, false);
    assert_int_equal(r.count, 2);
    assert_int_equal(event_runs_between(&r, 0, UINT64_MAX, 100), 20);
    assert_int_equal(event_runs_between(&r, 18, 32, 100), 4);
    assert_int_equal(event_runs_between(&r, 20, 30, 100), 0);
    assert_int_equal(event_runs_between(&r, 50, 40, 100), 0);
    event_runs_note(&r, 35, true); /* before the last end: the runs must not overlap */
    event_runs_note(&r, 45, false);
    assert_int_equal(event_runs_between(&r, 0, UINT64_MAX, 100), 25);
}

/* Of more runs than are kept, the newest keep their times. */
static void many(void **unused) {
    (void)unused;
    struct event_runs r = {.count = 0};
    for (uint64_t i = 0; i < 10 * EVENT_RUNS; i++) {
        event_runs_note(&r, 10 * i, true);
        event_runs_note(&r, 10 * i + 1, false);
    }
    assert_int_equal(r.count, EVENT_RUNS);
    uint64_t end = UINT64_C(100) * EVENT_RUNS;
    assert_int_equal(event_runs_between(&r, end - 100, end, end), 10);
    assert_int_equal(r.run[0].begin_ns, 0);
}

static uint64_t sampled(struct profile *p, int event, uint64_t from, uint64_t to) {
    struct snapshot *s =
        snapshot_take(p, &(struct query){.event = event, .from_second = from, .to_second = to});
    assert_non_null(s);
    uint64_t ns = s->sampled_ns;
    assert_int_equal(snapshot_per_second(s, ns / 1000), SECOND / 1000);
    snapshot_free(s);
    return ns;
}

static void add(struct profile *p, int event, uint64_t second) {
    struct profile_frame frame = {.method = 0};
    method_table_intern(profile_methods(p), METHOD_JAVA, "A", "a", "()V", "");
    assert_int_equal(profile_add(p, &(struct profile_sample){.time_ns = second * SECOND,
                                                             .weight = 1,
                                                             .count = 1,
                                                             .tid = 1,
                                                             .event = (uint8_t)event,
                                                             .frames = 1,
                                                             .frame = &frame}),
                     0);
}

/* An event that begins 50 s after another one, and ends before it. */
static void later(void **unused) {
    (void)unused;
    struct profile *p = profile_new(300);
    for (uint64_t i = 100; i <= 180; i++)
        add(p, 0, i);
    assert_int_equal(sampled(p, 0, 0, 0), 81 * SECOND); /* nothing is known */
    profile_event_runs(p, 0, 100 * SECOND, true);
    profile_event_runs(p, 1, 150 * SECOND, true);
    assert_int_equal(sampled(p, 0, 0, 0), 80 * SECOND);
    assert_int_equal(sampled(p, 1, 0, 0), 30 * SECOND);
    assert_int_equal(sampled(p, 1, 171, 0), 9 * SECOND);
    profile_event_runs(p, 1, 163 * SECOND, false);
    assert_int_equal(sampled(p, 1, 0, 0), 13 * SECOND);
    assert_int_equal(sampled(p, 1, 160, 170), 3 * SECOND);
    assert_int_equal(sampled(p, 1, 170, 175), 6 * SECOND); /* it did not run: the window's length */
    profile_event_runs(p, 1, 180 * SECOND, true);
    assert_int_equal(sampled(p, 1, 170, 0), SECOND / 10); /* it has just begun */
    profile_forget(p, 1);
    assert_int_equal(sampled(p, 1, 0, 0), 81 * SECOND);
    profile_event_runs(p, -1, 1, true);
    profile_event_runs(p, PROFILE_EVENTS, 1, true);
    profile_free(p);
}

/* A viewer is told of the samples before it only after it was told that the event runs. */
static void joined(void **unused) {
    (void)unused;
    struct profile *p = profile_new(300);
    profile_event_runs(p, 1, 160 * SECOND, true);
    for (uint64_t i = 100; i <= 180; i++)
        add(p, 0, i);
    for (uint64_t i = 150; i <= 180; i++)
        add(p, 1, i);
    profile_event_runs(p, 1, 180 * SECOND, true);
    assert_int_equal(sampled(p, 1, 0, 0), 30 * SECOND);
    assert_int_equal(sampled(p, 1, 171, 0), 9 * SECOND);
    profile_free(p);
}

/* Of a window that is longer than the history, only the part that the history has counts. */
static void dropped(void **unused) {
    (void)unused;
    struct profile *p = profile_new(5);
    for (uint64_t i = 100; i <= 180; i++)
        add(p, 0, i);
    profile_event_runs(p, 0, 100 * SECOND, true);
    assert_int_equal(sampled(p, 0, 0, 0), 80 * SECOND); /* sums have everything */
    assert_int_equal(sampled(p, 0, 110, 0), 4 * SECOND);
    assert_int_equal(sampled(p, 0, 178, 0), 2 * SECOND);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between), cmocka_unit_test(many),    cmocka_unit_test(later),
        cmocka_unit_test(joined),  cmocka_unit_test(dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
