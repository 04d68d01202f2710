/*
 * What was sampled so far, as records for one who begins to look on: each second's samples by
 * thread and stack, and the VM's pauses. Their names have ids of their own, which neither the
 * stream's nor anybody's are, so that both can follow one another.
 *
 * Not in it: who waited for whom, what is still alive of what was allocated, and threads' states:
 * the profile does not keep them in a form that could be said again.
 *
 * Whoever wants it takes it all at one moment, and then tells it bit by bit, while the stream goes
 * on: what is in it is what was there at that moment.
 *
 * Context: drain thread, without the profile's lock, which is taken to look at the samples only:
 * stacks and names are nobody else's to change.
 */
#ifndef JTOP_DECODE_PAST_H
#define JTOP_DECODE_PAST_H

#include "core/decode/decoder.h"

#include <pthread.h>

/* Beyond, what is left of a thread and event is one sample without a stack. Sums stay right. */
#define PAST_BYTES_MAX (96u << 20)

struct past;

/* `lock` is the profile's. NULL: no memory. */
struct past *past_new(struct decoder *d, pthread_mutex_t *lock, struct feed *f, uint64_t bytes_max);
void past_free(struct past *p); /* NULL is fine */

/* Takes one event's samples: to be called until it returns 0, and no record may be decoded in
 * between. 1: there is more to take; -ENOMEM. Up to a second for two million. */
int past_take(struct past *p);
/* Writes some of it, for some 50 ms at most. 1: there is more; 0: that was all; -ENOMEM. */
int past_tell(struct past *p);

#endif
