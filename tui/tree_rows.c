#include "tui/tree_rows.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_PERCENT 90

/* What the children of a visible node need to know of it. */
struct tree_level {
    uint64_t path, pipes;
    uint32_t row;
    uint16_t level;
};

static uint64_t child_path(uint64_t parent, uint32_t method) {
    uint64_t z = (parent ^ method) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Where the path is in `open`, or would be. */
static uint32_t find_open(const struct tree_rows *t, uint64_t path) {
    uint32_t low = 0, high = t->open_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->open[middle] < path)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_open(const struct tree_rows *t, uint64_t path) {
    uint32_t at = find_open(t, path);
    return at < t->open_count && t->open[at] == path;
}

static void mark_open(struct tree_rows *t, uint64_t path) {
    uint32_t at = find_open(t, path);
    if ((at < t->open_count && t->open[at] == path) || t->open_count >= TREE_OPEN_MAX)
        return;
    if (t->open_count == t->open_capacity) {
        uint32_t capacity = t->open_capacity ? t->open_capacity * 2 : 64;
        uint64_t *open = realloc(t->open, capacity * sizeof *open);
        if (!open)
            return;
        t->open = open;
        t->open_capacity = capacity;
    }
    memmove(t->open + at + 1, t->open + at, (t->open_count - at) * sizeof *t->open);
    t->open[at] = path;
    t->open_count++;
}

void tree_rows_close(struct tree_rows *t, uint64_t path) {
    uint32_t at = find_open(t, path);
    if (at >= t->open_count || t->open[at] != path)
        return;
    t->open_count--;
    memmove(t->open + at, t->open + at + 1, (t->open_count - at) * sizeof *t->open);
}

void tree_rows_open(struct tree_rows *t, const struct snapshot *s, uint32_t row) {
    if (row >= t->count)
        return;
    uint32_t node = t->row[row].node;
    uint64_t path = t->row[row].path;
    for (;;) {
        uint32_t child = snapshot_child(s, node);
        if (child == SNAPSHOT_ROOT)
            return;
        mark_open(t, path);
        if (s->nodes[child].total < s->nodes[node].total / 100 * CHAIN_PERCENT)
            return;
        node = child;
        path = child_path(path, s->nodes[node].method);
    }
}

void tree_rows_open_hottest(struct tree_rows *t, const struct snapshot *s, uint32_t row) {
    if (row >= t->count)
        return;
    uint32_t node = t->row[row].node;
    uint64_t path = t->row[row].path;
    /* Children are sorted by total: the first one is the hottest. */
    for (uint32_t child; (child = snapshot_child(s, node)) != SNAPSHOT_ROOT;) {
        mark_open(t, path);
        node = child;
        path = child_path(path, s->nodes[node].method);
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

/* Node i, whose parent (if any) is the last visible one of the depth above. */
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
        .path = child_path(up->path, n->method),
        .pipes = up->pipes,
        .level = up->level,
        .leaf = snapshot_child(s, i) == SNAPSHOT_ROOT,
        .last = n->next >= end,
    };
    /* A line leads to every fork, and from a root to what is below it: roots have none. */
    r->branch = n->depth == 1 || (n->depth > 1 && !(first && r->last));
    r->open = !r->leaf && is_open(t, r->path);
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
    free(t->open);
    free(t->levels);
    *t = (struct tree_rows){0};
}
