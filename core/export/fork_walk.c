#include "core/export/fork_walk.h"

#include "core/base/grow.h"
#include "core/profile/snapshot/forks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Three levels, as small as they can be, because there are as many frames as the call tree has
 * nodes:
 *
 *      spot   a node of the call tree
 *      path   spots with the same method below the same path: what a snapshot's node is
 *      frame  paths with the same printed name below the same frame: what is visited
 *
 * What is still to be visited lies on a stack, as in frame_walk.c. Spots, and nodes of the forks that
 * are being walked, lie on stacks of their own: a frame's own are on top of those of the frames
 * above it.
 */
struct spot {
    uint32_t fork, node;
    uint32_t below, left; /* nodes that follow in the same fork, in walk.node; NOT_LISTED */
    uint32_t method;
    uint32_t above; /* the path above: its position in the frame above */
};

#define NOT_LISTED UINT32_MAX /* as spot.left: this is the fork's top */

struct path {
    const struct frame_printed *name;
    uint64_t total, samples;
    uint32_t first, spots; /* in walk.spot */
    uint32_t depth, method, above;
    uint32_t order; /* among all children of a frame */
};

/* What the frames of a depth need. */
struct level {
    uint32_t spots, nodes;
};

struct walk {
    const struct snapshot *s;
    struct frame_names *names;
    struct path *stack;
    uint32_t len, cap;
    struct spot *spot;
    uint32_t spots, spot_cap;
    uint32_t *node;
    uint32_t nodes, node_cap;
    struct level *level; /* by depth */
    uint32_t level_cap;
    struct path *same; /* paths of the frame being visited */
    uint32_t same_len, same_cap;
};

