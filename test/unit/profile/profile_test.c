/* What the profile keeps of samples. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

static void test_counts(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint64_t first = 9, last = 9, kept = 9;
    profile_span(p, &first, &last, &kept);
    assert_int_equal(first + last + kept, 0);
    struct profile_frame f = {.method = intern(p, "a"), .tier = 200};
    struct profile_sample s = {.time_ns = 5 * SECOND,
                               .weight = 7,
                               .count = 2,
                               .tid = 1,
                               .event = 7,
                               .failed = 1,
                               .frames = 1,
                               .frame = &f};
    assert_int_equal(profile_add(p, &s), 0);
    s.time_ns = 3 * SECOND + 1;
    s.failed = 0;
    assert_int_equal(profile_add(p, &s), 0);
    s.event = PROFILE_EVENTS;
    assert_int_equal(profile_add(p, &s), -EINVAL);
    assert_int_equal(profile_weight(p, 7), 14);
    assert_int_equal(profile_samples(p, 7), 4);
    assert_int_equal(profile_failed(p, 7), 2);
    assert_int_equal(profile_samples(p, 0) + profile_samples(p, -1) + profile_samples(p, 8), 0);
    profile_span(p, &first, &last, &kept);
    assert_int_equal(first, 3);
    assert_int_equal(last, 5);
    assert_int_equal(kept, 3);
    assert_int_equal(profile_node_count(p), 1);
    assert_int_equal(profile_thread_count(p), 1);
    struct snapshot *t = take(p, (struct query){.event = 7});
    assert_int_equal(t->failed, 2);
    assert_int_equal(t->sampled_ns, 3 * SECOND);
    assert_int_equal(t->methods[0].tier[TIER_NONE], 4); /* a tier there is not */
    snapshot_free(t);
    t = take(p, (struct query){.event = 99});
    assert_int_equal(t->samples + t->method_count + t->thread_count, 0);
    snapshot_free(t);
    profile_free(p);
    profile_free(NULL);
}

/* Ids nobody gave out, and stacks of nothing. */
static void test_unknown_frames(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    assert_int_equal(add_frames(p, 1, 1, NULL, 0), 0);
    add(p, 1, 1, 12345);
    add(p, 1, 1, METHOD_NONE);
    struct snapshot *s = take(p, (struct query){0});
    assert_int_equal(s->method_count, 1);
    assert_int_equal(s->methods[0].self_samples, 3);
    assert_string_equal(method_table_get(profile_methods(p), s->methods[0].method)->name,
                        "[unknown]");
    snapshot_free(s);
    profile_free(p);
}

static void test_deep_stacks(void **state) {
    (void)state;
    enum { DEEP = 60000 };
    struct profile *p = profile_new(0);
    struct profile_frame *f = calloc(DEEP, sizeof *f);
    for (uint32_t i = 0; i < DEEP; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i % 5000);
        f[i].method = intern(p, name);
    }
    assert_int_equal(add_frames(p, 1, 1, f, DEEP), 0);
    assert_int_equal(add_frames(p, 1, 1, f + 1, DEEP - 1), 0);
    assert_int_equal(profile_node_count(p), 2 * PROFILE_STACK_MAX);
    struct snapshot *s = take(p, (struct query){0});
    assert_int_equal(s->max_depth, PROFILE_STACK_MAX);
    assert_int_equal(s->methods[0].method, f[1].method); /* the leaf stays, the root is cut */
    assert_int_equal(s->methods[1].method, f[0].method);
    assert_int_equal(s->methods[2].self, 0);
    snapshot_free(s);
    s = take(p, (struct query){.inverted = true});
    assert_int_equal(s->max_depth, PROFILE_STACK_MAX);
    snapshot_free(s);
    free(f);
    profile_free(p);
}

static void test_same_tree_from_known_stacks(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct profile_frame f[3] = {{.method = intern(p, "leaf"), .line = 1},
                                 {.method = intern(p, "mid"), .line = 2},
                                 {.method = intern(p, "root"), .line = 3}};
    for (uint16_t i = 0; i < 1000; i++) {
        f[i % 3].line = i % 9 / 3; /* where in a method is not part of the call path */
        assert_int_equal(add_frames(p, i, 1, f, 3), 0);
    }
    assert_int_equal(profile_node_count(p), 3);
    uint32_t nodes = p->tree.nodes;
    assert_in_range(nodes, 4, 3 + 9 + 27);          /* yet it is known */
    assert_int_equal(add_frames(p, 1, 1, f, 2), 0); /* shorter: mid is a root here */
    assert_int_equal(add_frames(p, 1, 1, f + 1, 2), 0);
    assert_int_equal(profile_node_count(p), 5);
    assert_int_equal(p->tree.nodes, nodes + 2);
    profile_free(p);
}

