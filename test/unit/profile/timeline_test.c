/* Sums a second. That they agree with windows of one second is profile_place_test's business. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

static void test_pauses_are_spread(void **state) {
    (void)state;
    struct profile *p = profile_new(60);
    struct profile_second s[8];
    add(p, 100 * SECOND, 1, intern(p, "m"));
    profile_pause(p, 101 * SECOND + SECOND / 4, 103 * SECOND + 5, 0);
    profile_pause(p, 102 * SECOND, 102 * SECOND + 7, 1);
    profile_pause(p, 101 * SECOND, 101 * SECOND, 1); /* none */
    profile_pause(p, 102 * SECOND, 101 * SECOND, 1);
    profile_pause(p, 102 * SECOND, 104 * SECOND, 2);
    profile_timeline(p, 0, 99, 8, s);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(s[i].samples, i == 1 ? 1 : 0);
        assert_int_equal(s[i].weight, i == 1 ? 10 : 0);
        assert_int_equal(s[i].paused_ns[1], i == 3 ? 7 : 0);
    }
    assert_int_equal(s[1].paused_ns[0] + s[5].paused_ns[0], 0);
    assert_int_equal(s[2].paused_ns[0], SECOND / 4 * 3);
    assert_int_equal(s[3].paused_ns[0], SECOND);
    assert_int_equal(s[4].paused_ns[0], 5);
    profile_timeline(p, PROFILE_EVENTS, 99, 8, s); /* pauses are of no event */
    assert_int_equal(s[3].paused_ns[0], SECOND);
    assert_int_equal(s[1].samples, 0);
    profile_free(p);
}

static uint64_t kept_pauses(struct profile *p, uint64_t from, uint32_t seconds) {
    struct profile_second s[700];
    uint64_t sum = 0;
    assert_true(seconds <= 700);
    profile_timeline(p, 0, from, seconds, s);
    for (uint32_t i = 0; i < seconds; i++)
        sum += s[i].paused_ns[0] > 0;
    return sum;
}

/* Seconds are shown as long as the history has them, whether time or room made it forget. */
static void test_as_long_as_the_history(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new(10), *small = profile_new_limited(1000, &limits);
    for (uint64_t s = 0; s < 100; s++)
        profile_pause(p, (100 + s) * SECOND, (100 + s) * SECOND + 1, 0);
    assert_in_range(kept_pauses(p, 100, 200), 10, 20); /* no samples yet */
    add(p, 199 * SECOND, 1, 0);
    assert_int_equal(kept_pauses(p, 100, 200), 10);
    assert_int_equal(kept_pauses(p, 190, 10), 10);
    profile_pause(p, 202 * SECOND, 202 * SECOND + 1, 0); /* before its samples */
    assert_int_equal(kept_pauses(p, 100, 200), 11);
    add(p, 203 * SECOND, 1, 0);
    assert_int_equal(kept_pauses(p, 100, 200), 7);
    for (uint64_t s = 100; s < 800; s++) {
        profile_pause(small, s * SECOND, s * SECOND + 1, 0);
        for (uint32_t i = 0; i < 32; i++)
            add(small, s * SECOND, 1 + i % 16, i / 16);
    }
    uint64_t first, last, kept;
    profile_span(small, &first, &last, &kept);
    assert_in_range(kept, 300, 798);
    assert_int_equal(kept_pauses(small, 100, 700), 800 - kept);
    add(small, 110 * SECOND, 1, 0); /* too late: what is gone is gone */
    assert_int_equal(kept_pauses(small, 100, 700), 800 - kept);
    profile_span(small, &first, &last, &first);
    assert_int_equal(first, kept);
    profile_free(p);
    profile_free(small);
}

/* Times nobody could mean end at once and break nothing. */
static void test_absurd_times(void **state) {
    (void)state;
    struct profile *p = profile_new(UINT32_MAX);
    struct profile_second s[4];
    for (uint32_t i = 0; i < 2000; i++)
        profile_pause(p, i, UINT64_MAX, i % 2);
    profile_pause(p, 5, 6, 0);
    profile_timeline(p, -1, UINT64_MAX - 1, 4, s);
    assert_int_equal(s[0].paused_ns[0] + s[3].paused_ns[0], 0);
    profile_timeline(p, 0, UINT64_MAX / SECOND - 1, 2, s);
    assert_int_equal(s[0].paused_ns[0], 1000 * SECOND);
    assert_int_equal(s[1].paused_ns[1], 1000 * (UINT64_MAX % SECOND));
    profile_timeline(p, 0, 0, 1, s);
    assert_int_equal(s[0].paused_ns[0], 1);
    add(p, UINT64_MAX, 1, 0);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pauses_are_spread),
        cmocka_unit_test(test_as_long_as_the_history),
        cmocka_unit_test(test_absurd_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
