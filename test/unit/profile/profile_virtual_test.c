/* Virtual threads: those of late have rows, the others share one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

/* The root of this name, which stays valid as long as the snapshot; NULL: none. */
static const struct snapshot_node *root_of(const struct profile *p, const struct snapshot *s,
                                           const char *name) {
    for (uint32_t i = 0; i < s->node_count; i = s->nodes[i].next)
        if (!strcmp(method_table_get(profile_methods_const(p), s->nodes[i].method)->name, name))
            return &s->nodes[i];
    return NULL;
}

static uint32_t count_roots(const struct snapshot *s) {
    uint32_t roots = 0;
    for (uint32_t i = 0; i < s->node_count; i = s->nodes[i].next)
        roots++;
    return roots;
}

/* Cells that are kept between two questions are those counted anew. */
static void expect_sparks(struct profile *p) {
    const struct query q = {.spark_cells = 4, .spark_seconds = 15};
    struct snapshot *kept = take(p, q);
    for (int i = 0; i < SPARKS; i++)
        sparks_free(&p->sparks[i]);
    struct snapshot *fresh = take(p, q);
    assert_memory_equal(kept->thread_spark, fresh->thread_spark,
                        kept->thread_count * q.spark_cells * sizeof *kept->thread_spark);
    snapshot_free(kept);
    snapshot_free(fresh);
}

/* Virtual threads beyond what there are rows for: those of late have a row, with whatever history
 * there is of them, and the others share one. */
static void test_many_virtual_threads(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(60, &limits);
    uint32_t m[2] = {intern(p, "a"), intern(p, "b")};
    char name[32];
    for (uint32_t i = 1; i <= 1000; i++) {
        snprintf(name, sizeof name, "task %u", i);
        assert_int_equal(profile_virtual_name(p, i, name), 0);
        assert_int_equal(add_virtual(p, (100 + i / 4) * SECOND, 1 + i % 3, i, m[i % 2]), 0);
        assert_int_equal(add_virtual(p, (100 + i / 4) * SECOND, 1 + i % 3, 7777, m[1]), 0);
        if (i % 10 == 0)
            expect_sparks(p);
    }
    assert_int_equal(p->threads.count, 1 + 1 + 3 + limits.virtuals);
    assert_in_range(profile_thread_count(p), 3 + limits.virtuals / 2, 3 + limits.virtuals);
    assert_true(p->by_pair.count <= limits.pairs);
    expect_sound(p, 20000);
    for (int window = 0; window < 2; window++) {
        struct query q = {.from_second = window ? 300 : 0, .to_second = window ? 400 : 0};
        struct snapshot *s = take(p, q);
        const struct snapshot_thread *others = row_of(s, "[other virtual threads]");
        assert_non_null(others);
        assert_true(others->is_virtual && others->java_id == 0);
        assert_int_equal(row_of(s, "task 1000")->samples, 1);
        assert_int_equal(row_of(s, "task 1000")->java_id, 1000);
        assert_int_equal(row_of(s, "task 1000")->tid, 1 + 1000 % 3);
        assert_int_equal(row_of(s, "task 1000")->top_method, m[0]);
        assert_int_equal(row_of(s, "VirtualThread[#7777]")->samples, window ? 201 : 1000);
        assert_null(row_of(s, "task 900"));
        assert_in_range(s->thread_count, 2 + limits.virtuals / 2 - 1, 1 + limits.virtuals);
        snapshot_free(s);
        q.carriers = true;
        s = take(p, q);
        assert_int_equal(s->thread_count, 3);
        for (uint32_t i = 0; i < 3 && !window; i++)
            assert_in_range(s->threads[i].samples, 666, 668);
        snapshot_free(s);
    }
    struct snapshot *s = take(p, (struct query){.by_thread = true, .virtual_id = 1000});
    assert_int_equal(s->samples, 1);
    assert_string_equal(method_table_get(profile_methods(p), s->nodes[0].method)->name,
                        "[task 1000 virtual=1000]");
    snapshot_free(s);
    profile_free(p);
}

/* Pictures by thread, taken while virtual threads come and go, leave no names behind but those of
 * the threads that are worth a root. The others' stacks are under one root. */
