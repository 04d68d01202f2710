/*
 * The layout of a flame graph: where its frames stand. Nothing is drawn here.
 *
 *      depth 2 | Cart.total     | Index.find |
 *      depth 1 | Worker.run                       | main |
 *      depth 0 | all                                            |
 *              0                                                units
 *
 * A unit is the smallest width that the screen can draw: half a cell, or a cell. Siblings are
 * sorted by name, not by weight, and an edge moves only if it is off by a whole unit. So the
 * picture stands still while numbers change. Frames narrower than a unit are shown together as one
 * thin rest to the right of their siblings. The room to the right of that is self time.
 *
 * In a zoomed graph, one frame has the whole width. The frames that called it stand below it and
 * are as wide.
 *
 * Only frames that are wide enough to be seen are visited: a hundred thousand stacks cost no more
 * than a full screen.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_FLAME_H
#define JTOP_TUI_MODEL_FLAME_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define FLAME_NONE UINT32_MAX
#define FLAME_BOXES_MAX 65536u

struct flame_box {
    uint64_t path;   /* identity: tree_path() */
    uint64_t offset; /* weight to the left of it, within the frame zoomed into */
    uint64_t total;
    uint32_t node;     /* of the snapshot; SNAPSHOT_ROOT: everything. A rest has its parent's
                          node */
    uint32_t parent;   /* box below it; FLAME_NONE: none */
    uint32_t from, to; /* units */
    uint32_t depth;
    bool outer; /* it is below the frame zoomed into */
    bool rest;  /* frames too narrow to be shown one by one */
};

/* A path through the tree: the identities of the frames at depth 1, 2 and so on. */
struct flame_path {
    uint64_t *step;
    uint32_t count, capacity;
};

struct flame {
    struct flame_box *box; /* by depth, then from left to right */
    uint32_t count;
    uint32_t *row; /* first box of each depth; row[rows] is `count` */
    uint32_t rows;
    uint32_t zoom_depth;
    uint64_t zoom_total; /* weight of the whole width */
    uint32_t units;
    uint64_t seed;
    /* internal state */
    uint32_t capacity, row_capacity;
    uint32_t *index; /* hash table of boxes by path, open addressing */
    uint32_t index_size;
    struct flame_box *before; /* the previous picture, with its hash table */
    uint32_t before_count, before_capacity;
    uint32_t *before_index, before_index_size;
    uint32_t *sorted, sorted_capacity;
};

struct flame_ask {
    const struct snapshot *snapshot;
    uint64_t seed;                                                  /* where paths start */
    const struct flame_path *zoom;                                  /* as far as it exists */
    uint32_t units;                                                 /* width */
    uint32_t rows;                                                  /* depths to lay out */
    int (*order)(const void *arg, uint32_t method, uint32_t other); /* < 0: `method` first */
    const void *arg;
};

/* -ENOMEM: the layout is incomplete or empty. */
int flame_layout(struct flame *f, const struct flame_ask *ask);
void flame_free(struct flame *f);

/* Returns the box with this identity, or the box that covers the unit; FLAME_NONE: none. */
uint32_t flame_find(const struct flame *f, uint64_t path);
uint32_t flame_at(const struct flame *f, uint32_t depth, uint32_t unit);
/* Returns the next box at the same depth, to the right (`by` 1) or left (-1). Rests are skipped.
 * Returns `box` itself if there is none. */
uint32_t flame_beside(const struct flame *f, uint32_t box, int by);
/* Returns the widest frame that stands on the box; FLAME_NONE: none. */
uint32_t flame_hottest_child(const struct flame *f, uint32_t box);

/* Whether a node is wide enough to be seen. */
bool flame_shows(const struct flame *f, const struct snapshot *s, uint32_t node);

/* Paths: to a box, to a node, and longer by one step. -ENOMEM: the path is too short. */
int flame_path_to_box(struct flame_path *p, const struct flame *f, uint32_t box);
int flame_path_to_node(struct flame_path *p, const struct snapshot *s, uint64_t seed,
                       uint32_t node);
int flame_path_add(struct flame_path *p, uint64_t step);
void flame_path_free(struct flame_path *p);

#endif
