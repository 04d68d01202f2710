#include "tui/model/alloc_tree.h"

#include "core/profile/table/method_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX (1u << 18)
#define NONE UINT32_MAX

struct alloc_node {
    uint64_t path, total, samples;
    uint64_t via_weight; /* lead of `via` over all other methods together */
    uint32_t method, parent, method_row;
    uint32_t via;
    bool more_ways, more;  /* more: it has nodes below */
    uint32_t first, place; /* first child in `order`; its index in the tree */
};

static uint32_t slot_of(const struct alloc_tree *t, uint64_t path) {
    uint32_t at = (uint32_t)path & (t->index_size - 1);
    while (t->index[at] != NONE && t->node[t->index[at]].path != path)
        at = (at + 1) & (t->index_size - 1);
    return at;
}

static bool grow_index(struct alloc_tree *t) {
    uint32_t size = t->index ? t->index_size * 2 : 512;
    uint32_t *index = realloc(t->index, size * sizeof *index);
    if (!index)
        return false;
    t->index = index;
    t->index_size = size;
    memset(index, 0xff, size * sizeof *index);
    for (uint32_t i = 0; i < t->count; i++)
        index[slot_of(t, t->node[i].path)] = i;
    return true;
}

/* Returns the node of this method below `parent`, and creates it if needed. NONE: no room. */
static uint32_t child(struct alloc_tree *t, uint32_t parent, uint64_t path, uint32_t method) {
    uint32_t slot = slot_of(t, path);
    if (t->index[slot] != NONE)
        return t->index[slot];
    if ((t->count + 1) * 2 > t->index_size) {
        if (!grow_index(t))
            return NONE;
        slot = slot_of(t, path);
    }
    if (t->count == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 256;
        struct alloc_node *node =
            capacity <= NODES_MAX ? realloc(t->node, capacity * sizeof *node) : NULL;
        if (!node)
            return NONE;
        t->node = node;
        t->capacity = capacity;
    }
    t->node[t->count] = (struct alloc_node){
        .path = path, .method = method, .parent = parent, .method_row = NONE, .via = METHOD_NONE};
    t->index[slot] = t->count;
    return t->count++;
}

/* Reads a stack, leaf first, without threads. Returns the number of frames. */
static uint32_t read_stack(struct alloc_tree *t, const struct alloc_ask *ask, uint32_t node) {
    const struct snapshot_node *nodes = ask->snapshot->nodes;
    uint32_t n = 0, size = t->stack_size;
    for (uint32_t i = node; i != SNAPSHOT_ROOT && n < size; i = nodes[i].parent)
        if (ask->what(ask->arg, nodes[i].method) != ALLOC_THREAD)
            t->stack[n++] = nodes[i].method;
    for (uint32_t i = 0; ask->inverted && i < n / 2; i++) {
        uint32_t other = t->stack[n - 1 - i];
        t->stack[n - 1 - i] = t->stack[i];
        t->stack[i] = other;
    }
    return n;
}

/* Returns the index of the frame that is the site; `n` if no frame is code. */
static uint32_t find_site(const struct alloc_tree *t, const struct alloc_ask *ask, uint32_t n) {
    uint32_t code = n;
    for (uint32_t i = 1; i < n; i++) {
        enum alloc_frame what = ask->what(ask->arg, t->stack[i]);
        if (what == ALLOC_OWN)
            return i;
        if (what == ALLOC_JDK && code == n)
            code = i;
    }
    return code;
}

/* Keeps as `via` the method with more than half of the weight, if there is one (Boyer and Moore's
 * majority vote). */
static void vote(struct alloc_node *n, uint32_t via, uint64_t weight) {
    if (n->via == via) {
        n->via_weight += weight;
        return;
    }
    n->more_ways = n->more_ways || n->via != METHOD_NONE;
    if (n->via_weight >= weight) {
        n->via_weight -= weight;
        return;
    }
    n->via = via;
    n->via_weight = weight - n->via_weight;
}

static void add_stack(struct alloc_tree *t, const struct alloc_ask *ask, uint32_t node) {
    const struct snapshot_node *leaf = &ask->snapshot->nodes[node];
    uint32_t n = read_stack(t, ask, node);
    if (n < 2)
        return;
    uint64_t path = tree_path(ask->seed, t->stack[0]);
    uint32_t at = t->index[slot_of(t, path)];
    if (at == NONE)
        return;
    t->node[at].more = true;
    if (!tree_rows_is_open(ask->open, path))
        return;
    uint32_t site = find_site(t, ask, n);
    for (uint32_t i = site; i < n; i++) {
        path = tree_path(path, t->stack[i]);
        uint32_t below = child(t, at, path, t->stack[i]);
        if (below == NONE) { /* a later stack may still lead to existing nodes */
            t->cut = true;
            return;
        }
        struct alloc_node *b = &t->node[below];
        b->total += leaf->self;
        b->samples += leaf->self_samples;
        if (i == site && site > 1 && ask->what(ask->arg, t->stack[site - 1]) == ALLOC_JDK)
            vote(b, t->stack[site - 1], leaf->self);
        b->more = b->more || i + 1 < n;
        if (!tree_rows_is_open(ask->open, path))
            return;
        at = below;
    }
}

