#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/profile/snapshot/diff.h"
#include "test/unit/profile/profile_fixture.h"

/* `times` samples of "main" calling this, in this second. */
static void call(struct profile *p, uint64_t second, uint32_t tid, const char *leaf,
                 uint32_t times) {
    struct profile_frame f[] = {{.method = intern(p, leaf)}, {.method = intern(p, "main")}};
    while (times-- > 0)
        assert_int_equal(add_frames(p, second * SECOND, tid, f, 2), 0);
}

static struct snapshot *second(struct profile *p, uint64_t second, struct query q) {
    q.from_second = q.to_second = second;
    q.tree = true;
    struct snapshot *s = snapshot_take(p, &q);
    assert_non_null(s);
    return s;
}

static uint32_t row(struct profile *p, const struct snapshot *s, const char *name) {
    uint32_t i = 0;
    while (i < s->method_count && s->methods[i].method != intern(p, name))
        i++;
    assert_in_range(i, 0, s->method_count - 1);
    return i;
}

/* The first node of the method. */
static uint32_t node(struct profile *p, const struct snapshot *s, const char *name) {
    uint32_t i = 0;
    while (i < s->node_count && s->nodes[i].method != intern(p, name))
        i++;
    assert_in_range(i, 0, s->node_count - 1);
    return i;
}

static void expect(struct diff_change c, double percent, bool chance, bool is_new) {
    assert_true(c.percent > percent - 1e-9 && c.percent < percent + 1e-9);
    assert_int_equal(c.chance, chance);
    assert_int_equal(c.is_new, is_new);
}

/* What would be a change in a row alone is none among many rows: one of them always looks like
 * that. */
static void test_many_rows(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    char name[8];
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "m%u", i);
        call(p, 10, 1, name, 20);
        call(p, 11, 1, name, i == 50 ? 38 : 20);
    }
    struct snapshot *a = second(p, 10, (struct query){0}), *b = second(p, 11, (struct query){0});
    struct diff *d = diff_new(a, b);
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "m%u", i);
        assert_true(diff_method_self(d, row(p, b, name)).chance);
        assert_true(diff_node(d, node(p, b, name)).chance);
    }
    diff_free(d);
    snapshot_free(a);
    snapshot_free(b);
    profile_free(p);
}

/* 1,000 samples before, 500 now: parts are compared, not weights. */
static struct profile *two_seconds(void) {
    struct profile *p = profile_new(0);
    call(p, 10, 1, "same", 400);
    call(p, 10, 1, "grew", 100);
    call(p, 10, 2, "wobbles", 200);
    call(p, 10, 2, "shrank", 300);
    call(p, 11, 1, "same", 200);
    call(p, 11, 1, "grew", 150);
    call(p, 11, 2, "wobbles", 105);
    call(p, 11, 3, "new", 45);
    return p;
}

static void test_rows(void **state) {
    (void)state;
    struct profile *p = two_seconds();
    struct snapshot *before = second(p, 10, (struct query){0}),
                    *now = second(p, 11, (struct query){0});
    struct diff *d = diff_new(before, now);
    assert_non_null(d);
    expect(diff_method_self(d, row(p, now, "same")), 0, true, false);
    expect(diff_method_self(d, row(p, now, "grew")), 20, false, false);
    expect(diff_method_self(d, row(p, now, "wobbles")), 1, true, false);
    expect(diff_method_self(d, row(p, now, "new")), 9, false, true);
    expect(diff_method_self(d, row(p, now, "main")), 0, true, false);
    expect(diff_method_total(d, row(p, now, "main")), 0, true, false);
    expect(diff_method_total(d, row(p, now, "grew")), 20, false, false);
    for (uint32_t i = 0; i < now->thread_count; i++) {
        uint32_t tid = now->threads[i].tid;
        expect(diff_thread(d, i), tid == 1 ? 20 : tid == 2 ? -29 : 9, false, tid == 3);
    }
    diff_free(d);
    snapshot_free(before);
    snapshot_free(now);
    profile_free(p);
}

/* By path: the same method is somewhere else under another caller. */
static void test_nodes(void **state) {
    (void)state;
    for (int bits = 0; bits < 4; bits++) {
        struct query q = {.inverted = bits & 1, .by_thread = bits & 2};
        struct profile *p = two_seconds();
        struct snapshot *before = second(p, 10, q);
        struct profile_frame deeper[] = {{.method = intern(p, "grew")},
                                         {.method = intern(p, "same")},
                                         {.method = intern(p, "main")}};
        for (int i = 0; i < 500; i++)
            assert_int_equal(add_frames(p, 11 * SECOND, 1, deeper, 3), 0);
        struct snapshot *now = second(p, 11, q);
        struct diff *d = diff_new(before, now);
        assert_non_null(d);
        expect(diff_node(d, node(p, now, "new")), 4.5, false, true);
        expect(diff_node(d, node(p, now, "wobbles")), 10.5 - 20, false, false);
        if (bits == 0) {
            expect(diff_node(d, 0), 0, true, false); /* main */
            expect(diff_node(d, node(p, now, "grew")), 50, false, true);
            expect(diff_node(d, node(p, now, "same")), 30, false, false);
        }
        if (bits == 1)
            expect(diff_node(d, node(p, now, "grew")), 55, false, false);
        diff_free(d);
        struct snapshot *other = second(p, 10, (struct query){.inverted = !q.inverted});
        d = diff_new(other, now);
        assert_non_null(d);
        expect(diff_node(d, 0), 0, true, false); /* another kind of tree */
        diff_free(d);
        snapshot_free(other);
        snapshot_free(before);
        snapshot_free(now);
        profile_free(p);
    }
}

/* What was left out because it was light is not called new. */
static void test_pruned(void **state) {
    (void)state;
    struct profile *p = two_seconds();
    call(p, 10, 1, "new", 1);
    struct snapshot *before = second(p, 10, (struct query){.prune_ppm = 50000}),
                    *now = second(p, 11, (struct query){.prune_ppm = 50000});
    struct diff *d = diff_new(before, now);
    assert_non_null(d);
    expect(diff_node(d, node(p, now, "new")), 9, false, false);
    diff_free(d);
    snapshot_free(before);
    snapshot_free(now);
    profile_free(p);
}

static void test_nothing_before(void **state) {
    (void)state;
    struct profile *p = two_seconds();
    struct snapshot *before = second(p, 9, (struct query){0}),
                    *now = second(p, 11, (struct query){0});
    struct diff *d = diff_new(before, now);
    assert_non_null(d);
    expect(diff_method_self(d, row(p, now, "grew")), 30, true, true);
    expect(diff_node(d, node(p, now, "main")), 100, true, true);
    diff_free(d);
    d = diff_new(now, before);
    assert_non_null(d);
    diff_free(d);
    snapshot_free(before);
    snapshot_free(now);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_pruned),    cmocka_unit_test(test_nothing_before),
        cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
