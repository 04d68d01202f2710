#include "core/export/frame_walk.h"

#include "core/export/fork_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * One stack holds the nodes that are still to be visited. Siblings are pushed in descending order,
 * so that the first one is on top. All entries of one depth are children of one frame, because a
 * frame's siblings wait below while its subtree is walked. So entries with equal depth and name are
 * the same frame.
 *
 *      depth 1: "c"      depth 1: "c"       depth 1: "c"
 *      depth 1: "a"  ─▶  depth 2: "x"   ─▶  depth 2: "x"
 *      depth 1: "a"      depth 2: "k"       (k's children …)
 */
struct pending {
    const struct snapshot_node *node;
    const struct frame_printed *name;
    uint32_t depth;
};

struct walk {
    const struct snapshot *s;
    struct frame_names *names;
    struct pending *stack;
    size_t len, cap;
    const struct snapshot_node **same; /* the nodes of the frame being visited */
    size_t same_len, same_cap;
};

static int compare(const struct pending *a, const struct pending *b) {
    if (a->name == b->name)
        return 0;
    return strcmp(b->name->text, a->name->text);
}

static int compare_void(const void *a, const void *b) {
    return compare(a, b);
}

static void sort_pending(struct pending *p, size_t n) {
    if (n > 32) {
        qsort(p, n, sizeof(*p), compare_void);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct pending x = p[i];
        size_t j = i;
        for (; j && compare(&p[j - 1], &x) > 0; j--)
            p[j] = p[j - 1];
        p[j] = x;
    }
}

static int push(struct walk *w, const struct snapshot_node *node, uint32_t depth) {
    if (w->len == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 1024;
        struct pending *stack = realloc(w->stack, cap * sizeof(*stack));
        if (!stack)
            return -ENOMEM;
        w->stack = stack;
        w->cap = cap;
    }
    const struct frame_printed *name = frame_names_get(w->names, node->method, node->tier);
    if (!name)
        return -ENOMEM;
    w->stack[w->len++] = (struct pending){node, name, depth};
    return 0;
}

/* Pushes the sibling nodes from index `first` up to `end`, and subtracts their weights from
 * `f`'s self. */
static int push_siblings(struct walk *w, uint32_t first, uint32_t end, uint32_t depth,
                         struct walked_frame *f) {
    for (uint32_t i = first; i < end; i = w->s->nodes[i].next) {
        const struct snapshot_node *n = &w->s->nodes[i];
        int err = push(w, n, depth);
        if (err)
            return err;
        f->self -= n->total < f->self ? n->total : f->self;
        f->self_samples -= n->total_samples < f->self_samples ? n->total_samples : f->self_samples;
    }
    return 0;
}

/* Pops the top frame with all of its nodes. */
static int pop_frame(struct walk *w, struct walked_frame *f) {
    const struct pending top = w->stack[w->len - 1];
    *f = (struct walked_frame){.name = top.name, .depth = top.depth};
    const struct snapshot_node *heaviest = top.node;
    w->same_len = 0;
    while (w->len && w->stack[w->len - 1].depth == top.depth &&
           w->stack[w->len - 1].name == top.name) {
        const struct snapshot_node *n = w->stack[--w->len].node;
        if (w->same_len == w->same_cap) {
            size_t cap = w->same_cap ? w->same_cap * 2 : 16;
            const struct snapshot_node **same = realloc(w->same, cap * sizeof(void *));
            if (!same)
                return -ENOMEM;
            w->same = same;
            w->same_cap = cap;
        }
        w->same[w->same_len++] = n;
        f->total += n->total;
        f->total_samples += n->total_samples;
        if (n->total > heaviest->total)
            heaviest = n;
    }
    f->method = heaviest->method;
    f->tier = snapshot_main_tier(heaviest->tier);
    f->self = f->total;
    f->self_samples = f->total_samples;
    f->node = w->same;
    f->nodes = w->same_len;
    return 0;
}

int frame_walk(const struct snapshot *s, struct frame_names *names,
               int (*visit)(void *arg, const struct walked_frame *f), void *arg) {
    if (s->forks)
        return fork_walk(s, names, visit, arg);
    struct walk w = {.s = s, .names = names};
    struct walked_frame f = {0};
    int err = push_siblings(&w, 0, s->node_count, 0, &f);
    if (!err)
        sort_pending(w.stack, w.len);

    while (!err && w.len) {
        err = pop_frame(&w, &f);
        size_t below = w.len;
        for (size_t i = 0; !err && i < w.same_len; i++) {
            uint32_t index = (uint32_t)(w.same[i] - s->nodes);
            err = push_siblings(&w, index + 1, w.same[i]->next, f.depth + 1, &f);
        }
        if (err)
            break;
        int answer = visit(arg, &f);
        if (answer < 0)
            err = answer;
        else if (answer == FRAME_WALK_SKIP)
            w.len = below;
        else
            sort_pending(w.stack + below, w.len - below);
    }
    free(w.stack);
    free(w.same);
    return err;
}
