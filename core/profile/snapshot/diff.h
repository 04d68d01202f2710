/*
 * Two answers to the same kind of question, compared: what takes a larger part than before, and
 * what a smaller one.
 *
 * Parts, not weights: the two need not be equally long. A row is found by what it is (method;
 * path from the root), so the two may be of different moments of one profile.
 *
 * Context: pure, any thread; both snapshots outlive it, and are of one profile.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_DIFF_H
#define JTOP_PROFILE_SNAPSHOT_DIFF_H

#include "core/profile/snapshot/snapshot.h"

struct diff;

/* NULL: no memory. A tree is compared where both have one, of the same kind; in others' place,
 * nothing has changed. */
struct diff *diff_new(const struct snapshot *before, const struct snapshot *now);
void diff_free(struct diff *d);
/* Samples count nothing, so no change is called chance. */
void diff_without_counts(struct diff *d);

struct diff_change {
    double percent; /* points of the whole: 12 % now, 10 % before is +2 */
    bool chance;    /* no more than two samples of one program would differ by: |z| < 1.96 */
    bool is_new;    /* was not there before; false of a node where the tree before left out the
                       light ones, unless its method is new */
};

/* By the row's index in `now`. */
struct diff_change diff_method_self(const struct diff *d, uint32_t row);
struct diff_change diff_method_total(const struct diff *d, uint32_t row);
struct diff_change diff_thread(const struct diff *d, uint32_t row);
struct diff_change diff_node(const struct diff *d, uint32_t node); /* of its total */

#endif