static int by_parent(const void *a, const void *b, void *arg) {
    const struct alloc_node *node = arg;
    const uint32_t *i = a, *j = b;
    const struct alloc_node *x = &node[*i], *y = &node[*j];
    if (x->parent != y->parent)
        return x->parent + 1 < y->parent + 1 ? -1 : 1; /* NONE + 1 is 0: roots come first */
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->method > y->method) - (x->method < y->method);
}

static void put(struct alloc_tree *t, uint32_t i) {
    struct alloc_node *n = &t->node[i];
    uint32_t up = n->parent == NONE ? SNAPSHOT_ROOT : t->node[n->parent].place;
    uint16_t depth = up == SNAPSHOT_ROOT ? 0 : (uint16_t)(t->tree.nodes[up].depth + 1);
    n->place = t->tree.node_count++;
    t->tree.nodes[n->place] = (struct snapshot_node){.method = n->method,
                                                     .parent = up,
                                                     .next = t->tree.node_count,
                                                     .depth = depth,
                                                     .total = n->total,
                                                     .total_samples = n->samples};
    t->extra[n->place] =
        (struct alloc_extra){.via = n->via, .more_ways = n->more_ways, .method_row = n->method_row};
    if (depth + 1u > t->tree.max_depth)
        t->tree.max_depth = depth + 1u;
}

/* Adds the placeholder child of a closed node. */
static void put_more(struct alloc_tree *t, uint32_t above) {
    uint16_t depth = (uint16_t)(t->tree.nodes[above].depth + 1);
    uint32_t at = t->tree.node_count++;
    t->tree.nodes[at] = (struct snapshot_node){
        .method = METHOD_NONE, .parent = above, .next = at + 1, .depth = depth};
    t->extra[at] = (struct alloc_extra){.via = METHOD_NONE, .method_row = NONE};
    t->tree.nodes[above].next = at + 1;
    if (depth + 1u > t->tree.max_depth)
        t->tree.max_depth = depth + 1u;
}

/* Writes the nodes in preorder. In `order`, the children of a node are next to each other. An open
 * node without children had no room for them. */
static void lay_out(struct alloc_tree *t, const struct alloc_ask *ask) {
    for (uint32_t i = t->count; i-- > 0;)
        t->node[i].first = NONE;
    for (uint32_t i = t->count; i-- > 0;) {
        uint32_t parent = t->node[t->order[i]].parent;
        if (parent != NONE)
            t->node[parent].first = i;
    }
    uint32_t *at = t->index; /* scratch: position of each level in `order` */
    uint32_t depth = 0;
    at[0] = 0;
    while (t->count) {
        uint32_t i = t->order[at[depth]];
        struct alloc_node *n = &t->node[i];
        put(t, i);
        if (n->first != NONE) {
            at[++depth] = n->first;
            continue;
        }
        if (n->more && !tree_rows_is_open(ask->open, n->path))
            put_more(t, n->place);
        for (;;) { /* go to the next sibling, or to that of a node above */
            i = t->order[at[depth]];
            t->tree.nodes[t->node[i].place].next = t->tree.node_count;
            uint32_t next = at[depth] + 1;
            if (next < t->count && t->node[t->order[next]].parent == t->node[i].parent) {
                at[depth] = next;
                break;
            }
            if (!depth)
                return;
            depth--;
        }
    }
}

static bool reserve(struct alloc_tree *t) {
    size_t most = (size_t)t->count * 2 + 1;
    struct snapshot_node *nodes = realloc(t->tree.nodes, most * sizeof *nodes);
    if (nodes)
        t->tree.nodes = nodes;
    struct alloc_extra *extra = realloc(t->extra, most * sizeof *extra);
    if (extra)
        t->extra = extra;
    uint32_t *order = realloc(t->order, most * sizeof *order);
    if (order)
        t->order = order;
    return nodes && extra && order;
}

int alloc_tree_build(struct alloc_tree *t, const struct alloc_ask *ask) {
    const struct snapshot *s = ask->snapshot;
    t->count = t->tree.node_count = t->tree.max_depth = 0;
    t->tree.weight = s->weight;
    t->tree.samples = s->samples;
    t->cut = false;
    if (!t->index && !grow_index(t))
        return -ENOMEM;
    memset(t->index, 0xff, t->index_size * sizeof *t->index);
    if (s->max_depth > t->stack_size) {
        uint32_t *stack = realloc(t->stack, s->max_depth * sizeof *stack);
        if (!stack)
            return -ENOMEM;
        t->stack = stack;
        t->stack_size = s->max_depth;
    }
    for (uint32_t i = 0; i < s->method_count; i++) {
        const struct snapshot_method *m = &s->methods[i];
        if (!m->self)
            continue;
        uint32_t at = child(t, NONE, tree_path(ask->seed, m->method), m->method);
        if (at == NONE) {
            t->cut = true;
            continue;
        }
        t->node[at].total = m->self;
        t->node[at].samples = m->self_samples;
        t->node[at].method_row = i;
    }
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].self)
            add_stack(t, ask, i);
    if (!reserve(t)) {
        t->cut = true;
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < t->count; i++)
        t->order[i] = i;
    qsort_r(t->order, t->count, sizeof *t->order, by_parent, t->node);
    if (t->count)
        lay_out(t, ask);
    return t->cut ? -ENOMEM : 0;
}

void alloc_tree_free(struct alloc_tree *t) {
    free(t->tree.nodes);
    free(t->extra);
    free(t->node);
    free(t->index);
    free(t->order);
    free(t->stack);
    *t = (struct alloc_tree){0};
}
