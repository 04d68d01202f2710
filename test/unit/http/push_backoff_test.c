#include "core/http/push/backoff.h"
#include "core/http/push/protocol/trouble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_it_doubles_from_one_second_to_a_minute(void **state) {
    (void)state;
    for (uint32_t random = 0; random < 100000; random += 977) {
        struct backoff b = {0};
        uint32_t middle = 1000;
        for (int i = 0; i < 5000; i++) {
            uint32_t wait = backoff_next(&b, random, 0);
            assert_in_range(wait, middle * 3 / 4 < 1000 ? 1000 : middle * 3 / 4,
                            middle * 5 / 4 > 60000 ? 60000 : middle * 5 / 4);
            middle = middle * 2 > 60000 ? 60000 : middle * 2;
        }
    }
}

static void test_two_clients_do_not_come_at_once(void **state) {
    (void)state;
    struct backoff a = {3}, b = {3};
    assert_int_not_equal(backoff_next(&a, 12, 0), backoff_next(&b, 3000, 0));
}

static void test_what_the_receiver_asks_for_is_the_least(void **state) {
    (void)state;
    struct backoff b = {0};
    assert_in_range(backoff_next(&b, 4999, 10), 10000, 11000);
    b.failures = 20;
    assert_in_range(backoff_next(&b, 77, 1), 45000, 60000);
    /* … but not for ever. */
    assert_in_range(backoff_next(&b, 999, UINT32_MAX), 300000, 301000);
}

struct heard {
    unsigned lines;
    char last[256];
};

static void hear(void *arg, const char *line) {
    struct heard *h = arg;
    h->lines++;
    snprintf(h->last, sizeof h->last, "%s", line);
}

static void test_a_trouble_is_said_once_and_its_end(void **state) {
    (void)state;
    struct heard h = {0};
    struct trouble t = {.say = hear, .arg = &h};
    for (uint64_t i = 0; i < 1000; i++)
        trouble_begins(&t, 1000 + i * 1000, "down", i % 2 ? "down, 5" : "down, 6");
    assert_int_equal(h.lines, 1);
    trouble_begins(&t, 1002000, "refused", "refused");
    assert_int_equal(h.lines, 2);
    assert_string_equal(t.now, "refused");
    trouble_ends(&t, "up");
    assert_int_equal(h.lines, 3);
    assert_string_equal(h.last, "up");
    assert_string_equal(t.now, "");
    trouble_ends(&t, "up");
    assert_int_equal(h.lines, 3);
}

static void test_one_that_comes_and_goes_is_quiet_unless_it_lasts(void **state) {
    (void)state;
    struct heard h = {0};
    struct trouble t = {.say = hear, .arg = &h};
    for (uint64_t i = 0; i < 100; i++) {
        trouble_begins(&t, 1000 + i * 15000, "down", "down");
        trouble_ends(&t, "up");
    }
    assert_int_equal(h.lines, 2);
    for (uint64_t i = 0; i < 70; i++)
        trouble_begins(&t, 1600000 + i * 1000, "down", "down");
    assert_int_equal(h.lines, 3);
    trouble_ends(&t, "up");
    assert_int_equal(h.lines, 4);
    /* After a long time it is news again. */
    trouble_begins(&t, 1700000 + TROUBLE_QUIET_MS, "down", "down");
    assert_int_equal(h.lines, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_doubles_from_one_second_to_a_minute),
        cmocka_unit_test(test_two_clients_do_not_come_at_once),
        cmocka_unit_test(test_what_the_receiver_asks_for_is_the_least),
        cmocka_unit_test(test_a_trouble_is_said_once_and_its_end),
        cmocka_unit_test(test_one_that_comes_and_goes_is_quiet_unless_it_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
