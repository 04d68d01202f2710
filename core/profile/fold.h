/*
 * Programs start and end threads all the time, but the number of rows is limited. When rows get
 * scarce, this code folds threads: it adds a thread's sums to a shared row and frees the thread's
 * own row. It folds threads that have ended and that the history no longer contains into the row of
 * the others. The end of a virtual thread is never reported, so it folds those that were not
 * sampled for longest, into a separate row of others. Sums are kept; the single thread is lost.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_FOLD_H
#define JTOP_PROFILE_FOLD_H

#include "core/profile/profile_state.h"

/* Folds threads if that is needed and likely to help. `now`: the newest second for which data has
 * arrived. If there is no memory, nothing happens: new threads then share the row of the others.
 * Positions of threads and in tallies change. */
void fold_threads(struct profile *p, uint64_t now);

#endif