static int by_path(const void *a, const void *b) {
    const struct spot *x = a, *y = b;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The order in which a snapshot has siblings. */
static int by_weight(const void *a, const void *b, void *snapshot) {
    const struct path *x = a, *y = b;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    uint32_t i = fork_rank(snapshot, x->method), j = fork_rank(snapshot, y->method);
    return i < j ? -1 : i > j;
}

static int by_name(const void *a, const void *b) {
    const struct path *x = a, *y = b;
    int c = x->name == y->name ? 0 : strcmp(y->name->text, x->name->text);
    return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

static int add_spot(struct walk *w, struct spot k) {
    if (!GROW(w->spot, w->spots, w->spot_cap))
        return -ENOMEM;
    k.method = fork_frame(w->s, k.node).method;
    w->spot[w->spots++] = k;
    return 0;
}

static int add_fork(struct walk *w, uint32_t fork, uint32_t above) {
    const struct snapshot_fork *f = &w->s->forks[fork];
    struct spot k = {
        .fork = fork, .node = f->top, .left = f->top == f->node ? 0 : NOT_LISTED, .above = above};
    return add_spot(w, k);
}

/* Lists the nodes below the fork's top. */
static int list_nodes(struct walk *w, struct spot *k) {
    const struct snapshot_fork *f = &w->s->forks[k->fork];
    k->below = w->nodes;
    for (uint32_t n = f->node; n != f->top; n = fork_above(w->s, n)) {
        if (!GROW(w->node, w->nodes, w->node_cap) || !w->node)
            return -ENOMEM;
        w->node[w->nodes++] = n;
    }
    k->left = w->nodes - k->below;
    for (uint32_t i = 0; i < k->left / 2; i++) {
        uint32_t *a = &w->node[k->below + i], *b = &w->node[w->nodes - 1 - i], n = *a;
        *a = *b;
        *b = n;
    }
    return 0;
}

/* Adds what follows a spot, and takes its weight off the frame's self. */
static int add_below(struct walk *w, struct spot k, uint32_t above, struct walked_frame *f) {
    int err = k.left == NOT_LISTED ? list_nodes(w, &k) : 0;
    const struct snapshot_fork *fork = &w->s->forks[k.fork];
    if (!err && k.left && w->node) {
        f->self -= fork->total;
        f->self_samples -= fork->total_samples;
        return add_spot(w, (struct spot){.fork = k.fork,
                                         .node = w->node[k.below],
                                         .below = k.below + 1,
                                         .left = k.left - 1,
                                         .above = above});
    }
    for (uint32_t i = fork->first; !err && i != FORK_NONE; i = w->s->forks[i].next) {
        f->self -= w->s->forks[i].total;
        f->self_samples -= w->s->forks[i].total_samples;
        err = add_fork(w, i, above);
    }
    return err;
}

/* Makes paths of the spots from `from` on; they go to the stack. */
static int add_paths(struct walk *w, uint32_t from, uint32_t depth) {
    if (w->spots - from > 1)
        qsort(w->spot + from, w->spots - from, sizeof *w->spot, by_path);
    struct path *last = NULL;
    for (uint32_t i = from; i < w->spots; i++) {
        const struct spot *k = &w->spot[i];
        if (!last || last->method != k->method || last->above != k->above) {
            if (!GROW(w->stack, w->len, w->cap))
                return -ENOMEM;
            last = &w->stack[w->len++];
            *last =
                (struct path){.first = i, .depth = depth, .method = k->method, .above = k->above};
        }
        last->spots++;
        last->total += w->s->forks[k->fork].total;
        last->samples += w->s->forks[k->fork].total_samples;
    }
    return 0;
}

/* Names are requested in the order of weight, as those of a snapshot's nodes are: it is the order in
 * which they get their numbers. */
static int sort_paths(struct walk *w, uint32_t from) {
    uint32_t count = w->len - from;
    if (count > 1)
        qsort_r(w->stack + from, count, sizeof *w->stack, by_weight, (void *)w->s);
    for (uint32_t i = 0; i < count; i++) {
        static const uint64_t no_tier[TIERS] = {0};
        struct path *p = &w->stack[from + i];
        p->order = i;
        p->name = frame_names_get(w->names, p->method, no_tier);
        if (!p->name)
            return -ENOMEM;
    }
    if (count > 1)
        qsort(w->stack + from, count, sizeof *w->stack, by_name);
    return 0;
}

/* Pushes the paths that the spots from `from` on are. */
static int push(struct walk *w, uint32_t from, uint32_t depth) {
    uint32_t below = w->len;
    if (!grow_array(&w->level, &w->level_cap, depth + 1, sizeof *w->level))
        return -ENOMEM;
    w->level[depth] = (struct level){w->spots, w->nodes};
    int err = add_paths(w, from, depth);
    return err ? err : sort_paths(w, below);
}

static enum frame_tier tier_of(const struct walk *w, const struct path *p) {
    uint64_t tier[TIERS] = {0};
    for (uint32_t i = p->first; i < p->first + p->spots; i++)
        tier[fork_frame(w->s, w->spot[i].node).tier] += w->s->forks[w->spot[i].fork].total_samples;
    return snapshot_main_tier(tier);
}

/* Pops the top frame with all of its paths. */
static int pop_frame(struct walk *w, struct walked_frame *f) {
    const struct path top = w->stack[w->len - 1];
    uint64_t heaviest = 0;
    *f = (struct walked_frame){.name = top.name, .depth = top.depth};
    w->same_len = 0;
    while (w->len && w->stack[w->len - 1].depth == top.depth &&
           w->stack[w->len - 1].name == top.name) {
        if (!GROW(w->same, w->same_len, w->same_cap))
            return -ENOMEM;
        const struct path *p = &w->stack[--w->len];
        w->same[w->same_len++] = *p;
        f->total += p->total;
        f->total_samples += p->samples;
        if (w->same_len == 1 || p->total > heaviest) {
            heaviest = p->total;
            f->method = p->method;
            f->tier = tier_of(w, p);
        }
    }
    f->self = f->total;
    f->self_samples = f->total_samples;
    w->spots = w->level[top.depth].spots;
    w->nodes = w->level[top.depth].nodes;
    return 0;
}

static int push_below(struct walk *w, struct walked_frame *f) {
    uint32_t from = w->spots;
    int err = 0;
    for (uint32_t i = 0; i < w->same_len && !err; i++) {
        const struct path *p = &w->same[i];
        for (uint32_t k = p->first; k < p->first + p->spots && !err; k++)
            err = add_below(w, w->spot[k], i, f);
    }
    return err ? err : push(w, from, f->depth + 1);
}

typedef int visit_frame(void *arg, const struct walked_frame *f);

/* Most frames are one node of one fork, and so is the frame below: it is the next one, and there is
 * nothing to sort. Visits such frames and moves `f` on to the first that is not followed in this way,
 * which is still to be visited. Otherwise returns what a visit has answered. */
static int follow_chain(struct walk *w, struct walked_frame *f, visit_frame *visit, void *arg) {
    static const uint64_t no_tier[TIERS] = {0};
    if (w->same_len != 1 || w->same[0].spots != 1 || !w->spot)
        return 0;
    struct spot *k = &w->spot[w->same[0].first];
    int answer = k->left == NOT_LISTED ? list_nodes(w, k) : 0;
    while (!answer && k->left && w->node) {
        uint32_t node = w->node[k->below];
        struct fork_frame next = fork_frame(w->s, node);
        const struct frame_printed *name = frame_names_get(w->names, next.method, no_tier);
        if (!name)
            return -ENOMEM;
        f->self = f->self_samples = 0;
        answer = visit(arg, f);
        *k = (struct spot){k->fork, node, k->below + 1, k->left - 1, next.method, 0};
        f->name = name;
        f->depth++;
        f->method = next.method;
        f->tier = f->total_samples ? next.tier : TIER_NONE;
        f->self = f->total;
        f->self_samples = f->total_samples;
    }
    return answer;
}

int fork_walk(const struct snapshot *s, struct frame_names *names, visit_frame *visit, void *arg) {
    struct walk w = {.s = s, .names = names};
    struct walked_frame f = {0};
    int err = 0;
    for (uint32_t i = s->fork_root; !err && i != FORK_NONE; i = s->forks[i].next)
        err = add_fork(&w, i, 0);
    if (!err)
        err = push(&w, 0, 0);
    while (!err && w.len) {
        int answer = pop_frame(&w, &f);
        uint32_t below = w.len;
        if (!answer)
            answer = follow_chain(&w, &f, visit, arg);
        if (!answer)
            answer = push_below(&w, &f);
        if (!answer)
            answer = visit(arg, &f);
        if (answer == FRAME_WALK_SKIP)
            w.len = below;
        else
            err = answer;
    }
    free(w.stack);
    free(w.spot);
    free(w.node);
    free(w.level);
    free(w.same);
    return err;
}
