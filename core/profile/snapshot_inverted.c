#include "core/profile/snapshot_build.h"

#include "core/profile/grow.h"

#include <errno.h>

/*
 * Level by level. A walker stands on one frame of one stack; walkers that came the same way from
 * their leaves are one range. Sorting a range by frame tells its branches apart; then everybody
 * takes a step towards the root.
 *
 *      range (leaf read) ─┬─ walkers on run  ─▶ branch run,  next level's range
 *                         └─ walkers on main ─▶ branch main, next level's range
 */
struct range {
    uint32_t branch; /* where they came from */
    uint32_t first, end;
};

struct level {
    struct range *range;
    uint32_t count, cap;
};

struct inverter {
    struct build *b;
    struct order_key *walker; /* key: frame; node: where it stands; item */
    struct order_key *spare;
    struct level now, then;
};

static int add_range(struct level *l, uint32_t branch, uint32_t first, uint32_t end) {
    if (!GROW(l->range, l->count, l->cap))
        return -ENOMEM;
    l->range[l->count++] = (struct range){branch, first, end};
    return 0;
}

static uint32_t add_branch(struct build *b, uint32_t parent, uint32_t method) {
    if (!big_grow(&b->built, &b->built_cap, b->branches + 1, sizeof *b->built))
        return SNAPSHOT_ROOT;
    memset(&b->built[b->branches], 0, sizeof *b->built);
    return branch_add(b, parent, method);
}

/* The stack ends here, or the tree is cut here. */
static void end_walker(struct build *b, uint32_t branch, const struct order_key *w) {
    b->built[branch].self += b->item[w->item].weight;
    b->built[branch].self_samples += b->item[w->item].count;
}

static void pass(struct build *b, uint32_t branch, const struct order_key *w) {
    struct snapshot_node *n = &b->built[branch];
    n->total += b->item[w->item].weight;
    n->total_samples += b->item[w->item].count;
    n->tier[b->p->tree.node[w->node].tier] += b->item[w->item].count;
    b->branch[branch].total = n->total;
}

/* Takes out of the range who cannot go on; the others' keys become their frames: methods, and tiers
 * where they are told apart. */
static void drop_ended(struct inverter *v, struct range *r) {
    bool cut = r->branch != SNAPSHOT_ROOT && v->b->branches >= BRANCHES_INVERTED_MAX;
    uint32_t out = r->first;
    for (uint32_t i = r->first; i < r->end; i++) {
        struct order_key w = v->walker[i];
        if (cut || w.node == CALL_ROOT) {
            end_walker(v->b, r->branch, &w);
        } else {
            const struct call_node *n = &v->b->p->tree.node[w.node];
            w.key = call_key(n->method, v->b->q->tiers ? n->tier : TIER_NONE, 0);
            v->walker[out++] = w;
        }
    }
    r->end = out;
}

/* The walkers on one frame from `first` on: where they end, and what they weigh. */
static uint32_t find_run(const struct inverter *v, uint32_t first, uint32_t end, uint64_t *weight) {
    uint32_t i = first;
    for (*weight = 0; i < end && v->walker[i].key == v->walker[first].key; i++)
        *weight += v->b->item[v->walker[i].item].weight;
    return i;
}

static int split_range(struct inverter *v, struct range r) {
    struct build *b = v->b;
    drop_ended(v, &r);
    order_keys(v->walker + r.first, v->spare, r.end - r.first);
    for (uint32_t first = r.first, end; first < r.end; first = end) {
        uint64_t weight;
        end = find_run(v, first, r.end, &weight);
        if (r.branch != SNAPSHOT_ROOT && weight < b->least)
            continue;
        uint32_t id = add_branch(b, r.branch, (uint32_t)v->walker[first].key);
        if (id == SNAPSHOT_ROOT || add_range(&v->then, id, first, end) != 0)
            return -ENOMEM;
        for (uint32_t i = first; i < end; i++) {
            pass(b, id, &v->walker[i]);
            v->walker[i].node = b->p->tree.node[v->walker[i].node].parent;
        }
    }
    return 0;
}

/* All leaves, or each thread's under the thread. */
static int first_level(struct inverter *v) {
    struct build *b = v->b;
    for (uint32_t i = 0; i < b->items; i++)
        v->walker[i] = (struct order_key){.node = b->item[i].node, .item = i};
    if (!b->q->by_thread)
        return add_range(&v->now, SNAPSHOT_ROOT, 0, b->items);
    for (uint32_t i = 0; i < b->groups; i++) {
        const struct group *g = &b->group[i];
        if (!big_grow(&b->built, &b->built_cap, b->branches + 1, sizeof *b->built))
            return -ENOMEM;
        memset(&b->built[b->branches], 0, sizeof *b->built);
        uint32_t id = branch_of_thread(b, g);
        if (id == SNAPSHOT_ROOT || add_range(&v->now, id, g->first, g->end) != 0)
            return -ENOMEM;
        for (uint32_t j = g->first; j < g->end; j++) {
            b->built[id].total += b->item[j].weight;
            b->built[id].total_samples += b->item[j].count;
            b->built[id].tier[TIER_NONE] += b->item[j].count;
        }
        b->branch[id].total = b->built[id].total;
    }
    return order_update(b->p);
}

int build_inverted(struct build *b) {
    struct inverter v = {.b = b};
    v.walker = malloc(((size_t)b->items + 1) * sizeof *v.walker);
    v.spare = malloc(((size_t)b->items + 1) * sizeof *v.spare);
    int rc = v.walker && v.spare ? first_level(&v) : -ENOMEM;
    while (rc == 0 && v.now.count > 0) {
        v.then.count = 0;
        for (uint32_t i = 0; i < v.now.count && rc == 0; i++)
            rc = split_range(&v, v.now.range[i]);
        struct level swap = v.now;
        v.now = v.then;
        v.then = swap;
    }
    free(v.now.range);
    free(v.then.range);
    free(v.walker);
    free(v.spare);
    return rc;
}
