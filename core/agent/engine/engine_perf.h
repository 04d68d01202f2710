/*
 * Sampling by perf_events. Each thread has its own counter, which sends the thread a signal when it
 * overflows. Three engines work this way: two for the CPU clock, of which the first is preferred,
 * and one for any other event.
 *
 *   engine_cpu_sigtrap  The kernel sends SIGTRAP when the interrupted thread returns to the program
 *                       (perf_event_attr.sigtrap). That costs half of what the others do. It needs
 *                       a kernel of which the reader has proved that it works
 *                       (WIRE_ENGINE_SIGTRAP), and no debugger, which would stop at each SIGTRAP.
 *   engine_cpu_perf, engine_perf_event
 *                       The event's descriptor sends a signal. Its delivery takes one more
 *                       interrupt, which the processor sends itself, and switching the event on
 *                       again takes another.
 *
 * If the JVM may not open perf_events, the reader opens them for the agent if it can
 * (core/wire/broker.h).
 *
 * The last two use the same signal, and the kernel keeps only one signal of a number pending in a
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
