#include "core/profile/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Adds a node's total to its parent's, writes it down, and counts it wherever it is wanted. */
static inline void settle(struct build *b, uint32_t node, struct touch *out) {
    const struct call_node *n = &b->p->tree.node[node];
    struct total t = b->total[node];
    if (n->parent != CALL_ROOT) {
        b->total[n->parent].weight += t.weight;
        b->total[n->parent].count += t.count;
    }
    b->total[node] = (struct total){0, 0};
    *out = (struct touch){node, 0, t.weight, t.count};
    if (b->want_paths)
        b->path_total[build_path_of(b, node)] += t.weight;
    /* A method met again further down its own stack counts where it is nearest to the root. */
    if (b->row && !n->recursive) {
        b->row[n->method].total += t.weight;
        b->row[n->method].tier[n->tier] += t.count;
    }
}

static void add_items(struct build *b, const struct group *g) {
    for (uint32_t i = g->first; i < g->end; i++) {
        b->total[b->item[i].node].weight += b->item[i].weight;
        b->total[b->item[i].node].count += b->item[i].count;
    }
}

/* Most nodes are met: look at all of them. Written from the back, then moved down to where the
 * earlier touches end. */
static int spread_all(struct build *b, const struct group *g) {
    uint32_t nodes = b->p->tree.nodes;
    if (!big_grow(&b->touch, &b->touch_cap, b->touches + nodes, sizeof *b->touch))
        return -ENOMEM;
    add_items(b, g);
    struct touch *end = b->touch + b->touches + nodes, *at = end;
    for (uint32_t n = nodes; n-- > 0;)
        if (b->total[n].weight | b->total[n].count)
            settle(b, n, --at);
    if (at > b->touch + b->touches)
        memmove(b->touch + b->touches, at, (size_t)(end - at) * sizeof *at);
    b->touches += (uint32_t)(end - at);
    return 0;
}

/* Few nodes are met: list them first. Parents have smaller ids, so the order of ids will do. */
static int spread_listed(struct build *b, const struct group *g) {
    const struct call_node *node = b->p->tree.node;
    uint32_t met = 0;
    if (!b->mark)
        b->mark = calloc((size_t)b->p->tree.nodes + 1, sizeof *b->mark);
    if (!b->mark)
        return -ENOMEM;
    b->spreads++;
    for (uint32_t i = g->first; i < g->end; i++) {
        for (uint32_t n = b->item[i].node; n != CALL_ROOT && b->mark[n] != b->spreads;
             n = node[n].parent) {
            b->mark[n] = b->spreads;
            if (!big_grow(&b->order, &b->order_cap, 2 * (met + 1), sizeof *b->order))
                return -ENOMEM;
            b->order[met++] = (struct order_key){.key = n, .node = n};
        }
    }
    if (met == 0)
        return 0;
    if (!big_grow(&b->touch, &b->touch_cap, b->touches + met, sizeof *b->touch))
        return -ENOMEM;
    order_keys(b->order, b->order + met, met);
    add_items(b, g);
    for (uint32_t i = met; i-- > 0;)
        settle(b, b->order[i].node, &b->touch[b->touches + i]);
    b->touches += met;
    return 0;
}

int spread(struct build *b, const struct group *g) {
    uint32_t nodes = b->p->tree.nodes;
    if (nodes > b->totals) {
        struct total *total = big_alloc(nodes, sizeof *total);
        if (!total)
            return -ENOMEM;
        memset(total, 0, nodes * sizeof *total);
        free(b->total);
        b->total = total;
        b->totals = nodes;
    }
    return (g->end - g->first) > nodes / 64 ? spread_all(b, g) : spread_listed(b, g);
}
