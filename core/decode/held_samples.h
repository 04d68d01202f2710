/*
 * A bounded queue, in order of arrival, of what waits for a name: the agent may publish a method,
 * class or stub a moment after the first sample that has it, and a thread's name after the thread's
 * first sample.
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_DECODE_HELD_SAMPLES_H
#define JTOP_DECODE_HELD_SAMPLES_H

#include "core/profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELD_SAMPLES_MAX 4096u
#define HELD_BYTES_MAX (16u << 20)

/* What is counted for a record, once its names are known. */
struct delivery {
    struct profile_sample sample; /* for a lock wait: only the waiter's thread */
    struct profile_lock lock;
    bool is_lock;
    bool undecided;   /* it is not known whether the thread is wanted: it has no name yet */
    uint64_t live_id; /* 0: not followed, or already gone */
    uint64_t awaited; /* the key of the first name it waits for; 0: all are there */
    uint32_t frames;  /* in `frame` and `key`; for a lock wait, the last one is the lock's class */
    struct profile_frame *frame;
    uint64_t *key; /* per frame: 0, or the key of the name it lacks */
};

struct held_sample {
    struct held_sample *next;
    uint64_t arrived_ns; /* on the decoder's clock */
    size_t bytes;
    struct delivery what; /* its frames and keys follow in the same block */
};

struct held_samples {
    struct held_sample *first, **last;
    uint32_t count;
    size_t bytes;
};

void held_samples_init(struct held_samples *h);

/* Appends a copy with its frames and keys. NULL: no room or no memory. */
struct delivery *held_samples_add(struct held_samples *h, const struct delivery *what,
                                  uint64_t arrived_ns);

/* Removes the sample that *link points at; the caller frees it. */
struct held_sample *held_samples_take(struct held_samples *h, struct held_sample **link);

#endif
