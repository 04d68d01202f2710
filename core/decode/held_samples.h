/*
 * What waits for a name: the agent may publish a method, class or stub a moment after the first
 * sample that has it, and a thread's name after its first sample. A bounded queue, in order of
 * arrival.
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

/* What a record counts, once its names are known. */
struct delivery {
    struct profile_sample sample; /* of a lock wait: only the waiter's thread */
    struct profile_lock lock;
    bool is_lock;
    bool undecided;   /* whether its thread is wanted: its name is not known yet */
    uint64_t live_id; /* 0: not followed, or gone by now */
    uint64_t awaited; /* the key of the first name it waits for; 0: all are there */
    uint32_t frames;  /* of the stack, and of a lock wait one more: the lock's class */
    struct profile_frame *frame;
    uint64_t *key; /* per frame: 0, or the key of the name it lacks */
};

struct held_sample {
    struct held_sample *next;
    uint64_t arrived_ns; /* on the decoder's clock */
    size_t bytes;
    struct delivery what; /* its frames and keys lie behind it, in the same block */
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

/* Takes out the one that *link points at; the caller frees it. */
struct held_sample *held_samples_take(struct held_samples *h, struct held_sample **link);

#endif
