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
    struct history_cursor c;
    uint64_t sum = 0;
    for (uint32_t i = history_find(h, from); i < h->end && h->second[i].second <= to; i++) {
        assert_true(i == h->first || h->second[i - 1].second < h->second[i].second);
        history_start(&c, &h->second[i]);
        while (history_next(&c))
            for (uint32_t j = 0; j < c.count; j++)
                sum += c.entry[j].count;
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

enum { PACKED = 1000 };

static uint64_t random_state = 1;

static uint64_t roll(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state >> 20;
}

/* Of every shape: near and far, small and as large as they can be. */
static struct history_entry any_entry(uint32_t i) {
    uint32_t shape = (uint32_t)roll();
    struct history_entry e = {.node = shape & 1 ? i : (uint32_t)roll() << (shape >> 20 & 15),
                              .owner = (uint32_t)roll() >> (shape >> 12 & 31),
                              .count = shape & 2 ? 1 : (uint32_t)roll(),
                              .weight = shape & 4 ? 1000000 : roll() << (shape >> 20 & 15),
                              .state = shape >> 4 & 15u,
                              .failed = shape >> 8 & 1u};
    e.carrier = (shape & 8 ? e.owner / 12 : (uint32_t)roll()) & HISTORY_CARRIER_MASK;
    if (i % 97 == 0)
        e.weight = UINT64_MAX, e.node = UINT32_MAX, e.owner = UINT32_MAX, e.count = UINT32_MAX;
    return e;
}

static void check_entries(const struct history *h, uint32_t at, const struct history_entry *e,
                          uint32_t count) {
    struct history_cursor c;
    uint32_t n = 0;
    history_start(&c, &h->second[at]);
    while (history_next(&c)) {
        for (uint32_t i = 0; i < c.count; i++, n++) {
            assert_in_range(n, 0, count - 1);
            assert_int_equal(c.entry[i].node, e[n].node);
            assert_int_equal(c.entry[i].owner, e[n].owner);
            assert_int_equal(c.entry[i].carrier, e[n].carrier);
            assert_int_equal(c.entry[i].state, e[n].state);
            assert_int_equal(c.entry[i].failed, e[n].failed);
            assert_int_equal(c.entry[i].count, e[n].count);
            assert_true(c.entry[i].weight == e[n].weight);
        }
    }
    assert_int_equal(n, count);
}

static void fill(struct history *h, uint64_t second, struct history_entry *e, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        e[i] = any_entry(i);
        assert_int_equal(history_add(h, second, &e[i], NULL), 0);
    }
}

static void test_packed(void **state) {
    (void)state;
    static struct history_entry e[PACKED];
    struct history h = {.span = 100, .limit = 1 << 20};
    add(&h, 1, 1, 1); /* else what is equal were one entry */
    add(&h, 3, 1, 1);
    fill(&h, 2, e, PACKED);
    assert_null(h.second[h.first + 1].packed);
    for (uint32_t second = 4; second < 10; second++)
        add(&h, second, second, 1);
    assert_non_null(h.second[h.first + 1].packed);
    check_entries(&h, h.first + 1, e, PACKED);
    history_free(&h);
    assert_int_equal(h.bytes, 0);
}

/* The samples of a usual second take less than ten bytes each. */
static void test_packed_is_small(void **state) {
    (void)state;
    struct history h = {.span = 1000, .limit = 64 << 20};
    for (uint32_t second = 1; second <= 100; second++) {
        for (uint32_t i = 0; i < PACKED; i++) {
            const struct history_entry e = {.node = (uint32_t)(roll() % 500000),
                                            .owner = i % 500 * 12,
                                            .carrier = i % 500 & HISTORY_CARRIER_MASK,
                                            .state = 1,
                                            .count = 1,
                                            .weight = 1000000};
            assert_int_equal(history_add(&h, second, &e, NULL), 0);
        }
    }
    assert_in_range(h.bytes, 1, 100 * PACKED * 10);
    history_free(&h);
}

/* A packed second takes late samples, gives up what is taken back, and is packed again. */
static void test_change_of_packed(void **state) {
    (void)state;
    static struct history_entry e[PACKED + 1];
    struct history h = {.span = 100, .limit = 1 << 20};
    add(&h, 1, 1, 1);
    add(&h, 3, 1, 1);
    fill(&h, 2, e, PACKED);
    for (uint32_t second = 4; second < 10; second++)
        add(&h, second, second, 1);
    e[PACKED] = any_entry(1);
    uint32_t place;
    assert_int_equal(history_add(&h, 2, &e[PACKED], &place), 0);
    assert_int_equal(place, PACKED);
    check_entries(&h, h.first + 1, e, PACKED + 1);
    add(&h, 10, 1, 1);
    assert_non_null(h.second[h.first + 1].packed);
    uint64_t weight = e[500].weight;
    uint32_t count = e[500].count;
    history_retract(&h, 2, 500, &e[500], &weight, &count);
    assert_true(weight == e[500].weight && count == e[500].count);
    e[500].weight = e[500].count = 0;
    check_entries(&h, h.first + 1, e, PACKED + 1);
    weight = count = 1;
    history_retract(&h, 2, 501, &e[500], &weight, &count); /* another entry */
    assert_true(weight == 0 && count == 0);
    history_free(&h);
    assert_int_equal(h.bytes, 0);
}

static bool change(void *arg, struct history_entry *e) {
    if (e->owner % 2)
        return false;
    e->owner = *(const uint32_t *)arg;
    return true;
}

static void test_change_of_all(void **state) {
    (void)state;
    static struct history_entry e[PACKED];
    struct history h = {.span = 100, .limit = 1 << 20};
    uint32_t heir = 77;
    add(&h, 1, 1, 1);
    add(&h, 3, 1, 1);
    fill(&h, 2, e, PACKED);
    for (uint32_t second = 4; second < 10; second++)
        add(&h, second, second, 1);
    history_change(&h, change, &heir);
    for (uint32_t i = 0; i < PACKED; i++)
        (void)change(&heir, &e[i]);
    check_entries(&h, h.first + 1, e, PACKED);
    assert_non_null(h.second[h.first + 1].packed);
    assert_null(h.second[h.end - 1].packed);
    history_free(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_and_window),
        cmocka_unit_test(test_late_samples),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_count_overflow),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_packed_is_small),
        cmocka_unit_test(test_change_of_packed),
        cmocka_unit_test(test_change_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
