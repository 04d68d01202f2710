/*
 * Programs start and end threads all the time, but the number of rows is limited. When rows get
 * scarce, this code folds threads: it adds a thread's sums to a shared row and frees the thread's
 * own row. Threads that have ended and that the history no longer contains are folded into the row
 * [other threads]. The end of a virtual thread is never reported, so the virtual threads whose last
 * sample is oldest are folded, into the row [other virtual threads]. All sums stay correct, but the
 * folded threads can no longer be told apart.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_FOLD_H
#define JTOP_PROFILE_FOLD_H

#include "core/profile/profile_state.h"

/* Folds threads if that is needed and likely to help. `now`: the newest second for which data has
 * arrived. If there is no memory, nothing happens: new threads then share the row [other
 * threads]. The indexes of threads change, and so do those of tally entries. */
void fold_threads(struct profile *p, uint64_t now);

#endif
