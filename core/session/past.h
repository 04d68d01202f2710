/*
 * What was sampled so far, as records for one who begins to look on: each second's samples by
 * thread and stack, and the VM's pauses. Their names have ids of their own, which neither the
 * stream's nor anybody's are, so that both can follow one another.
 *
 * Not in it: who waited for whom, what is still alive of what was allocated, and threads' states:
 * the profile does not keep them in a form that could be said again.
 *
 * Context: drain thread, without the profile's lock, which is taken to look at the samples only:
 * stacks and names are nobody else's to change.
 */
#ifndef JTOP_SESSION_PAST_H
#define JTOP_SESSION_PAST_H

#include "core/session/decoder.h"

#include <pthread.h>

#define PAST_BYTES_MAX (96u << 20) /* beyond, stacks are left out; sums stay right */

/* `lock` is the profile's. -ENOMEM: some of it is missing. */
int past_write(struct decoder *d, pthread_mutex_t *lock, struct feed *f);

#endif
