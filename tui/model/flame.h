/*
 * Where the frames of a flame graph stand. Nothing is drawn here.
 *
 *      depth 2 | Cart.total     | Index.find |
 *      depth 1 | Worker.run                       | main |
 *      depth 0 | all                                            |
 *              0                                                units
 *
 * A unit is what the screen can draw: half a cell, or a cell. Siblings stand in order of name, not
 * of weight, and an edge moves only when it is a whole unit off, so that the picture stands still
 * while numbers change. Frames narrower than a unit are one thin rest behind their siblings; self
 * time is the room to the right of that.
 *
 * Zoomed, one frame has the whole width, and those it was called by stand under it as wide.
 *
 * Only what is wide enough to be seen is looked at: a hundred thousand stacks cost no more than
 * a full screen.
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
    uint64_t offset; /* weight to the left of it in the frame that has the whole width */
    uint64_t total;
    uint32_t node;     /* of the snapshot; SNAPSHOT_ROOT: everything. A rest: of its parent */
    uint32_t parent;   /* box below it; FLAME_NONE: none */
    uint32_t from, to; /* units */
    uint32_t depth;
    bool outer; /* below the frame zoomed into */
    bool rest;  /* too narrow to be shown one by one */
};

/* A way through the tree: the identities of the frames at depth 1, 2 … */
struct flame_path {
    uint64_t *step;
    uint32_t count, capacity;
};

struct flame {
    struct flame_box *box; /* by depth, then from left to right */
    uint32_t count;
    uint32_t *row; /* first box of each depth; row[rows] is count */
    uint32_t rows;
    uint32_t zoom_depth;
    uint64_t zoom_total; /* weight over the whole width */
    uint32_t units;
    uint64_t seed;
    /* inner state */
    uint32_t capacity, row_capacity;
    uint32_t *index; /* boxes by path, open addressing */
    uint32_t index_size;
    struct flame_box *before; /* the picture before, and its index */
    uint32_t before_count, before_capacity;
    uint32_t *before_index, before_index_size;
    uint32_t *sorted, sorted_capacity;
};

struct flame_ask {
    const struct snapshot *snapshot;
    uint64_t seed;                                                  /* where paths start */
    const struct flame_path *zoom;                                  /* as much of it as there is */
    uint32_t units;                                                 /* the width */
    uint32_t rows;                                                  /* depths to lay out */
    int (*order)(const void *arg, uint32_t method, uint32_t other); /* < 0: stands left of it */
    const void *arg;
};

/* -ENOMEM: there is less of it, down to nothing. */
int flame_layout(struct flame *f, const struct flame_ask *ask);
void flame_free(struct flame *f);

/* The box with this identity, and the one that covers the unit; FLAME_NONE: none. */
uint32_t flame_find(const struct flame *f, uint64_t path);
uint32_t flame_at(const struct flame *f, uint32_t depth, uint32_t unit);
/* The box next to it at its depth, by 1 or -1, rests left out; itself where there is none. */
uint32_t flame_beside(const struct flame *f, uint32_t box, int by);
/* The widest frame on it; FLAME_NONE: none. */
uint32_t flame_hottest_child(const struct flame *f, uint32_t box);

/* Whether a node is wide enough to be seen. */
bool flame_shows(const struct flame *f, const struct snapshot *s, uint32_t node);

/* Paths: to a box, to a node, and by one step. -ENOMEM: it is shorter. */
int flame_path_to_box(struct flame_path *p, const struct flame *f, uint32_t box);
int flame_path_to_node(struct flame_path *p, const struct snapshot *s, uint64_t seed,
                       uint32_t node);
int flame_path_add(struct flame_path *p, uint64_t step);
void flame_path_free(struct flame_path *p);

#endif
