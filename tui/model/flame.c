#include "tui/model/flame.h"

#include "tui/widget/tree_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t slot_of(const struct flame_box *box, const uint32_t *index, uint32_t size,
                        uint64_t path) {
    uint32_t at = (uint32_t)path & (size - 1);
    while (index[at] != FLAME_NONE && box[index[at]].path != path)
        at = (at + 1) & (size - 1);
    return at;
}

/* Builds the hash table of boxes by path: a power of two, at most half full. */
static int make_index(struct flame *f) {
    uint32_t size = 256;
    while (size < f->count * 2)
        size *= 2;
    if (size > f->index_size) {
        uint32_t *index = realloc(f->index, size * sizeof *index);
        if (!index) {
            f->index_size = 0;
            free(f->index);
            f->index = NULL;
            return -ENOMEM;
        }
        f->index = index;
        f->index_size = size;
    }
    memset(f->index, 0xff, f->index_size * sizeof *f->index);
    for (uint32_t i = 0; i < f->count; i++)
        f->index[slot_of(f->box, f->index, f->index_size, f->box[i].path)] = i;
    return 0;
}

uint32_t flame_find(const struct flame *f, uint64_t path) {
    if (!f->index_size || !f->count)
        return FLAME_NONE;
    return f->index[slot_of(f->box, f->index, f->index_size, path)];
}

/* Makes the current picture the previous one, and reuses the memory of the one before it. */
static void turn(struct flame *f) {
    struct flame_box *box = f->before;
    uint32_t capacity = f->before_capacity;
    uint32_t *index = f->before_index, size = f->before_index_size;
    f->before = f->box;
    f->before_count = f->index_size ? f->count : 0;
    f->before_capacity = f->capacity;
    f->before_index = f->index;
    f->before_index_size = f->index_size;
    f->box = box;
    f->capacity = capacity;
    f->index = index;
    f->index_size = size;
    f->count = 0;
}

static uint32_t add_box(struct flame *f, const struct flame_box *b) {
    if (f->count == FLAME_BOXES_MAX)
        return FLAME_NONE;
    if (f->count == f->capacity) {
        uint32_t capacity = f->capacity ? f->capacity * 2 : 256;
        struct flame_box *box = realloc(f->box, capacity * sizeof *box);
        if (!box)
            return FLAME_NONE;
        f->box = box;
        f->capacity = capacity;
    }
    f->box[f->count] = *b;
    return f->count++;
}

static uint64_t self_of(const struct snapshot *s, uint32_t node) {
    return node == SNAPSHOT_ROOT ? 0 : s->nodes[node].self;
}

/* Returns the first child, and sets where the children end. */
static uint32_t children(const struct snapshot *s, uint32_t node, uint32_t *end) {
    *end = node == SNAPSHOT_ROOT ? s->node_count : s->nodes[node].next;
    return node == SNAPSHOT_ROOT ? 0 : node + 1;
}

static bool wide(const struct flame *f, uint64_t total) {
    return total && (double)total * f->units >= (double)f->zoom_total;
}

bool flame_shows(const struct flame *f, const struct snapshot *s, uint32_t node) {
    return node < s->node_count && wide(f, s->nodes[node].total);
}

