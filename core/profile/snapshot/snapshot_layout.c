#include "core/profile/snapshot/snapshot_build.h"

#include "core/base/grow.h"

#include <errno.h>

struct child {
    uint64_t total;
    uint32_t rank;
    uint32_t branch;
};

struct children {
    struct child *child;
    uint32_t count, cap;
};

static int by_total(const void *a, const void *b) {
    const struct child *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->branch < y->branch ? -1 : x->branch > y->branch;
}

static void sort_children(struct children *c) {
    if (c->count > 16) {
        qsort(c->child, c->count, sizeof *c->child, by_total);
        return;
    }
    for (uint32_t i = 1; i < c->count; i++) {
        struct child x = c->child[i];
        uint32_t j = i;
        for (; j > 0 && by_total(&c->child[j - 1], &x) > 0; j--)
            c->child[j] = c->child[j - 1];
        c->child[j] = x;
    }
}

/* Sizes, and each parent's list of children. Returns the list of roots. */
static uint32_t link_branches(struct build *b) {
    uint32_t roots = SNAPSHOT_ROOT;
    for (uint32_t i = b->branches; i-- > 0;) {
        struct branch *n = &b->branch[i];
        struct branch *parent = n->parent == SNAPSHOT_ROOT ? NULL : &b->branch[n->parent];
        n->size++;
        if (parent)
            parent->size += n->size;
        n->next = parent ? parent->first : roots;
        *(parent ? &parent->first : &roots) = i;
    }
    return roots;
}

/* Gives the list's branches and their subtrees their places from `pos` on. */
static int place(struct build *b, uint32_t first, uint32_t pos, struct children *c) {
    if (b->branch[first].next == SNAPSHOT_ROOT) {
        b->branch[first].pos = pos;
        return 0;
    }
    c->count = 0;
    for (uint32_t i = first; i != SNAPSHOT_ROOT; i = b->branch[i].next) {
        if (!GROW(c->child, c->count, c->cap))
            return -ENOMEM;
        const struct branch *n = &b->branch[i];
        c->child[c->count++] = (struct child){n->total, b->p->rank[n->method], i};
    }
    sort_children(c);
    for (uint32_t i = 0; i < c->count; i++) {
        b->branch[c->child[i].branch].pos = pos;
        pos += b->branch[c->child[i].branch].size;
    }
    return 0;
}

static int place_all(struct build *b) {
    struct children c = {0};
    uint32_t roots = link_branches(b);
    int rc = roots == SNAPSHOT_ROOT ? 0 : place(b, roots, 0, &c);
    for (uint32_t i = 0; i < b->branches && rc == 0; i++)
        if (b->branch[i].first != SNAPSHOT_ROOT)
            rc = place(b, b->branch[i].first, b->branch[i].pos + 1, &c);
    free(c.child);
    return rc;
}

/* Writes a node but for its counters. Its parent has been written before. */
static void start_node(struct build *b, const struct branch *from) {
    struct snapshot_node *n = &b->s->nodes[from->pos];
    *n = (struct snapshot_node){
        .method = from->method, .parent = SNAPSHOT_ROOT, .next = from->pos + from->size};
    if (from->parent != SNAPSHOT_ROOT) {
        n->parent = b->branch[from->parent].pos;
        n->depth = b->s->nodes[n->parent].depth + 1;
    }
    if (n->depth >= b->s->max_depth)
        b->s->max_depth = n->depth + 1;
}

/* Touches come in the order their branches were made: a node is started and counted while it is
 * in the cache. */
static void fill_from_touches(struct build *b) {
    struct snapshot_node *out = b->s->nodes;
    uint32_t started = 0;
    for (uint32_t i = 0; i < b->touches; i++) {
        const struct touch *t = &b->touch[i];
        if (t->branch == SNAPSHOT_ROOT)
            continue;
        while (started <= t->branch)
            start_node(b, &b->branch[started++]);
        struct snapshot_node *n = &out[b->branch[t->branch].pos];
        n->total += t->weight;
        n->total_samples += t->count;
        n->tier[t->node == CALL_ROOT ? TIER_NONE : b->p->tree.node[t->node].tier] += t->count;
    }
    for (uint32_t i = 0; i < b->items; i++) {
        if (b->item[i].thread == SNAPSHOT_ROOT)
            continue;
        struct snapshot_node *n = &out[b->branch[b->item[i].thread].pos];
        n->self += b->item[i].weight;
        n->self_samples += b->item[i].count;
    }
}

static void fill_from_built(struct build *b) {
    for (uint32_t i = 0; i < b->branches; i++) {
        struct snapshot_node *n = &b->s->nodes[b->branch[i].pos];
        const struct snapshot_node *counted = &b->built[i];
        start_node(b, &b->branch[i]);
        n->self = counted->self;
        n->self_samples = counted->self_samples;
        n->total = counted->total;
        n->total_samples = counted->total_samples;
        memcpy(n->tier, counted->tier, sizeof n->tier);
    }
}

int build_layout(struct build *b) {
    int rc = place_all(b);
    if (rc != 0)
        return rc;
    b->s->nodes = big_alloc(b->branches, sizeof *b->s->nodes);
    if (!b->s->nodes)
        return -ENOMEM;
    b->s->node_count = b->branches;
    if (b->q->inverted)
        fill_from_built(b);
    else
        fill_from_touches(b);
    return 0;
}
