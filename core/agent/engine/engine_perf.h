/*
 * Sampling by perf_events: a counter of its own for each thread, whose overflow sends that thread a
 * signal. Two engines work so, the CPU's clock and any other event, and both may run at once.
 *
 * Where the JVM may open none, the reader does it for us, if it can (core/wire/broker.h).
 *
 * Both use the same signal, and the kernel keeps only one of a kind pending in a thread: whichever
 * comes stands for all. So every handler reads both events of its thread.
 *
 * Context: as engine.h states for its functions.
 */
#ifndef JTOP_AGENT_ENGINE_ENGINE_PERF_H
#define JTOP_AGENT_ENGINE_ENGINE_PERF_H

#include "core/agent/engine/engine.h"

/* Takes the samples that wait for the calling thread. For handlers of other engines that use the
 * same signal: perf's may have come while theirs was pending, and was lost. `index` is the
 * thread's. Signal-safe. */
void perf_catch_up(int signo, uint32_t index, void *context);

/* When a thread's first sample is due: anywhere in the first interval, so that threads that end
 * sooner get the share of samples that is theirs. */
static inline uint64_t engine_first_interval(uint64_t interval, uint64_t seed) {
    seed = (seed + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    return 1 + (seed ^ seed >> 29) % interval;
}

#endif