static int by_name(const void *a, const void *b, void *arg) {
    const struct flame_ask *ask = arg;
    const struct snapshot_node *nodes = ask->snapshot->nodes;
    const uint32_t *x = a, *y = b;
    int order = ask->order(ask->arg, nodes[*x].method, nodes[*y].method);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Sorts the children that are wide enough by name. The snapshot has them by weight, so after the
 * first that is too narrow, all are. */
static uint32_t sort_children(struct flame *f, const struct flame_ask *ask, uint32_t node) {
    const struct snapshot *s = ask->snapshot;
    uint32_t end, count = 0;
    for (uint32_t i = children(s, node, &end); i < end && count < f->sorted_capacity;
         i = s->nodes[i].next) {
        if (!wide(f, s->nodes[i].total))
            break;
        f->sorted[count++] = i;
    }
    struct flame_ask copy = *ask;
    qsort_r(f->sorted, count, sizeof *f->sorted, by_name, &copy);
    return count;
}

/* Returns the right edge of a box in units. It stays where it was if it is less than a unit off. */
static uint32_t edge(const struct flame *f, uint64_t path, uint64_t offset, uint32_t least,
                     uint32_t most) {
    double exact = (double)offset * f->units / (double)f->zoom_total;
    uint32_t at = exact >= f->units ? f->units : (uint32_t)(exact + 0.5);
    if (f->before_count) {
        uint32_t i =
            f->before_index[slot_of(f->before, f->before_index, f->before_index_size, path)];
        if (i != FLAME_NONE) {
            double off = exact - f->before[i].to;
            if (off > -1 && off < 1)
                at = f->before[i].to;
        }
    }
    return at < least ? least : at > most ? most : at;
}

static int place_children(struct flame *f, const struct flame_ask *ask, uint32_t parent) {
    const struct snapshot *s = ask->snapshot;
    const struct flame_box up = f->box[parent];
    uint32_t count = sort_children(f, ask, up.node), from = up.from;
    uint64_t offset = up.offset, shown = 0;
    for (uint32_t i = 0; i < count && from < up.to; i++) {
        const struct snapshot_node *n = &s->nodes[f->sorted[i]];
        struct flame_box b = {.node = f->sorted[i],
                              .parent = parent,
                              .depth = up.depth + 1,
                              .path = tree_path(up.path, n->method),
                              .offset = offset,
                              .total = n->total,
                              .from = from};
        offset += n->total;
        shown += n->total;
        b.to = edge(f, b.path, offset, from + 1, up.to);
        if (add_box(f, &b) == FLAME_NONE)
            return -ENOMEM;
        from = b.to;
    }
    uint64_t below = up.total - (self_of(s, up.node) < up.total ? self_of(s, up.node) : up.total);
    struct flame_box rest = {.node = up.node,
                             .parent = parent,
                             .depth = up.depth + 1,
                             .path = tree_path(up.path, METHOD_NONE),
                             .offset = offset,
                             .total = below > shown ? below - shown : 0,
                             .from = from,
                             .rest = true};
    if (!rest.total || from >= up.to)
        return 0;
    rest.to = edge(f, rest.path, offset + rest.total, from, up.to);
    if (rest.to > from && add_box(f, &rest) == FLAME_NONE)
        return -ENOMEM;
    return 0;
}

static int reserve(struct flame *f, const struct flame_ask *ask) {
    if (ask->rows + 1 > f->row_capacity) {
        uint32_t *row = realloc(f->row, (ask->rows + (size_t)1) * sizeof *row);
        if (!row)
            return -ENOMEM;
        f->row = row;
        f->row_capacity = ask->rows + 1;
    }
    if (ask->units > f->sorted_capacity) {
        uint32_t *sorted = realloc(f->sorted, ask->units * sizeof *sorted);
        if (!sorted)
            return -ENOMEM;
        f->sorted = sorted;
        f->sorted_capacity = ask->units;
    }
    return 0;
}

/* Places the frames from the root up to the frame zoomed into, each over the whole width. */
static int place_trunk(struct flame *f, const struct flame_ask *ask) {
    const struct snapshot *s = ask->snapshot;
    struct flame_box b = {.node = SNAPSHOT_ROOT,
                          .parent = FLAME_NONE,
                          .path = ask->seed,
                          .total = s->weight,
                          .to = ask->units};
    for (;;) {
        uint32_t end, at = b.depth;
        f->row[f->rows++] = f->count;
        uint32_t mine = add_box(f, &b);
        if (mine == FLAME_NONE)
            return -ENOMEM;
        f->zoom_depth = b.depth;
        f->zoom_total = b.total;
        if (at >= ask->zoom->count || f->rows >= ask->rows)
            return 0;
        uint32_t i = children(s, b.node, &end);
        while (i < end && tree_path(b.path, s->nodes[i].method) != ask->zoom->step[at])
            i = s->nodes[i].next;
        if (i >= end || !s->nodes[i].total)
            return 0;
        f->box[mine].outer = true;
        b = (struct flame_box){.node = i,
                               .parent = mine,
                               .path = ask->zoom->step[at],
                               .total = s->nodes[i].total,
                               .to = ask->units,
                               .depth = at + 1};
    }
}

static int place(struct flame *f, const struct flame_ask *ask) {
    int err = place_trunk(f, ask);
    while (!err && f->rows < ask->rows) {
        uint32_t from = f->row[f->rows - 1], to = f->count;
        f->row[f->rows] = to;
        for (uint32_t i = from; i < to && !err; i++)
            if (!f->box[i].rest && !f->box[i].outer)
                err = place_children(f, ask, i);
        if (f->count == to)
            break;
        f->rows++;
    }
    f->row[f->rows] = f->count;
    return err;
}

int flame_layout(struct flame *f, const struct flame_ask *ask) {
    uint32_t depth = f->zoom_depth;
    uint64_t trunk = f->count && depth < f->rows ? f->box[f->row[depth]].path : 0;
    bool same = f->units == ask->units && f->seed == ask->seed;
    turn(f);
    f->rows = 0;
    f->units = ask->units;
    f->seed = ask->seed;
    f->zoom_depth = 0;
    f->zoom_total = 0;
    if (!ask->snapshot || !ask->snapshot->weight || !ask->units || !ask->rows)
        return 0;
    uint64_t zoom = ask->zoom->count ? ask->zoom->step[ask->zoom->count - 1] : ask->seed;
    if (!same || zoom != trunk)
        f->before_count = 0;
    int err = reserve(f, ask);
    if (!err)
        err = place(f, ask);
    int indexed = make_index(f);
    return err ? err : indexed;
}

void flame_free(struct flame *f) {
    free(f->box);
    free(f->row);
    free(f->index);
    free(f->before);
    free(f->before_index);
    free(f->sorted);
    *f = (struct flame){0};
}

uint32_t flame_at(const struct flame *f, uint32_t depth, uint32_t unit) {
    if (depth >= f->rows)
        return FLAME_NONE;
    for (uint32_t i = f->row[depth]; i < f->row[depth + 1]; i++)
        if (unit >= f->box[i].from && unit < f->box[i].to)
            return i;
    return FLAME_NONE;
}

uint32_t flame_beside(const struct flame *f, uint32_t box, int by) {
    uint32_t depth = f->box[box].depth;
    for (uint32_t i = box;;) {
        if (by < 0 ? i == f->row[depth] : i + 1 >= f->row[depth + 1])
            return box;
        i = by < 0 ? i - 1 : i + 1;
        if (!f->box[i].rest)
            return i;
    }
}

uint32_t flame_hottest_child(const struct flame *f, uint32_t box) {
    uint32_t depth = f->box[box].depth + 1, best = FLAME_NONE;
    if (depth >= f->rows)
        return FLAME_NONE;
    for (uint32_t i = f->row[depth]; i < f->row[depth + 1]; i++)
        if (f->box[i].parent == box && !f->box[i].rest &&
            (best == FLAME_NONE || f->box[i].total > f->box[best].total))
            best = i;
    return best;
}

int flame_path_add(struct flame_path *p, uint64_t step) {
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity * 2 : 64;
        uint64_t *all = realloc(p->step, capacity * sizeof *all);
        if (!all)
            return -ENOMEM;
        p->step = all;
        p->capacity = capacity;
    }
    p->step[p->count++] = step;
    return 0;
}

int flame_path_to_box(struct flame_path *p, const struct flame *f, uint32_t box) {
    p->count = 0;
    while (p->count < f->box[box].depth)
        if (flame_path_add(p, 0))
            return -ENOMEM;
    for (uint32_t i = box; f->box[i].depth; i = f->box[i].parent)
        p->step[f->box[i].depth - 1] = f->box[i].path;
    return 0;
}

int flame_path_to_node(struct flame_path *p, const struct snapshot *s, uint64_t seed,
                       uint32_t node) {
    p->count = 0;
    for (uint32_t i = 0; node < s->node_count && i <= node;) { /* from the root down to it */
        if (node >= s->nodes[i].next) {
            i = s->nodes[i].next;
            continue;
        }
        seed = tree_path(seed, s->nodes[i].method);
        if (flame_path_add(p, seed))
            return -ENOMEM;
        i++;
    }
    return 0;
}

void flame_path_free(struct flame_path *p) {
    free(p->step);
    *p = (struct flame_path){0};
}
