/*
 * Threads come and go for as long as a program runs; rows for them cannot. When places get
 * scarce, threads that have ended and of which the history keeps nothing any more are folded into
 * the row of the others; and virtual threads, whose end nobody tells, those not sampled for
 * longest, into a row of others of their own. Sums stay, the single thread goes.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_FOLD_H
#define JTOP_PROFILE_FOLD_H

#include "core/profile/profile_state.h"

/* Folds if it is needed and may help; `now` is the newest second there is news of. Without memory
 * nothing happens: there is always the row of the others. Thread and tally places change. */
void fold_threads(struct profile *p, uint64_t now);

#endif