static void test_roots_of_virtual_threads(void **state) {
    (void)state;
    enum { ROUNDS = 30, TASKS = 300 };
    struct profile *p = profile_new(60);
    uint32_t m[2] = {intern(p, "a"), intern(p, "b")}, before = method_table_count(p->methods);
    assert_int_equal(profile_virtual_name(p, 1, "busy"), 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        add(p, SECOND, 7, m[0]);
        for (uint32_t i = 0; i < TASKS; i++) {
            uint64_t id = 1000 + round * TASKS + i;
            assert_int_equal(add_virtual(p, SECOND, 1 + i % 3, id, m[i % 3 == 0]), 0);
            assert_int_equal(add_virtual(p, SECOND, 1 + i % 3, 1, m[0]), 0);
        }
        for (uint32_t bits = 0; bits < 8; bits++) {
            struct query q = {.by_thread = true,
                              .prune_ppm = 10000,
                              .inverted = bits & 1,
                              .tiers = bits & 2,
                              .to_second = bits & 4 ? 99 : 0};
            struct snapshot *s = take(p, q);
            uint64_t all = (round + 1) * TASKS * UINT64_C(10);
            assert_int_equal(s->weight, 2 * all + (round + 1) * 10);
            assert_int_equal(s->thread_count, 2 + (round + 1) * TASKS);
            assert_int_equal(count_roots(s), 3);
            assert_int_equal(root_of(p, s, "[busy virtual=1]")->total, all);
            assert_int_equal(root_of(p, s, "[tid=7]")->total, (round + 1) * 10);
            const struct snapshot_node *others = root_of(p, s, "[other virtual threads]");
            assert_int_equal(others->total, all);
            assert_int_equal(others->total_samples, all / 10);
            assert_int_equal(others->next - (uint32_t)(others - s->nodes), 3);
            assert_int_equal(others[1].method, m[0]);
            assert_int_equal(others[1].total, all / 3 * 2);
            assert_int_equal(others[1].self_samples, all / 30 * 2);
            assert_int_equal(others[2].total, all / 3);
            snapshot_free(s);
        }
    }
    assert_int_equal(method_table_count(p->methods), before + 3);
    struct snapshot *s = take(p, (struct query){.by_thread = true});
    assert_int_equal(count_roots(s), 2 + ROUNDS * TASKS); /* unless it prunes */
    snapshot_free(s);
    profile_free(p);
}

/* Once the table of methods has enough names, virtual threads get no more of them. */
static void test_no_names_for_virtual_roots(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(60, &limits);
    char name[16];
    for (uint32_t i = 0; i < limits.virtual_roots; i++) {
        snprintf(name, sizeof name, "m%u", i);
        intern(p, name);
    }
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(add_virtual(p, SECOND, 1, 1 + i, i), 0);
    add(p, SECOND, 7, 0);
    for (int inverted = 0; inverted < 2; inverted++) {
        struct snapshot *s = take(p, (struct query){.by_thread = true, .inverted = inverted});
        assert_int_equal(count_roots(s), 2);
        assert_int_equal(s->node_count, 2 + 10 + 1);
        assert_int_equal(root_of(p, s, "[other virtual threads]")->total, 100);
        assert_int_equal(root_of(p, s, "[tid=7]")->total, 10);
        snapshot_free(s);
    }
    assert_int_equal(method_table_count(p->methods), limits.virtual_roots + 2);
    profile_free(p);
}

/* Names outlive their rows in the snapshots that have them; names alone make no rows to see. */
static void test_names_of_virtual_threads(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(60, &limits);
    uint32_t m = intern(p, "m");
    assert_int_equal(profile_virtual_name(p, 0, "none"), -EINVAL);
    assert_int_equal(profile_virtual_name(p, 5, "five"), 0);
    assert_int_equal(add_virtual(p, SECOND, 1, 5, m), 0);
    struct snapshot *s = take(p, (struct query){0});
    for (uint32_t i = 100; i < 5000; i++)
        assert_int_equal(profile_virtual_name(p, i, i % 2 ? "flood" : ""), 0);
    assert_int_equal(s->thread_count, 1);
    assert_string_equal(s->threads[0].name, "five");
    snapshot_free(s);
    assert_int_equal(profile_virtual_name(p, 5, "new"), 0);
    assert_int_equal(add_virtual(p, 90 * SECOND, 1, 5, m), 0);
    assert_int_equal(profile_virtual_name(p, 5, ""), 0);
    s = take(p, (struct query){0});
    assert_string_equal(s->threads[0].name, "VirtualThread[#5]");
    assert_int_equal(s->threads[0].samples, 2);
    snapshot_free(s);
    assert_true(p->threads.count <= 3 + limits.virtuals);
    expect_sound(p, 20);
    profile_free(p);
}

/* Few virtual threads with ever other stacks: those idle give their pairs away. */
static void test_idle_virtual_threads_make_room(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(600, &limits);
    char name[16];
    for (uint32_t i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "m%u", i % 40);
        assert_int_equal(add_virtual(p, (100 + i * 3) * SECOND, 1, 1 + i / 40, intern(p, name)), 0);
    }
    assert_true(p->by_pair.count < limits.pairs);
    expect_sound(p, 4000);
    struct snapshot *s = take(p, (struct query){.virtual_id = 10});
    assert_int_equal(s->samples, 40);
    assert_int_equal(s->method_count, 40); /* none "not kept" */
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_virtual_threads),
        cmocka_unit_test(test_roots_of_virtual_threads),
        cmocka_unit_test(test_no_names_for_virtual_roots),
        cmocka_unit_test(test_names_of_virtual_threads),
        cmocka_unit_test(test_idle_virtual_threads_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
