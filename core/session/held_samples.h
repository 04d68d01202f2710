/*
 * Samples that wait for the name of one of their frames: the agent may publish a method, class or
 * stub a moment after the first sample that has it. A bounded queue, in order of arrival.
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_SESSION_HELD_SAMPLES_H
#define JTOP_SESSION_HELD_SAMPLES_H

#include "core/profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HELD_SAMPLES_MAX 4096u
#define HELD_BYTES_MAX (16u << 20)

struct held_sample {
    struct held_sample *next;
    uint64_t arrived_ns; /* on the decoder's clock */
    uint64_t awaited;    /* the key the first nameless frame waits for */
    size_t bytes;
    struct profile_sample sample; /* its frames point behind it, into the same block */
    uint64_t *key;                /* per frame: 0, or the key of the name it lacks */
};

struct held_samples {
    struct held_sample *first, **last;
    uint32_t count;
    size_t bytes;
};

void held_samples_init(struct held_samples *h);

/* Appends a copy with its frames and keys. False: no room or no memory; take one out first. */
bool held_samples_add(struct held_samples *h, const struct profile_sample *sample,
                      const uint64_t *key, uint64_t awaited, uint64_t arrived_ns);

/* Takes out the one that *link points at; the caller frees it. */
struct held_sample *held_samples_take(struct held_samples *h, struct held_sample **link);

/* The frames of a held sample, writable. */
struct profile_frame *held_sample_frames(struct held_sample *s);

#endif
