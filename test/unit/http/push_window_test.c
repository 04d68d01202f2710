/* Windows: aligned, without gap or overlap, whatever the clocks do. */
#include "core/http/push/push_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NS 1000000000u

static const uint64_t day =
    1700000003u; /* second 1000 of the samples' clock: 8 into a window of 15 */

static void begin(struct window *w, uint64_t from) {
    window_begin(w, 15, from, 1000 * (uint64_t)NS, day * NS);
}

static void the_first_ends_at_a_multiple(void **state) {
    struct window w;
    (void)state;
    begin(&w, 1000);
    assert_true(w.first);
    assert_int_equal(window_from_ns(&w), day * NS);
    assert_int_equal(window_to_ns(&w) / NS % 15, 0);
    assert_true(w.to > w.from && w.to - w.from <= 15);
    window_begin(&w, 15, 1000, 1000 * (uint64_t)NS, 1700000010 * (uint64_t)NS);
    assert_int_equal(w.to - w.from, 15); /* one that begins at a multiple is whole */
}

static void clocks_differ_by_whole_seconds(void **state) {
    struct window w;
    (void)state;
    window_begin(&w, 15, 1000, 1000 * (uint64_t)NS + 900000000, day * NS + 300000000);
    assert_int_equal(w.offset, (int64_t)day - 1001);
    window_begin(&w, 15, 1000, 1000 * (uint64_t)NS + 300000000, day * NS + 700000000);
    assert_int_equal(w.offset, (int64_t)day - 1000);
    window_begin(&w, 0, 1000, 0, 0);
    assert_int_equal(w.to, 1001);
}

static void it_is_closed_when_later_samples_are_there(void **state) {
    struct window w;
    (void)state;
    begin(&w, 1000);
    assert_false(window_due(&w, w.to * NS, w.to));
    assert_true(window_due(&w, (w.to + WINDOW_LATE_MIN_S) * NS, w.to));
    assert_false(window_due(&w, (w.to + WINDOW_LATE_MIN_S) * NS, w.to - 1));
    assert_true(window_due(&w, (w.to + WINDOW_LATE_MAX_S) * NS, 0));
}

static void they_follow_each_other(void **state) {
    struct window w;
    (void)state;
    begin(&w, 1000);
    for (int i = 0; i < 100; i++) {
        uint64_t to = w.to, to_ns = window_to_ns(&w);
        window_next(&w, w.to * NS + 7, to_ns + 7);
        assert_false(w.first);
        assert_int_equal(w.from, to);
        assert_int_equal(window_from_ns(&w), to_ns);
        assert_int_equal(w.to - w.from, 15);
    }
}

/* A step that comes late finds several that are over, each as long as any. */
static void a_late_step_closes_several(void **state) {
    struct window w;
    int closed = 0;
    (void)state;
    begin(&w, 1000);
    uint64_t late = (w.to + 40) * NS;
    while (window_due(&w, late, late / NS)) {
        window_next(&w, late, day * NS + (late - 1000 * (uint64_t)NS));
        closed++;
    }
    assert_int_equal(closed, 3);
}

static void the_end_cuts_it(void **state) {
    struct window w;
    (void)state;
    begin(&w, 1000);
    assert_false(window_cut(&w, 999));
    assert_true(window_cut(&w, 1002));
    assert_int_equal(w.to, 1003);
    window_next(&w, 1003 * (uint64_t)NS, (day + 3) * NS);
    assert_int_equal(w.from, 1003);
    assert_int_equal(window_to_ns(&w) / NS % 15, 0);
}

/* Somebody sets the clock: no sample is left out, and the windows are of the new time. */
static void the_clock_is_set(void **state) {
    struct window w;
    (void)state;
    begin(&w, 1000);
    uint64_t to = w.to;
    window_next(&w, w.to * NS, window_to_ns(&w) + NS); /* rounding, or slewing */
    assert_int_equal(w.offset, (int64_t)day - 1000);
    for (int i = 0; i < 2; i++) {
        int64_t off = i ? -3000 : 7000;
        to = w.to;
        window_next(&w, w.to * NS, window_to_ns(&w) + (uint64_t)(off * NS));
        assert_int_equal(w.from, to);
        assert_int_equal(w.offset, (int64_t)day - 1000 + (i ? 4000 : 7000));
        assert_int_equal(window_to_ns(&w) / NS % 15, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_ends_at_a_multiple),
        cmocka_unit_test(clocks_differ_by_whole_seconds),
        cmocka_unit_test(it_is_closed_when_later_samples_are_there),
        cmocka_unit_test(they_follow_each_other),
        cmocka_unit_test(a_late_step_closes_several),
        cmocka_unit_test(the_end_cuts_it),
        cmocka_unit_test(the_clock_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
