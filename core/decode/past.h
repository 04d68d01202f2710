/*
 * What was sampled so far, as records for a viewer that joins: each second's samples by thread and
 * stack, and the VM's pauses. The names in these records have ids of their own, which no agent
 * uses, so the live stream can follow these records.
 *
 * The records do not say who waited for whom, and which allocated memory is still alive: the
 * profile does not keep that in a form that could be written as records.
 *
 * The caller takes everything at one moment, and then writes it bit by bit while the stream
 * continues. The records describe the state at that moment.
 *
 * Context: drain thread, without the profile's lock. The functions take the lock only to read the
 * samples; no other thread changes stacks and names.
 */
#ifndef JTOP_DECODE_PAST_H
#define JTOP_DECODE_PAST_H

#include "core/decode/decoder.h"

#include <pthread.h>

/* Beyond this, the rest of a thread's samples of an event is written as one sample without a stack.
 * Sums stay right. */
#define PAST_BYTES_MAX (96u << 20)

struct past;

/* `lock` is the profile's. NULL: no memory. */
struct past *past_new(struct decoder *d, pthread_mutex_t *lock, struct feed *f, uint64_t bytes_max);
void past_free(struct past *p); /* NULL is fine */

/* Takes the samples of one event. Call it until it returns 0; no record may be decoded in between.
 * 1: there is more to take; -ENOMEM. Takes up to a second for two million samples. */
int past_take(struct past *p);
/* Writes part of it, for about 50 ms at most. 1: there is more; 0: that was all; -ENOMEM. */
int past_tell(struct past *p);

#endif
