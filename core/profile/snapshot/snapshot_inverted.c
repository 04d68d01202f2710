#include "core/profile/snapshot/snapshot_build.h"

#include "core/base/grow.h"

#include <errno.h>

#define AHEAD 16u

/*
 * Builds the tree level by level. A walker stands on one frame of one stack. Walkers that came the
 * same way from their leaves form one range. Sorting a range by frame separates its branches; then
 * every walker takes a step towards the root.
 *
 *      range (leaf read) ─┬─ walkers on run  ─▶ branch run,  next level's range
 *                         └─ walkers on main ─▶ branch main, next level's range
 */
struct range {
    uint32_t branch; /* the branch that its walkers came from */
    uint32_t first, end;
};

struct level {
    struct range *range;
    uint32_t count, cap;
};

struct inverter {
    struct build *b;
    struct order_key *walker; /* key: frame; node: current position; item: its item */
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

/* Ends a walker because its stack ends here or the tree is cut here. */
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

/* Removes walkers that cannot continue from the range. The keys of the others become their frames:
 * methods, and also tiers if these are distinct. */
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

/* Finds the walkers that are on one frame, from `first` on: returns where they end, and sets
 * their weight. */
static uint32_t find_run(const struct inverter *v, uint32_t first, uint32_t end, uint64_t *weight) {
    uint32_t i = first;
    for (*weight = 0; i < end && v->walker[i].key == v->walker[first].key; i++)
        *weight += v->b->item[v->walker[i].item].weight;
    return i;
}

static int split_range(struct inverter *v, struct range r) {
    struct build *b = v->b;
    drop_ended(v, &r);
    if (r.branch != SNAPSHOT_ROOT && b->built[r.branch].total < b->least)
        return 0; /* no branch below it can weigh enough either */
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
            v->walker[i].node = build_parent(b, v->walker[i].node);
        }
    }
    return 0;
}

/* Returns where an item's way to the root begins: at its leaf, or at the outermost frame of the
 * query's method. */
static uint32_t start_of(const struct build *b, uint32_t node) {
    if (!build_from_method(b->q))
        return node;
    for (uint32_t above = build_parent(b, node);
         above != CALL_ROOT && b->filter->flags[above] & FILTER_METHOD;
         above = build_parent(b, node))
        node = above;
    return node;
}

/* Adds an item whose leaf is too light to show anything below it: it only counts in a root. */
static int add_light(struct build *b, const struct item *it, uint32_t *root) {
    const struct call_node *n = &b->p->tree.node[it->node];
    if (*root == SNAPSHOT_ROOT)
        *root = add_branch(b, SNAPSHOT_ROOT, n->method);
    if (*root == SNAPSHOT_ROOT)
        return -ENOMEM;
    struct snapshot_node *counted = &b->built[*root];
    counted->total += it->weight;
    counted->total_samples += it->count;
    counted->tier[n->tier] += it->count;
    bool ends = build_parent(b, it->node) == CALL_ROOT;
    counted->self += ends ? it->weight : 0;
    counted->self_samples += ends ? it->count : 0;
    b->branch[*root].total = counted->total;
    return 0;
}

/* Leaves are scattered in memory. */
static inline void look_ahead(const struct build *b, uint32_t item) {
    if (item + AHEAD < b->items)
        __builtin_prefetch(&b->p->tree.node[b->item[item + AHEAD].node]);
}

/* Makes walkers only for leaves that are heavy enough to be shown. `self` and `root` are
 * by method. */
static int heavy_level(struct inverter *v, uint64_t *self, uint32_t *root) {
    struct build *b = v->b;
    const struct call_node *node = b->p->tree.node;
    uint32_t walkers = 0;
    int rc = 0;
    for (uint32_t i = 0; i < b->items; i++) {
        look_ahead(b, i);
        self[node[b->item[i].node].method] += b->item[i].weight;
    }
    for (uint32_t i = 0; i < b->items && rc == 0; i++) {
        look_ahead(b, i);
        uint32_t method = node[b->item[i].node].method;
        if (self[method] >= b->least)
            v->walker[walkers++] = (struct order_key){.node = b->item[i].node, .item = i};
        else
            rc = add_light(b, &b->item[i], &root[method]);
    }
    return rc == 0 ? add_range(&v->now, SNAPSHOT_ROOT, 0, walkers) : rc;
}

static int first_heavy_level(struct inverter *v) {
    size_t methods = method_table_count(v->b->p->methods);
    uint64_t *self = calloc(methods + 1, sizeof *self);
    uint32_t *root = malloc((methods + 1) * sizeof *root);
    int rc = -ENOMEM;
    if (self && root) {
        memset(root, 0xff, methods * sizeof *root); /* SNAPSHOT_ROOT: none yet */
        rc = heavy_level(v, self, root);
    }
    free(self);
    free(root);
    return rc;
}

/* The roots of light leaves already have their sums; the items are the leaves of the others. */
static int first_standing_level(struct inverter *v) {
    struct build *b = v->b;
    const struct standing *s = b->standing;
    for (uint32_t m = 0; m < s->selfs; m++) {
        const struct total *self = &s->self[m];
        if (self->weight >= b->least || !(self->weight | self->count))
            continue;
        uint32_t id = add_branch(b, SNAPSHOT_ROOT, m);
        if (id == SNAPSHOT_ROOT)
            return -ENOMEM;
        struct snapshot_node *n = &b->built[id];
        n->total = b->branch[id].total = self->weight;
        n->total_samples = self->count;
        n->self = s->root[m].ended;
        n->self_samples = s->root[m].ended_samples;
        memcpy(n->tier, s->root[m].tier, sizeof n->tier);
    }
    for (uint32_t i = 0; i < b->items; i++)
        v->walker[i] = (struct order_key){.node = b->item[i].node, .item = i};
    return add_range(&v->now, SNAPSHOT_ROOT, 0, b->items);
}

/* Makes one range of all items, or by thread one range per thread, below that thread's branch. */
static int first_level(struct inverter *v) {
    struct build *b = v->b;
    if (build_has_roots(b))
        return first_standing_level(v);
    if (b->least > 0 && !b->q->by_thread && !b->q->tiers && !build_from_method(b->q))
        return first_heavy_level(v);
    for (uint32_t i = 0; i < b->items; i++)
        v->walker[i] = (struct order_key){.node = start_of(b, b->item[i].node), .item = i};
    if (!b->q->by_thread)
        return add_range(&v->now, SNAPSHOT_ROOT, 0, b->items);
    for (uint32_t i = 0; i < b->groups; i++) {
        const struct group *g = &b->group[i];
        if (!big_grow(&b->built, &b->built_cap, b->branches + 1, sizeof *b->built))
            return -ENOMEM;
        memset(&b->built[b->branches], 0, sizeof *b->built);
        uint32_t id = branch_of_thread(b, g);
        if (id == SNAPSHOT_ROOT)
            return -ENOMEM;
        for (uint32_t j = g->first; j < g->end; j++) {
            b->built[id].total += b->item[j].weight;
            b->built[id].total_samples += b->item[j].count;
            b->built[id].tier[TIER_NONE] += b->item[j].count;
        }
        b->branch[id].total = b->built[id].total;
        if (branch_opens(b, g, id, b->built[id].total) &&
            add_range(&v->now, id, g->first, g->end) != 0)
            return -ENOMEM;
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
