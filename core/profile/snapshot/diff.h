/*
 * Compares two results of the same kind of query: which rows take a larger share than before, and
 * which a smaller one.
 *
 * Shares are compared, not weights, so the two windows need not be equally long. Rows are matched
 * by their identity (method; path from the root), so the two snapshots may be of different times of
 * one profile.
 *
 * Context: pure, any thread. Both snapshots must outlive the diff and be of one profile.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_DIFF_H
#define JTOP_PROFILE_SNAPSHOT_DIFF_H

#include "core/profile/snapshot/snapshot.h"

struct diff;

/* Returns NULL if there is no memory. Trees are compared if both snapshots have a tree of the same
 * kind, or `before` has no samples; otherwise nodes are reported as unchanged. */
struct diff *diff_new(const struct snapshot *before, const struct snapshot *now);
void diff_free(struct diff *d);
/* Call it if samples count nothing: then no change is marked as chance. */
void diff_without_counts(struct diff *d);

struct diff_change {
    double percent; /* difference of shares in percentage points: 12 % now, 10 % before is +2 */
    bool chance;    /* chance explains the difference, or there are too few samples (chance.h) */
    bool is_new;    /* did not exist before. False for a node if the earlier tree left out light
                       nodes, unless its method is new */
};

/* The parameter is the row's index in `now`. */
struct diff_change diff_method_self(const struct diff *d, uint32_t row);
struct diff_change diff_method_total(const struct diff *d, uint32_t row);
struct diff_change diff_thread(const struct diff *d, uint32_t row);
struct diff_change diff_node(const struct diff *d, uint32_t node); /* change of its total */

#endif
