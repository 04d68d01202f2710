/*
 * The statistical weight of a sampled object.
 *
 * The VM chooses points in the sequence of bytes that a thread allocates. Their distances are
 * exponentially distributed with the mean `interval`. The VM reports the objects that contain these
 * points. An object of `size` bytes is hit with the probability p = 1 - exp(-size / interval), so
 * it stands for size / p bytes: its own size, and interval * (size / interval) / (exp(size /
 * interval) - 1) bytes of objects that were missed.
 *
 * If there are large objects among the others, the VM's points are denser than that (JDK 11-23:
 * ThreadLocalAllocBuffer::set_sample_end counts the same bytes again after every object that does
 * not fit into the buffer, and pick_next_sample starts over within large ones). So the second part
 * is scaled by the bytes that were really missed: the thread's counter tells how much it has
 * allocated between two samples. Large objects are never missed, so their weight hardly changes.
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
    /* Recently missed bytes between samples: by the thread's counter, and by the formula. */
    _Atomic uint64_t missed, expected;
};

/* Returns the number of bytes that an object stands for. `counted`: the thread's counter, including
 * this object; 0: not known. `t`: the thread's state, or NULL. */
uint64_t alloc_weight_of(struct alloc_weight *w, struct engine_thread *t, uint64_t size,
                         uint64_t counted);

#endif
