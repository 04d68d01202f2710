#include "tui/widget/tree_rows.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_PERCENT 90

/* What the rows of a visible node's children need to know about it. */
struct tree_level {
    uint64_t path, pipes;
    uint32_t row;
    uint16_t level;
};

bool tree_rows_is_open(const struct tree_rows *t, uint64_t path) {
    return id_map_find(&t->open, path) != NULL;
}

/* Marks a node as open. False if there are too many. */
static bool mark_open(struct tree_rows *t, uint64_t path) {
    if (!t->open.limit)
        id_map_init(&t->open, TREE_OPEN_MAX);
    return id_map_put(&t->open, path, 1) == 0;
}

void tree_rows_close(struct tree_rows *t, uint64_t path) {
    id_map_remove(&t->open, path);
}

void tree_rows_close_all(struct tree_rows *t) {
    id_map_clear(&t->open);
}

void tree_rows_open(struct tree_rows *t, const struct snapshot *s, uint32_t row) {
    if (row >= t->count)
        return;
    uint32_t node = t->row[row].node;
    uint64_t path = t->row[row].path;
    if (s->nodes[node].closed)
        (void)mark_open(t, path);
    for (;;) {
        uint32_t child = snapshot_child(s, node);
        if (child == SNAPSHOT_ROOT)
            return;
        (void)mark_open(t, path);
        if (s->nodes[child].total < s->nodes[node].total / 100 * CHAIN_PERCENT)
            return;
        node = child;
        path = tree_path(path, s->nodes[node].method);
    }
}

void tree_rows_open_hottest(struct tree_rows *t, const struct snapshot *s, uint32_t row) {
    if (row >= t->count)
        return;
    uint32_t node = t->row[row].node;
    uint64_t path = t->row[row].path;
    if (s->nodes[node].closed)
        (void)mark_open(t, path);
    /* Children are sorted by total: the first one is the hottest. */
    for (uint32_t child; (child = snapshot_child(s, node)) != SNAPSHOT_ROOT;) {
        (void)mark_open(t, path);
        node = child;
        path = tree_path(path, s->nodes[node].method);
    }
}

/* Opens in preorder: if there are too many nodes, the hottest ones are open. */
bool tree_rows_open_below(struct tree_rows *t, const struct snapshot *s, uint64_t seed,
                          uint32_t row) {
    uint32_t from = 0, to = s->node_count, base = 0;
    if (row != SNAPSHOT_ROOT) {
        if (row >= t->count)
            return true;
        from = t->row[row].node;
        to = s->nodes[from].next;
        base = s->nodes[from].depth;
    }
    uint64_t *path = malloc((s->max_depth + (size_t)1) * sizeof *path);
    bool all = path != NULL;
    for (uint32_t i = from; all && i < to; i++) {
        const struct snapshot_node *n = &s->nodes[i];
        uint64_t up = n->depth > base ? path[n->depth - base - 1] : seed;
        bool start = i == from && row != SNAPSHOT_ROOT;
        path[n->depth - base] = start ? t->row[row].path : tree_path(up, n->method);
        if (n->next > i + 1 || n->closed)
            all = mark_open(t, path[n->depth - base]);
    }
    free(path);
    return all;
}

void tree_rows_reveal(struct tree_rows *t, const struct snapshot *s, uint64_t seed, uint32_t node) {
    for (uint32_t i = 0; node < s->node_count && i < node;) {
        if (node >= s->nodes[i].next) {
            i = s->nodes[i].next;
            continue;
        }
        seed = tree_path(seed, s->nodes[i].method);
        (void)mark_open(t, seed);
        i++;
    }
}

static struct tree_row *new_row(struct tree_rows *t) {
    if (t->count == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 256;
        struct tree_row *row = realloc(t->row, capacity * sizeof *row);
        if (!row)
            return NULL;
        t->row = row;
        t->capacity = capacity;
    }
    return &t->row[t->count++];
}

static bool reserve_levels(struct tree_rows *t, uint32_t depth) {
    if (depth <= t->level_capacity)
        return true;
    struct tree_level *levels = realloc(t->levels, depth * sizeof *levels);
    if (!levels)
        return false;
    t->levels = levels;
    t->level_capacity = depth;
    return true;
}

/* Adds the row of node i. Its parent, if any, is the last visible node one depth above. */
static bool add_row(struct tree_rows *t, const struct snapshot *s, uint64_t seed, uint32_t i) {
    const struct snapshot_node *n = &s->nodes[i];
    const struct tree_level root = {.path = seed, .row = SNAPSHOT_ROOT};
    const struct tree_level *up = n->depth ? &t->levels[n->depth - 1] : &root;
    uint32_t end = n->depth ? s->nodes[n->parent].next : s->node_count;
    bool first = n->depth ? i == n->parent + 1 : i == 0;
    struct tree_row *r = new_row(t);
    if (!r)
        return false;
    *r = (struct tree_row){
        .node = i,
        .parent_row = up->row,
        .path = tree_path(up->path, n->method),
        .pipes = up->pipes,
        .level = up->level,
        .leaf = snapshot_child(s, i) == SNAPSHOT_ROOT && !n->closed,
        .last = n->next >= end,
    };
    /* A line leads to every node with siblings, and to every node below a root. Roots have none. */
    r->branch = n->depth == 1 || (n->depth > 1 && !(first && r->last));
    r->open = !r->leaf && tree_rows_is_open(t, r->path);
    struct tree_level *mine = &t->levels[n->depth];
    *mine = (struct tree_level){
        .path = r->path, .pipes = r->pipes, .row = t->count - 1, .level = r->level};
    if (r->branch) {
        if (!r->last && r->level < 64)
            mine->pipes |= UINT64_C(1) << r->level;
        if (mine->level < UINT16_MAX)
            mine->level++;
    }
    return true;
}

void tree_rows_build(struct tree_rows *t, const struct snapshot *s, uint64_t seed) {
    t->count = 0;
    if (!s || !reserve_levels(t, s->max_depth + 1))
        return;
    for (uint32_t i = 0; i < s->node_count;) {
        if (!add_row(t, s, seed, i))
            return;
        i = t->row[t->count - 1].open ? i + 1 : s->nodes[i].next;
    }
}

void tree_rows_free(struct tree_rows *t) {
    free(t->row);
    id_map_free(&t->open);
    free(t->levels);
    *t = (struct tree_rows){0};
}
