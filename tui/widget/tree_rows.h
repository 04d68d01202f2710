/*
 * The rows of a call tree in which some nodes are open: the visible nodes, in order, with the lines
 * that connect them.
 *
 * A node is identified by the hash of its path. So an open node stays open while the tree grows and
 * its nodes get other numbers. Below the second level, an only child stands under its parent
 * without indentation: deep stacks mostly do not fork, and indentation should show forks.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_WIDGET_TREE_ROWS_H
#define JTOP_TUI_WIDGET_TREE_ROWS_H

#include "core/base/hash.h"
#include "core/base/id_map.h"
#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define TREE_OPEN_MAX 65536u /* nodes open at once; further ones stay closed */

/* Returns the hash of a path with one more method; never 0. */
static inline uint64_t tree_path(uint64_t parent, uint32_t method) {
    uint64_t h = hash_pair(parent, method, 0);
    return h ? h : 1;
}

struct tree_row {
    uint32_t node;
    uint32_t parent_row; /* SNAPSHOT_ROOT for roots */
    uint64_t path;       /* hash of the path: the row's identity */
    uint64_t pipes;      /* bit i: a line passes at level i */
    uint16_t level;      /* of indentation */
    bool open;
    bool leaf;   /* it has nothing below, and is not a closed root */
    bool branch; /* a line leads to it */
    bool last;   /* it is the last of its siblings */
};

struct tree_rows {
    struct tree_row *row; /* in order from top to bottom */
    uint32_t count;
    /* internal state */
    uint32_t capacity;
    struct id_map open;        /* by path */
    struct tree_level *levels; /* scratch: one per depth */
    uint32_t level_capacity;
};

/* Makes the rows of this tree. `seed` keeps trees of different kinds apart. If there is no memory
 * for all rows, the first ones are there. */
void tree_rows_build(struct tree_rows *t, const struct snapshot *s, uint64_t seed);
void tree_rows_free(struct tree_rows *t);

/* Opening and closing take effect with the next build. */
void tree_rows_close(struct tree_rows *t, uint64_t path);
void tree_rows_close_all(struct tree_rows *t);
/* Opens a row, and rows further down as long as one child has at least 90 % of its parent's
 * total. Nothing is below a closed root of the snapshot until the next answer. */
void tree_rows_open(struct tree_rows *t, const struct snapshot *s, uint32_t row);
/* Opens the hottest path from a row down to a leaf. */
void tree_rows_open_hottest(struct tree_rows *t, const struct snapshot *s, uint32_t row);
/* Opens a row and everything below it; SNAPSHOT_ROOT: the whole tree. False if some nodes stay
 * closed because there were too many. */
bool tree_rows_open_below(struct tree_rows *t, const struct snapshot *s, uint64_t seed,
                          uint32_t row);
/* Opens all nodes above a node. */
void tree_rows_reveal(struct tree_rows *t, const struct snapshot *s, uint64_t seed, uint32_t node);
bool tree_rows_is_open(const struct tree_rows *t, uint64_t path);

#endif
