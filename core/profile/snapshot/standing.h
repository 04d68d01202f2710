/*
 * Keeps the sums that most queries of the screen need each second: for one event, the weight of
 * each node, path and method since the beginning, of all threads and without a filter. New samples
 * are put on a list; the next snapshot adds each to the frames of its stack. That costs some
 * thousand additions, while summing up everything again takes a pass over the whole tree.
 *
 * The sums of two events are kept: those that were queried last. If a weight is taken back, its
 * change is a negative number, wrapped around. The unsigned sums are correct when all changes are
 * added.
 *
 * Context: pure; the profile is locked.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_STANDING_H
#define JTOP_PROFILE_SNAPSHOT_STANDING_H

#include "core/profile/profile.h"

struct total {
    uint64_t weight, count;
};

/* A method's row while it is counted. It is small, because there are many rows and they are
 * accessed in random order. */
struct row {
    uint64_t total;
    uint64_t tier[TIERS]; /* together, these are the samples of the total */
};

/* A change to be added to a leaf and to all nodes above it. */
struct standing_change {
    uint32_t node;
    uint64_t weight, count;
};

struct standing {
    bool valid;
    uint32_t event;
    uint64_t asked; /* serial number of the last query for it */
    struct row *row;
    struct total *self; /* `row` and `self` are by method */
    uint32_t methods, row_cap, self_cap;
    bool has_tree;
    struct total *total;  /* by node, of the whole subtree; only with has_tree */
    uint64_t *path_total; /* weight by path; only with has_tree */
    uint32_t nodes, total_cap, paths, path_cap;
    struct standing_change *change;
    uint32_t changes, change_cap;
};

enum { STANDING = 2 };

/* Records that a sample was counted, or taken back (with negative numbers, wrapped around). */
void standing_count(struct profile *p, uint32_t event, uint32_t node, uint64_t weight,
                    uint64_t count);
/* Drops what is kept of the event, because it is no longer true. */
void standing_forget(struct profile *p, uint32_t event);
/* Returns what the event has collected until now, valid until the next call. NULL: no memory. */
const struct standing *standing_get(struct profile *p, uint32_t event, bool tree);
void standing_free(struct standing *s);

#endif
