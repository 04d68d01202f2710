#include "core/profile/history/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void add(struct history *h, uint64_t second, uint32_t node, uint32_t count) {
    const struct history_entry e = {.node = node, .weight = 10 * (uint64_t)count, .count = count};
    assert_int_equal(history_add(h, second, &e, NULL), 0);
}

/* The samples kept from `from` to `to`; checks the order on the way. */
static uint64_t samples(const struct history *h, uint64_t from, uint64_t to) {
    uint64_t sum = 0;
    for (uint32_t i = history_find(h, from); i < h->end && h->second[i].second <= to; i++) {
        assert_true(i == h->first || h->second[i - 1].second < h->second[i].second);
        for (uint32_t j = 0; j < h->second[i].count; j++)
            sum += h->second[i].entry[j].count;
    }
    return sum;
}

static void test_merge_and_window(void **state) {
    (void)state;
    struct history h = {.span = 100, .limit = 1 << 20};
    assert_int_equal(samples(&h, 0, UINT64_MAX), 0);
    for (uint32_t i = 0; i < 1000; i++)
        add(&h, 50 + i / 100, i % 3, 1);
    assert_int_equal(h.end - h.first, 10);
    assert_int_equal(h.second[h.end - 1].count, 3);
    assert_int_equal(samples(&h, 50, 59), 1000);
    assert_int_equal(samples(&h, 52, 53), 200);
    assert_int_equal(samples(&h, 60, 90), 0);
    history_free(&h);
}

static void test_late_samples(void **state) {
    (void)state;
    struct history h = {.span = 10, .limit = 1 << 20};
    add(&h, 100, 1, 1);
    add(&h, 105, 1, 1);
    add(&h, 103, 1, 1); /* between two seconds */
    add(&h, 97, 1, 1);  /* before the first */
    add(&h, 100, 1, 1); /* again: in a second that is past */
    add(&h, 95, 1, 1);  /* too old to be kept */
    assert_int_equal(samples(&h, 0, 200), 5);
    assert_int_equal(samples(&h, 100, 100), 2);
    assert_int_equal(samples(&h, 101, 104), 1);
    add(&h, 107, 1, 1); /* 97 goes */
    assert_int_equal(samples(&h, 0, 200), 5);
    assert_int_equal(h.second[h.first].second, 100);
    history_free(&h);
    assert_int_equal(h.bytes, 0);
}

/* A clock that leaps costs what is evicted and no more: else this would not end. */
static void test_gaps(void **state) {
    (void)state;
    struct history h = {.span = 600, .limit = 1 << 20};
    for (uint64_t i = 0; i < 100000; i++)
        add(&h, i * 100000000000, 1, 1);
    assert_int_equal(h.end - h.first, 1);
    for (uint64_t i = 0; i < 100000; i++)
        add(&h, UINT64_MAX - (i % 700), 1, 1);
    assert_in_range(h.end - h.first, 1, 600);
    assert_true(h.cap < 4096);
    history_free(&h);
}

static void test_memory_limit(void **state) {
    (void)state;
    enum { LIMIT = 64 << 10 };
    struct history h = {.span = 100000, .limit = LIMIT};
    for (uint32_t second = 1; second <= 1000; second++) {
        for (uint32_t i = 0; i < 100; i++)
            add(&h, second, i, 1);
        assert_true(h.bytes <= LIMIT + 256 * sizeof(struct history_entry));
    }
    assert_int_equal(h.second[h.end - 1].second, 1000);
    assert_int_equal(samples(&h, 1000, 1000), 100);
    assert_true(h.end - h.first > 10);
    for (uint32_t i = 0; i < 100000; i++) /* one second larger than everything */
        add(&h, 1001, i, 1);
    assert_true(h.bytes <= 4 * LIMIT);
    assert_int_equal(h.end - h.first, 1);
    add(&h, 1002, 1, 1); /* and life goes on */
    assert_int_equal(samples(&h, 1002, 1002), 1);
    history_free(&h);
}

static void test_count_overflow(void **state) {
    (void)state;
    struct history h = {.span = 10, .limit = 1 << 20};
    add(&h, 1, 1, UINT32_MAX);
    add(&h, 1, 1, UINT32_MAX);
    add(&h, 1, 1, 5);
    assert_int_equal(samples(&h, 1, 1), 2 * (uint64_t)UINT32_MAX + 5);
    history_free(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_and_window),
        cmocka_unit_test(test_late_samples),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_count_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
