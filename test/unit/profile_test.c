/* What the profile keeps, and what it does when it is asked to keep too much. */
#include "core/profile/profile_state.h"
#include "core/profile/snapshot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static uint32_t intern(struct profile *p, const char *name) {
    return method_table_intern(profile_methods(p), METHOD_NATIVE, "", name, "", "");
}

static int add_virtual(struct profile *p, uint64_t ns, uint32_t tid, uint64_t virtual_id,
                       uint32_t method) {
    return profile_add(
        p, &(struct profile_sample){.time_ns = ns,
                                    .weight = 10,
                                    .count = 1,
                                    .tid = tid,
                                    .virtual_id = virtual_id,
                                    .frames = 1,
                                    .frame = &(struct profile_frame){.method = method}});
}

static int add_frames(struct profile *p, uint64_t ns, uint32_t tid, const struct profile_frame *f,
                      uint16_t frames) {
    return profile_add(
        p, &(struct profile_sample){
               .time_ns = ns, .weight = 10, .count = 1, .tid = tid, .frames = frames, .frame = f});
}

/* A stack of one frame. */
static void add(struct profile *p, uint64_t ns, uint32_t tid, uint32_t method) {
    assert_int_equal(add_frames(p, ns, tid, &(struct profile_frame){.method = method}, 1), 0);
}

/* The sums agree whatever is asked. Returns the snapshot. */
static struct snapshot *take(struct profile *p, struct query q) {
    uint64_t self = 0, weight = 0, roots = 0, tree_self = 0;
    q.tree = true;
    struct snapshot *s = snapshot_take(p, &q);
    assert_non_null(s);
    for (uint32_t i = 0; i < s->method_count; i++)
        self += s->methods[i].self;
    for (uint32_t i = 0; i < s->thread_count; i++)
        weight += s->threads[i].weight;
    for (uint32_t i = 0; i < s->node_count; i = s->nodes[i].next)
        roots += s->nodes[i].total;
    for (uint32_t i = 0; i < s->node_count; i++)
        tree_self += s->nodes[i].self;
    assert_int_equal(self, s->weight);
    assert_int_equal(weight, s->weight);
    assert_int_equal(roots, s->weight);
    if (!q.prune_ppm)
        assert_int_equal(tree_self, s->weight);
    return s;
}

/* Every way of asking for everything says the same weight. */
static void expect_sound(struct profile *p, uint64_t weight) {
    for (int bits = 0; bits < 8; bits++) {
        struct query q = {.inverted = bits & 1, .by_thread = bits & 2, .carriers = bits & 4};
        struct snapshot *s = take(p, q);
        assert_int_equal(s->weight, weight);
        snapshot_free(s);
        q.filter = "!no such frame";
        s = take(p, q);
        assert_int_equal(s->weight, weight);
        snapshot_free(s);
        q.from_second = 1;
        q.to_second = UINT64_MAX;
        snapshot_free(take(p, q));
    }
}

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
    assert_int_equal(t->seconds, 3);
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

static const struct snapshot_thread *row_of(const struct snapshot *s, const char *name) {
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (strcmp(s->threads[i].name, name) == 0)
            return &s->threads[i];
    return NULL;
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
    assert_int_equal(s->seconds, 1);
    snapshot_free(s);
    s = take(p, (struct query){.tid = 2});
    assert_int_equal(s->samples, 50);
    snapshot_free(s);
    profile_free(p);
}

static const struct profile_limits tiny = {.nodes = 160,
                                           .pairs = 100,
                                           .threads = 20,
                                           .virtuals = 16,
                                           .virtual_roots = 64,
                                           .history_bytes = 1 << 14};

/* Everything at its limit: detail is lost, sums and soundness are not, and memory is bounded. */
static void test_limits(void **state) {
    (void)state;
    struct profile *p = profile_new_limited(60, &tiny);
    struct profile_frame f[8] = {{0}};
    uint64_t random = 1, samples = 20000;
    for (uint32_t i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        intern(p, name);
    }
    for (uint64_t i = 0; i < samples; i++) {
        for (int j = 0; j < 8; j++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            f[j].method = (uint32_t)(random >> 33) % 30;
            f[j].tier = (uint8_t)(random >> 60) % TIERS;
        }
        f[0].line = (uint16_t)(i % 7);
        assert_int_equal(add_frames(p, i * SECOND / 1000, 1 + (uint32_t)(i % 50), f, 8), 0);
    }
    assert_int_equal(profile_samples(p, 0), samples);
    assert_true(p->tree.nodes <= tiny.nodes + tiny.nodes / 16 + 2);
    assert_true(p->by_pair.count <= tiny.pairs + tiny.threads);
    assert_true(p->by_method.count <= tiny.pairs);
    assert_int_equal(p->threads.count, tiny.threads);
    assert_true(p->history.bytes <= 2 * tiny.history_bytes);
    expect_sound(p, samples * 10);
    struct snapshot *s = take(p, (struct query){0});
    assert_int_equal(row_of(s, "[other threads]")->tid, 0);
    snapshot_free(s);
    s = take(p, (struct query){.tid = 3});
    assert_int_equal(s->samples, samples / 50);
    snapshot_free(s);
    assert_int_equal(profile_thread_name(p, 4711, 1, "late"), 0);
    profile_free(p);
}

