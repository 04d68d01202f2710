/*
 * Sampling by perf_events. Each thread has its own counter, which sends the thread a signal when it
 * overflows. Two engines work this way, one for the CPU clock and one for any other event, and both
 * may run at once.
 *
 * If the JVM may not open perf_events, the reader opens them for the agent if it can
 * (core/wire/broker.h).
 *
 * Both engines use the same signal, and the kernel keeps only one signal of a number pending in a
 * thread. So every handler checks both events of its thread.
 *
 * Context: as for the functions in engine.h.
 */
#ifndef JTOP_AGENT_ENGINE_ENGINE_PERF_H
#define JTOP_AGENT_ENGINE_ENGINE_PERF_H

#include "core/agent/engine/engine.h"

/* Takes the samples that are pending for the calling thread. Handlers of other engines with the
 * same signal call it, because a signal of perf is lost if it comes while theirs is pending.
 * `index`: the thread's index. Signal-safe. */
void perf_catch_up(int signo, uint32_t index, void *context);

/* Returns when a thread's first sample is due: a random place in the first interval, so that
 * threads that end early get their share of samples. */
static inline uint64_t engine_first_interval(uint64_t interval, uint64_t seed) {
    seed = (seed + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    return 1 + (seed ^ seed >> 29) % interval;
}

#endif
