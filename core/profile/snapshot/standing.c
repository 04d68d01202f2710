#include "core/profile/snapshot/standing.h"

#include "core/base/grow.h"
#include "core/profile/profile_state.h"
#include "core/profile/table/big.h"

#include <errno.h>

/* With more changes than this, summing up everything again is faster. */
#define CHANGES_MAX 4096u

void standing_count(struct profile *p, uint32_t event, uint32_t node, uint64_t weight,
                    uint64_t count) {
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        if (!s->valid || s->event != event)
            continue;
        s->valid = s->changes < CHANGES_MAX && GROW(s->change, s->changes, s->change_cap);
        if (s->valid)
            s->change[s->changes++] = (struct standing_change){node, weight, count};
    }
}

void standing_forget(struct profile *p, uint32_t event) {
    for (int i = 0; i < STANDING; i++)
        if (p->standing[i].event == event)
            p->standing[i].valid = false;
}

void standing_free(struct standing *s) {
    free(s->row);
    free(s->self);
    free(s->total);
    free(s->path_total);
    free(s->change);
    *s = (struct standing){0};
}

/* Makes room for `count` elements; those behind the first `have` are zeroed. */
static bool zeroed(void *array, uint32_t *cap, uint32_t have, uint32_t count, size_t size) {
    if (!big_grow(array, cap, count, size))
        return false;
    if (count > have) /* an empty profile has no array yet */
        memset((char *)array_get(array) + have * size, 0, (count - have) * size);
    return true;
}

/* Makes room for what is new since the last call; new elements are zero. */
static int make_room(struct standing *s, const struct profile *p, bool tree) {
    uint32_t methods = method_table_count(p->methods);
    if (!zeroed(&s->row, &s->row_cap, s->methods, methods, sizeof *s->row) ||
        !zeroed(&s->self, &s->self_cap, s->methods, methods, sizeof *s->self))
        return -ENOMEM;
    s->methods = methods;
    if (!tree)
        return 0;
    if (!zeroed(&s->total, &s->total_cap, s->nodes, p->tree.nodes, sizeof *s->total) ||
        !zeroed(&s->path_total, &s->path_cap, s->paths, p->tree.paths, sizeof *s->path_total))
        return -ENOMEM;
    s->nodes = p->tree.nodes;
    s->paths = p->tree.paths;
    return 0;
}

static inline void add_to_row(struct standing *s, const struct call_node *n, uint64_t weight,
                              uint64_t count) {
    /* If a method occurs again further down its own stack, it counts where it is nearest to
     * the root. */
    if (n->recursive)
        return;
    s->row[n->method].total += weight;
    s->row[n->method].tier[n->tier] += count;
}

static void apply(struct standing *s, const struct call_tree *t, struct standing_change c) {
    s->self[t->node[c.node].method].weight += c.weight;
    s->self[t->node[c.node].method].count += c.count;
    for (uint32_t at = c.node; at != CALL_ROOT; at = t->node[at].parent) {
        const struct call_node *n = &t->node[at];
        add_to_row(s, n, c.weight, c.count);
        if (!s->has_tree)
            continue;
        s->total[at].weight += c.weight;
        s->total[at].count += c.count;
        s->path_total[n->path] += c.weight;
    }
}

/* `total` is by node: first at leaves what belongs to them, afterwards their parents'
 * totals, too. */
static void sum_up(struct standing *s, const struct call_tree *t, struct total *total) {
    for (uint32_t i = t->nodes; i-- > 0;) {
        const struct call_node *n = &t->node[i];
        if (!(total[i].weight | total[i].count))
            continue;
        add_to_row(s, n, total[i].weight, total[i].count);
        if (s->has_tree)
            s->path_total[n->path] += total[i].weight;
        if (n->parent != CALL_ROOT) {
            total[n->parent].weight += total[i].weight;
            total[n->parent].count += total[i].count;
        }
    }
}

/* Sums up everything again. */
static int build(struct standing *s, struct profile *p, uint32_t event, bool tree) {
    s->event = event;
    s->methods = s->nodes = s->paths = s->changes = 0;
    s->has_tree = tree;
    struct total *own = tree ? NULL : big_alloc(p->tree.nodes, sizeof *own);
    if ((!tree && !own) || make_room(s, p, tree) != 0) {
        free(own);
        return -ENOMEM;
    }
    if (own)
        memset(own, 0, p->tree.nodes * sizeof *own);
    struct total *total = own ? own : s->total;
    for (uint32_t i = 0; i < p->by_node.count; i++) {
        const struct tally_entry *e = &p->by_node.entry[i];
        if (owner_event(e->owner) != (int)event)
            continue;
        struct total *self = &s->self[p->tree.node[e->what].method];
        total[e->what].weight += e->weight;
        total[e->what].count += e->count;
        self->weight += e->weight;
        self->count += e->count;
    }
    sum_up(s, &p->tree, total);
    free(own);
    return 0;
}

/* Returns the entry of this event; otherwise the entry that was not queried for longest, which
 * is reused. */
static struct standing *choose(struct profile *p, uint32_t event) {
    struct standing *oldest = &p->standing[0];
    for (int i = 0; i < STANDING; i++) {
        struct standing *s = &p->standing[i];
        if (s->valid && s->event == event)
            return s;
        if (s->asked < oldest->asked)
            oldest = s;
    }
    oldest->valid = false;
    return oldest;
}

const struct standing *standing_get(struct profile *p, uint32_t event, bool tree) {
    struct standing *s = choose(p, event);
    bool keep = s->valid && (s->has_tree || !tree);
    s->asked = ++p->asked;
    int rc = keep ? make_room(s, p, s->has_tree) : build(s, p, event, tree);
    for (uint32_t i = 0; rc == 0 && i < s->changes; i++)
        apply(s, &p->tree, s->change[i]);
    s->changes = 0;
    s->valid = rc == 0;
    return rc == 0 ? s : NULL;
}
