/*
 * Samples into a profile, and checks that whatever is asked of it agrees. To be included behind
 * cmocka.h.
 */
#ifndef JTOP_TEST_PROFILE_FIXTURE_H
#define JTOP_TEST_PROFILE_FIXTURE_H

#include "core/profile/profile_state.h"
#include "core/profile/snapshot/snapshot.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)

static inline uint32_t intern(struct profile *p, const char *name) {
    return method_table_intern(profile_methods(p), METHOD_NATIVE, "", name, "", "");
}

static inline int add_virtual(struct profile *p, uint64_t ns, uint32_t tid, uint64_t virtual_id,
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

static inline int add_frames(struct profile *p, uint64_t ns, uint32_t tid,
                             const struct profile_frame *f, uint16_t frames) {
    return profile_add(
        p, &(struct profile_sample){
               .time_ns = ns, .weight = 10, .count = 1, .tid = tid, .frames = frames, .frame = f});
}

/* A stack of one frame. */
static inline void add(struct profile *p, uint64_t ns, uint32_t tid, uint32_t method) {
    assert_int_equal(add_frames(p, ns, tid, &(struct profile_frame){.method = method}, 1), 0);
}

/* The sums agree whatever is asked. Returns the snapshot. */
static inline struct snapshot *take(struct profile *p, struct query q) {
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
static inline void expect_sound(struct profile *p, uint64_t weight) {
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

static inline const struct snapshot_thread *row_of(const struct snapshot *s, const char *name) {
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (strcmp(s->threads[i].name, name) == 0)
            return &s->threads[i];
    return NULL;
}

static inline struct profile_limits tiny_limits(void) {
    return (struct profile_limits){.nodes = 160,
                                   .pairs = 100,
                                   .threads = 20,
                                   .virtuals = 16,
                                   .virtual_roots = 64,
                                   .states = 40,
                                   .lock_rows = 64,
                                   .lock_entries = 1 << 10,
                                   .owner_nodes = 200,
                                   .name_bytes = 1 << 20,
                                   .history_bytes = 1 << 14};
}

#endif
