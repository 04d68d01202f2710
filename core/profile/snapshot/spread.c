#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds a node's total to that of its parent, and counts it in the rows and paths that are
 * requested. */
static inline void settle(struct build *b, uint32_t node) {
    const struct call_node *n = &b->p->tree.node[node];
    struct total t = b->total[node];
    uint32_t parent = build_parent(b, node);
    if (parent != CALL_ROOT) {
        b->total[parent].weight += t.weight;
        b->total[parent].count += t.count;
    }
    uint32_t path = b->want_paths ? build_path_of(b, node) : CALL_ROOT;
    if (path != CALL_ROOT)
        b->path_total[path] += t.weight;
    /* If a method occurs again further down its own stack, it counts where it is nearest to
     * the root. */
    if (b->row && !n->recursive) {
        b->row[n->method].total += t.weight;
        b->row[n->method].tier[n->tier] += t.count;
    }
}

/* Whether a later step needs this node's touch. Groups of threads need all touches, for
 * cleaning up. */
static inline bool is_wanted(const struct build *b, uint32_t node) {
    const struct call_node *n = &b->p->tree.node[node];
    if (b->q->by_thread || (b->q->lines && n->method == b->q->lines_of))
        return true;
    uint32_t path = b->want_paths ? build_path_of(b, node) : CALL_ROOT;
    return path != CALL_ROOT && !build_is_pruned(b, path, SNAPSHOT_ROOT);
}

static void add_items(struct build *b, const struct group *g) {
    for (uint32_t i = g->first; i < g->end; i++) {
        b->total[b->item[i].node].weight += b->item[i].weight;
        b->total[b->item[i].node].count += b->item[i].count;
    }
}

static inline void write_touch(struct build *b, uint32_t node) {
    b->touch[b->touches++] =
        (struct touch){node, SNAPSHOT_ROOT, b->total[node].weight, b->total[node].count};
}

/* Used if most nodes have weight: checks all of them. Which ones are pruned is known only at
 * the end. */
static int spread_all(struct build *b) {
    uint32_t nodes = b->p->tree.nodes;
    for (uint32_t n = nodes; n-- > 0;)
        if (b->total[n].weight | b->total[n].count)
            settle(b, n);
    for (uint32_t n = 0; b->want_touches && n < nodes; n++) {
        if (!(b->total[n].weight | b->total[n].count) || !is_wanted(b, n))
            continue;
        if (!big_grow(&b->touch, &b->touch_cap, b->touches + 1, sizeof *b->touch))
            return -ENOMEM;
        write_touch(b, n);
    }
    memset(b->total, 0, nodes * sizeof *b->total);
    return 0;
}

/* Makes room for one bit per node, and one bit for every 64 of those, so that a few nodes are found
 * quickly. */
static int reserve_marks(struct build *b) {
    uint32_t words = b->p->tree.nodes / 64 + 1;
    if (!b->mark) {
        b->mark = calloc((size_t)words + words / 64 + 1, sizeof *b->mark);
        b->marked_words = b->mark ? b->mark + words : NULL;
    }
    return b->mark ? 0 : -ENOMEM;
}

static uint32_t mark_items(struct build *b, const struct group *g) {
    uint32_t met = 0;
    for (uint32_t i = g->first; i < g->end; i++) {
        for (uint32_t n = b->item[i].node; n != CALL_ROOT && !(b->mark[n / 64] >> n % 64 & 1);
             n = build_parent(b, n)) {
            b->mark[n / 64] |= UINT64_C(1) << n % 64;
            b->marked_words[n / 4096] |= UINT64_C(1) << n / 64 % 64;
            met++;
        }
    }
    return met;
}

/* Takes out the highest mark. Parents have smaller ids, so they come after their children. */
static uint32_t take_mark(struct build *b, uint32_t *at) {
    while (!b->marked_words[*at])
        --*at;
    uint32_t word = *at * 64 + 63 - (uint32_t)__builtin_clzll(b->marked_words[*at]);
    uint32_t bit = 63 - (uint32_t)__builtin_clzll(b->mark[word]);
    b->mark[word] &= ~(UINT64_C(1) << bit);
    if (!b->mark[word])
        b->marked_words[*at] &= ~(UINT64_C(1) << word % 64);
    return word * 64 + bit;
}

/* Used if few nodes have weight: only those are visited. Touches are written from the back. */
static int spread_listed(struct build *b, const struct group *g) {
    if (reserve_marks(b) != 0)
        return -ENOMEM;
    uint32_t met = mark_items(b, g), at = b->p->tree.nodes / 4096;
    if (!big_grow(&b->touch, &b->touch_cap, b->touches + met, sizeof *b->touch))
        return -ENOMEM;
    for (uint32_t i = met; i-- > 0;) {
        uint32_t n = take_mark(b, &at);
        struct total t = b->total[n];
        settle(b, n);
        b->total[n] = (struct total){0, 0};
        b->touch[b->touches + i] = (struct touch){n, SNAPSHOT_ROOT, t.weight, t.count};
    }
    b->touches += met;
    return 0;
}

int spread_reserve(struct build *b) {
    uint32_t nodes = b->p->tree.nodes;
    if (nodes <= b->totals)
        return 0;
    struct total *total = big_alloc(nodes, sizeof *total);
    if (!total)
        return -ENOMEM;
    memset(total, 0, nodes * sizeof *total);
    free(b->total);
    b->total = total;
    b->totals = nodes;
    return 0;
}

int spread_totals(struct build *b) {
    struct group all = {0, 0, b->items};
    return b->items > b->p->tree.nodes / 64 ? spread_all(b) : spread_listed(b, &all);
}

int spread(struct build *b, const struct group *g) {
    add_items(b, g);
    return (g->end - g->first) > b->p->tree.nodes / 64 ? spread_all(b) : spread_listed(b, g);
}
