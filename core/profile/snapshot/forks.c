#include "core/profile/snapshot/forks.h"

#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

/* Bits by node. */
struct marks {
    uint64_t *seen; /* a stack leads through the node */
    uint64_t *fork;
    uint32_t *before; /* by word: number of forks in the words before */
};

static inline bool has(const uint64_t *bits, uint32_t node) {
    return bits[node / 64] >> node % 64 & 1;
}

static inline void set(uint64_t *bits, uint32_t node) {
    bits[node / 64] |= UINT64_C(1) << node % 64;
}

static inline uint32_t fork_of(const struct marks *m, uint32_t node) {
    uint64_t below = m->fork[node / 64] & ((UINT64_C(1) << node % 64) - 1);
    return m->before[node / 64] + (uint32_t)__builtin_popcountll(below);
}

/* Follows each stack up to where an earlier one has been. */
static void mark_forks(const struct build *b, struct marks *m) {
    const struct call_node *node = b->p->tree.node;
    for (uint32_t i = 0; i < b->items; i++) {
        uint32_t n = b->item[i].node;
        set(m->fork, n);
        for (; n != CALL_ROOT && !has(m->seen, n); n = node[n].parent)
            set(m->seen, n);
        if (n != CALL_ROOT)
            set(m->fork, n);
    }
}

static int list_forks(struct build *b, struct marks *m) {
    struct snapshot *s = b->s;
    uint32_t words = b->p->tree.nodes / 64 + 1, at = 0;
    for (uint32_t w = 0; w < words; w++) {
        m->before[w] = s->fork_count;
        s->fork_count += (uint32_t)__builtin_popcountll(m->fork[w]);
    }
    s->forks = calloc((size_t)s->fork_count + 1, sizeof *s->forks);
    if (!s->forks)
        return -ENOMEM;
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t bits = m->fork[w]; bits; bits &= bits - 1)
            s->forks[at++] = (struct snapshot_fork){
                .node = w * 64 + (uint32_t)__builtin_ctzll(bits), .first = FORK_NONE};
    for (uint32_t i = 0; i < b->items; i++) {
        struct snapshot_fork *f = &s->forks[fork_of(m, b->item[i].node)];
        f->total += b->item[i].weight;
        f->total_samples += b->item[i].count;
    }
    return 0;
}

/* Counts the frames of a fork in the rows of their methods. Returns the fork above. */
static uint32_t count_frames(struct build *b, const struct marks *m, struct snapshot_fork *f) {
    const struct call_node *node = b->p->tree.node;
    uint32_t n = f->node;
    for (;; n = node[n].parent) {
        /* If a method occurs again further down its own stack, it counts where it is nearest to
         * the root. */
        if (!node[n].recursive) {
            b->row[node[n].method].total += f->total;
            b->row[node[n].method].tier[node[n].tier] += f->total_samples;
        }
        if (node[n].parent == CALL_ROOT || has(m->fork, node[n].parent))
            break;
    }
    f->top = n;
    return node[n].parent == CALL_ROOT ? FORK_NONE : fork_of(m, node[n].parent);
}

/* Children come after their parents, so each total is complete when it is added to the parent's. */
static void sum_up(struct build *b, const struct marks *m) {
    struct snapshot *s = b->s;
    s->fork_root = FORK_NONE;
    for (uint32_t i = s->fork_count; i-- > 0;) {
        struct snapshot_fork *f = &s->forks[i];
        uint32_t above = count_frames(b, m, f);
        struct snapshot_fork *parent = above == FORK_NONE ? NULL : &s->forks[above];
        f->next = parent ? parent->first : s->fork_root;
        *(parent ? &parent->first : &s->fork_root) = i;
        if (!parent)
            continue;
        parent->total += f->total;
        parent->total_samples += f->total_samples;
    }
}

int build_forks(struct build *b) {
    size_t words = b->p->tree.nodes / 64 + 1;
    struct marks m = {calloc(words, sizeof *m.seen), calloc(words, sizeof *m.fork),
                      calloc(words, sizeof *m.before)};
    int rc = m.seen && m.fork && m.before ? 0 : -ENOMEM;
    if (rc == 0) {
        mark_forks(b, &m);
        rc = list_forks(b, &m);
    }
    if (rc == 0 && b->s->forks)
        sum_up(b, &m);
    b->s->profile = b->p;
    free(m.seen);
    free(m.fork);
    free(m.before);
    return rc;
}

struct fork_frame fork_frame(const struct snapshot *s, uint32_t node) {
    const struct call_node *n = &s->profile->tree.node[node];
    return (struct fork_frame){n->method, (enum frame_tier)n->tier};
}

uint32_t fork_above(const struct snapshot *s, uint32_t node) {
    return s->profile->tree.node[node].parent;
}

uint32_t fork_rank(const struct snapshot *s, uint32_t method) {
    return s->profile->rank[method];
}
