/*
 * What a sampled object stands for.
 *
 * The VM draws points on the bytes that a thread allocates, at exponentially distributed distances
 * of `interval` in the mean, and reports the objects that they lie in. One of `size` bytes is hit
 * with the probability p = 1 - exp(-size / interval), so it stands for size / p bytes: itself, and
 * interval * (size / interval) / (exp(size / interval) - 1) of those that were missed.
 *
 * The VM's points are denser than that where large objects are among the others (JDK 11-23:
 * ThreadLocalAllocBuffer::set_sample_end counts the same bytes again after every object that does
 * not fit into the buffer, and pick_next_sample starts over within large ones). So the second part
 * is scaled by what was missed in fact: the thread's own counter tells how much it has allocated
 * between two samples. Large objects, which are never missed, are left as they are.
 *
 * Context: any thread, several at once.
 */
#ifndef JTOP_AGENT_ENGINE_ALLOC_WEIGHT_H
#define JTOP_AGENT_ENGINE_ALLOC_WEIGHT_H

#include "core/agent/engine/engine.h"

#include <stdatomic.h>
#include <stdint.h>

struct alloc_weight {
    uint64_t interval;
    /* Of late, in bytes: what was missed between samples, by the counter and by the formula. */
    _Atomic uint64_t missed, expected;
};

/* The bytes that an object stands for. `counted` is the thread's counter, this object included; 0:
 * not known. `t` is what is kept of the thread, or NULL. */
uint64_t alloc_weight_of(struct alloc_weight *w, struct engine_thread *t, uint64_t size,
                         uint64_t counted);

#endif
