/* The agent's table of ids: each identity its own, announced once; halves that take turns. */
#include "core/agent/process/id_table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t identity(uint32_t i) {
    uint64_t h = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static int setup(void **state) {
    static struct id_table t;
    *state = &t;
    return id_table_map(&t);
}

static int teardown(void **state) {
    id_table_unmap(*state);
    return 0;
}

/* Finds identities [0, n) and marks them announced; their ids go to `id`. */
static void give(struct id_table *t, uint32_t n, uint32_t *id) {
    for (uint32_t i = 0; i < n; i++) {
        bool is_new;
        id[i] = id_table_find(t, identity(i), &is_new);
        assert_int_not_equal(id[i], ID_TABLE_FULL);
        assert_true(is_new);
        id_table_announced(t, id[i]);
    }
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void assert_distinct(uint32_t *id, uint32_t n) {
    qsort(id, n, sizeof *id, compare);
    for (uint32_t i = 1; i < n; i++)
        assert_int_not_equal(id[i], id[i - 1]);
}

static void ids_are_distinct_and_kept(void **state) {
    enum { N = 60000 };
    static uint32_t id[N];
    struct id_table *t = *state;
    give(t, N, id);
    assert_int_equal(t->used, N);
    for (uint32_t i = 0; i < N; i++) {
        bool is_new;
        assert_int_equal(id_table_find(t, identity(i), &is_new), id[i]);
        assert_false(is_new);
    }
    assert_int_equal(t->used, N);
    assert_distinct(id, N);
}

/* It stays new until somebody has announced it. */
static void new_until_announced(void **state) {
    struct id_table *t = *state;
    bool is_new;
    uint32_t id = id_table_find(t, 4711, &is_new);
    assert_true(is_new);
    assert_int_equal(id_table_find(t, 4711, &is_new), id);
    assert_true(is_new);
    id_table_announced(t, id);
    assert_int_equal(id_table_find(t, 4711, &is_new), id);
    assert_false(is_new);
}

/* What is met again after a turn gets an id that no sample of before can have meant. */
static void halves_take_turns(void **state) {
    enum { N = 20000 };
    static uint32_t id[2 * N];
    struct id_table *t = *state;
    give(t, N, id);
    id_table_turn(t);
    assert_true(t->old_is_dirty);
    assert_int_equal(t->used, 0);
    give(t, N, id + N);
    uint32_t first = id[0];
    assert_distinct(id, 2 * N);
    id_table_clean(t);
    assert_false(t->old_is_dirty);
    /* The half in use is untouched by that; the other one has forgotten all. */
    bool is_new;
    id_table_find(t, identity(0), &is_new);
    assert_false(is_new);
    id_table_turn(t);
    assert_int_equal(id_table_find(t, identity(0), &is_new), first);
    assert_true(is_new);
}

static void full_is_said(void **state) {
    struct id_table *t = *state;
    bool is_new = true;
    uint32_t n = 0;
    while (n < 1u << 21 && id_table_find(t, identity(n), &is_new) != ID_TABLE_FULL)
        n++;
    assert_false(is_new);
    assert_in_range(n, 500000, 1u << 21);
    id_table_turn(t);
    assert_int_not_equal(id_table_find(t, identity(n), &is_new), ID_TABLE_FULL);
}

struct racer {
    struct id_table *t;
    uint32_t id[20000];
};

static void *race(void *arg) {
    struct racer *r = arg;
    for (uint32_t i = 0; i < 20000; i++) {
        bool is_new;
        r->id[i] = id_table_find(r->t, identity(i), &is_new);
        if (is_new)
            id_table_announced(r->t, r->id[i]);
    }
    return NULL;
}

/* Threads that meet the same identities at the same time agree on their ids. */
static void threads_agree(void **state) {
    static struct racer racer[4];
    pthread_t thread[4];
    struct id_table *t = *state;
    for (int i = 0; i < 4; i++) {
        racer[i].t = t;
        assert_int_equal(pthread_create(&thread[i], NULL, race, &racer[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < 4; i++)
        assert_memory_equal(racer[i].id, racer[0].id, sizeof racer[0].id);
    assert_int_equal(t->used, 20000);
    assert_distinct(racer[0].id, 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ids_are_distinct_and_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(new_until_announced, setup, teardown),
        cmocka_unit_test_setup_teardown(halves_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(full_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_agree, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