/* Threads come and go. The recent ones have rows of their own, however many there were before. */
static void test_many_short_threads(void **state) {
    (void)state;
    struct profile *p = profile_new_limited(5, &tiny);
    uint32_t m[2] = {intern(p, "a"), intern(p, "b")};
    char name[32];
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t tid = 1 + i % 300;
        snprintf(name, sizeof name, "short %u", i);
        assert_int_equal(profile_thread_name(p, tid, i + 1, name), 0);
        for (uint32_t j = 0; j < i % 3; j++)
            add(p, (100 + i) * SECOND, tid, m[j]);
        profile_thread_end(p, tid);
    }
    assert_in_range(p->threads.count, tiny.threads / 2, tiny.threads);
    expect_sound(p, 3000 * 10);
    struct snapshot *s = take(p, (struct query){.from_second = 3095, .to_second = 3099});
    assert_null(row_of(s, "[other threads]"));
    assert_int_equal(s->thread_count, 4);
    assert_int_equal(row_of(s, "short 2999")->samples, 2);
    assert_int_equal(row_of(s, "short 2998")->samples, 1);
    assert_int_equal(row_of(s, "short 2996")->samples, 2);
    snapshot_free(s);
    s = take(p, (struct query){0});
    assert_true(row_of(s, "[other threads]")->samples > 2900);
    assert_int_equal(row_of(s, "[other threads]")->top_method, m[0]);
    assert_int_equal(row_of(s, "short 2999")->samples, 2);
    snapshot_free(s);
    profile_free(p);
}

/* Virtual threads beyond what there are rows for: those of late have a row, with whatever history
 * there is of them, and the others share one. */
static void test_many_virtual_threads(void **state) {
    (void)state;
    struct profile *p = profile_new_limited(60, &tiny);
    uint32_t m[2] = {intern(p, "a"), intern(p, "b")};
    char name[32];
    for (uint32_t i = 1; i <= 1000; i++) {
        snprintf(name, sizeof name, "task %u", i);
        assert_int_equal(profile_virtual_name(p, i, name), 0);
        assert_int_equal(add_virtual(p, (100 + i / 4) * SECOND, 1 + i % 3, i, m[i % 2]), 0);
        assert_int_equal(add_virtual(p, (100 + i / 4) * SECOND, 1 + i % 3, 7777, m[1]), 0);
    }
    assert_int_equal(p->threads.count, 1 + 1 + 3 + tiny.virtuals);
    assert_in_range(profile_thread_count(p), 3 + tiny.virtuals / 2, 3 + tiny.virtuals);
    assert_true(p->by_pair.count <= tiny.pairs);
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
        assert_in_range(s->thread_count, 2 + tiny.virtuals / 2 - 1, 1 + tiny.virtuals);
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
    struct profile *p = profile_new_limited(60, &tiny);
    char name[16];
    for (uint32_t i = 0; i < tiny.virtual_roots; i++) {
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
    assert_int_equal(method_table_count(p->methods), tiny.virtual_roots + 2);
    profile_free(p);
}

/* Names outlive their rows in the snapshots that have them; names alone make no rows to see. */
static void test_names_of_virtual_threads(void **state) {
    (void)state;
    struct profile *p = profile_new_limited(60, &tiny);
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
    assert_true(p->threads.count <= 3 + tiny.virtuals);
    expect_sound(p, 20);
    profile_free(p);
}

/* Few virtual threads with ever other stacks: those idle give their pairs away. */
static void test_idle_virtual_threads_make_room(void **state) {
    (void)state;
    struct profile *p = profile_new_limited(600, &tiny);
    char name[16];
    for (uint32_t i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "m%u", i % 40);
        assert_int_equal(add_virtual(p, (100 + i * 3) * SECOND, 1, 1 + i / 40, intern(p, name)), 0);
    }
    assert_true(p->by_pair.count < tiny.pairs);
    expect_sound(p, 4000);
    struct snapshot *s = take(p, (struct query){.virtual_id = 10});
    assert_int_equal(s->samples, 40);
    assert_int_equal(s->method_count, 40); /* none "not kept" */
    snapshot_free(s);
    profile_free(p);
}

/* Lines multiply stacks. Where room gets short, callers' lines go before stacks do. */
static void test_lines_make_room(void **state) {
    (void)state;
    struct profile *p = profile_new_limited(60, &tiny);
    struct profile_frame f[4] = {{.method = intern(p, "leaf")},
                                 {.method = intern(p, "a")},
                                 {.method = intern(p, "b")},
                                 {.method = intern(p, "c")}};
    for (uint16_t i = 0; i < 1000; i++) {
        for (uint16_t j = 0; j < 4; j++)
            f[j].line = (uint16_t)(1 + (j ? i >> j : i % 3));
        assert_int_equal(add_frames(p, SECOND, 1, f, 4), 0);
    }
    assert_true(p->tree.nodes < tiny.nodes);
    struct snapshot *s = take(p, (struct query){.lines = true, .lines_of = f[0].method});
    assert_int_equal(s->node_count, 4); /* none "not kept" */
    assert_int_equal(s->line_count, 3);
    assert_in_range(s->lines[0].self_samples, 333, 334);
    snapshot_free(s);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_unknown_frames),
        cmocka_unit_test(test_deep_stacks),
        cmocka_unit_test(test_tid_used_again),
        cmocka_unit_test(test_many_short_threads),
        cmocka_unit_test(test_evicted),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_virtual_threads),
        cmocka_unit_test(test_roots_of_virtual_threads),
        cmocka_unit_test(test_no_names_for_virtual_roots),
        cmocka_unit_test(test_names_of_virtual_threads),
        cmocka_unit_test(test_idle_virtual_threads_make_room),
        cmocka_unit_test(test_lines_make_room),
        cmocka_unit_test(test_same_tree_from_known_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
