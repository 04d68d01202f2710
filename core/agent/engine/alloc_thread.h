/*
 * The allocating thread, for both engines that sample allocation. The number of bytes that it has
 * allocated comes from the VM's counters: a sum over its finished buffers and large objects, plus
 * the used part of its current buffer (TLAB) (source: thread.hpp, threadLocalAllocBuffer.hpp,
 * cooked_allocated_bytes, JDK 8-28).
 *
 * Context: alloc_counter_learn in the agent's thread; the rest in the thread itself, signal-safe
 * for threads that Java knows.
 */
#ifndef JTOP_AGENT_ENGINE_ALLOC_THREAD_H
#define JTOP_AGENT_ENGINE_ALLOC_THREAD_H

#include "core/agent/engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

/* Offsets in bytes, in a JavaThread. */
struct alloc_counter {
    bool known;
    int32_t allocated, tlab_start, tlab_top;
};

struct alloc_thread {
    uintptr_t java; /* JavaThread*; 0: not known */
    uint32_t tid;
    uint64_t counted; /* bytes so far; 0: not known. Wrong by one buffer while a collector retires
                         the current one */
    struct engine_thread *kept; /* NULL: not armed yet */
};

/* Finds the offsets. `known` stays false if the VM does not describe them. */
void alloc_counter_learn(struct alloc_counter *c);

/* Fills *out for the calling thread. False: it must not be sampled. */
bool alloc_thread_current(const struct engine_run *run, const struct alloc_counter *c,
                          struct alloc_thread *out);

/* The engines' arm and disarm. A thread's state begins as zero and needs no other setup. */
int alloc_thread_arm(struct engine_run *run, struct engine_thread *t, uint32_t index);
void alloc_thread_disarm(struct engine_run *run, struct engine_thread *t);

#endif