static void test_tid_used_again(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    uint32_t m = intern(p, "m");
    add(p, 1 * SECOND, 7, m); /* no name yet */
    assert_int_equal(profile_thread_name(p, 7, 70, "first"), 0);
    add(p, 2 * SECOND, 7, m);
    profile_thread_end(p, 7);
    profile_thread_end(p, 99);                                            /* never heard of */
    add(p, 2 * SECOND + 5, 7, m);                                         /* on its way out */
    assert_int_equal(profile_thread_name(p, 7, 70, "first, renamed"), 0); /* late news */
    add(p, 9 * SECOND, 7, m);                                             /* cannot be the same */
    assert_int_equal(profile_thread_name(p, 7, 71, "second"), 0);
    profile_thread_end(p, 7);
    assert_int_equal(profile_thread_name(p, 7, 72, "third"), 0); /* at once */
    add(p, 9 * SECOND, 7, m);
    add(p, 9 * SECOND, 7, m);
    for (int window = 0; window < 2; window++) {
        struct snapshot *s = take(p, (struct query){.to_second = window ? 100 : 0});
        assert_int_equal(s->thread_count, 3);
        assert_int_equal(row_of(s, "first, renamed")->samples, 3);
        assert_true(row_of(s, "first, renamed")->ended);
        assert_int_equal(row_of(s, "second")->samples, 1);
        assert_int_equal(row_of(s, "third")->samples, 2);
        assert_int_equal(row_of(s, "third")->java_id, 72);
        assert_false(row_of(s, "third")->ended);
        snapshot_free(s);
    }
    struct snapshot *s = take(p, (struct query){.tid = 7});
    assert_int_equal(s->samples, 6);
    snapshot_free(s);
    assert_int_equal(profile_thread_count(p), 3);
    profile_free(p);
}

/* The history forgets; what is asked since the beginning does not. */
static void test_evicted(void **state) {
    (void)state;
    struct profile *p = profile_new(5);
    uint32_t a = intern(p, "a"), b = intern(p, "b");
    uint64_t first, last, kept;
    for (uint64_t t = 100; t < 200; t++)
        add(p, t * SECOND, 1 + (uint32_t)t % 2, t < 150 ? a : b);
    add(p, 86400 * SECOND, 1, b); /* stopped for most of a day */
    profile_span(p, &first, &last, &kept);
    assert_int_equal(first, 100);
    assert_int_equal(kept, 86400);
    expect_sound(p, 1010);
    struct snapshot *s = take(p, (struct query){.from_second = 1, .to_second = UINT64_MAX});
    assert_int_equal(s->samples, 1);
    assert_int_equal(s->sampled_ns, 1 * SECOND);
    snapshot_free(s);
    s = take(p, (struct query){.tid = 2});
    assert_int_equal(s->samples, 50);
    snapshot_free(s);
    profile_free(p);
}

/* Up to a second that is kept, from the beginning on: what was evicted before it counts. */
static void test_evicted_until(void **state) {
    (void)state;
    struct profile *p = profile_new(5);
    uint32_t a = intern(p, "a"), b = intern(p, "b");
    for (uint64_t t = 100; t < 200; t++)
        add(p, t * SECOND, 1 + (uint32_t)t % 2, t < 197 ? a : b);
    add_virtual(p, 199 * SECOND, 1, 7, a);
    for (int carriers = 0; carriers < 2; carriers++) {
        struct snapshot *s = take(p, (struct query){.to_second = 197, .carriers = carriers == 1});
        assert_int_equal(s->samples, 98);
        assert_int_equal(s->weight, 980);
        assert_int_equal(s->sampled_ns, 98 * SECOND);
        assert_int_equal(s->threads[0].samples, 49);
        assert_int_equal(s->threads[0].top_method, a);
        snapshot_free(s);
        s = take(p, (struct query){.to_second = 197, .filter = "^b", .carriers = carriers == 1});
        assert_int_equal(s->samples, 1);
        snapshot_free(s);
        s = take(p, (struct query){.to_second = 199, .carriers = carriers == 1});
        assert_int_equal(s->samples, 101);
        snapshot_free(s);
    }
    struct snapshot *s = take(p, (struct query){.to_second = 120}); /* and that is gone */
    assert_int_equal(s->samples, 0);
    snapshot_free(s);
    profile_free(p);
}

/* What the history does not keep any more takes no memory, nor does what refreshes keep for the
 * next one. */
static void test_flat_over_an_hour(void **state) {
    (void)state;
    enum { HOUR = 3600, PER_SECOND = 40, STACKS = 200, TIDS = 10 };
    struct profile *p = profile_new(0);
    uint32_t leaf[STACKS];
    size_t early = 0;
    for (uint32_t i = 0; i < STACKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "leaf%u", i);
        leaf[i] = intern(p, name);
    }
    for (uint32_t second = 0; second < HOUR; second++) {
        for (uint32_t i = 0; i < PER_SECOND; i++) {
            uint32_t x = second * PER_SECOND + i;
            struct profile_frame f[] = {{.method = leaf[x % STACKS]}, {.method = leaf[0]}};
            assert_int_equal(add_frames(p, (1000 + second) * SECOND, 1 + x / 7 % TIDS, f, 2), 0);
        }
        if (second % 10 != 9)
            continue;
        struct query q = {.spark_cells = 12, .spark_seconds = 5, .prune_ppm = 100};
        snapshot_free(take(p, q));
        q.from_second = 1000 + second - 60;
        q.filter = "leaf1";
        snapshot_free(take(p, q));
        if (second < HOUR / 3)
            early = mallinfo2().uordblks + mallinfo2().hblkhd;
    }
    size_t late = mallinfo2().uordblks + mallinfo2().hblkhd;
    assert_in_range(late, 0, early + early / 100);
    assert_in_range(p->history.end - p->history.first, PROFILE_HISTORY_SECONDS - 1,
                    PROFILE_HISTORY_SECONDS);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_over_an_hour),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_unknown_frames),
        cmocka_unit_test(test_deep_stacks),
        cmocka_unit_test(test_same_tree_from_known_stacks),
        cmocka_unit_test(test_tid_used_again),
        cmocka_unit_test(test_evicted),
        cmocka_unit_test(test_evicted_until),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
