/*
 * The answer to the question that is asked every second, kept: what every node, path and method has
 * collected of one event since the beginning. Samples that come are put on a list; the next
 * snapshot adds each to the frames of its stack. That is some thousand additions, where summing up
 * everything anew takes a pass over the whole tree.
 *
 * Two events are kept, those that were asked for last. Weights may be taken back: sums wrap, and
 * come out right in the end.
 *
 * Context: pure; the profile's lock held.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_STANDING_H
#define JTOP_PROFILE_SNAPSHOT_STANDING_H

#include "core/profile/profile.h"

struct total {
    uint64_t weight, count;
};

/* A method's row as it is being counted: small, because there are many and they are met in no
 * order. */
struct row {
    uint64_t total;
    uint64_t tier[TIERS]; /* together the samples of the total */
};

/* Something to be added to a leaf and to all above it. */
struct standing_change {
    uint32_t node;
    uint64_t weight, count;
};

struct standing {
    bool valid;
    uint32_t event;
    uint64_t asked; /* when it was asked for last, as a serial number */
    struct row *row;
    struct total *self; /* these two by method */
    uint32_t methods, row_cap, self_cap;
    bool has_tree;
    struct total *total;  /* by node, of the whole subtree … */
    uint64_t *path_total; /* … and weight by path; these two with has_tree only */
    uint32_t nodes, total_cap, paths, path_cap;
    struct standing_change *change;
    uint32_t changes, change_cap;
};

enum { STANDING = 2 };

/* A sample was counted, or with negative numbers, wrapped, taken back. */
void standing_count(struct profile *p, uint32_t event, uint32_t node, uint64_t weight,
                    uint64_t count);
/* What is kept of the event is no longer true. */
void standing_forget(struct profile *p, uint32_t event);
/* What the event has collected up to now, valid until the next call. NULL: no memory. */
const struct standing *standing_get(struct profile *p, uint32_t event, bool tree);
void standing_free(struct standing *s);

#endif
