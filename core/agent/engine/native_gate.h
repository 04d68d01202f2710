/*
 * The way in and out for functions that libraries call instead of their own (imports.h): whether
 * the engine runs, and when nobody is inside any more. Counters are spread over cache lines, since
 * every malloc of the process may use them.
 *
 * Context: native_gate_enter, native_gate_due and native_gate_leave in any thread, signal-safe; the
 * rest belongs to the agent's thread. A child after fork finds the gate shut: the ring is not its
 * own.
 */
#ifndef JTOP_AGENT_ENGINE_NATIVE_GATE_H
#define JTOP_AGENT_ENGINE_NATIVE_GATE_H

#include "core/agent/engine/engine.h"

#define NATIVE_GATE_STRIPES 64u

struct native_stripe {
    _Alignas(64) _Atomic uint32_t inside;
    _Atomic uint64_t due; /* weight that no sample stands for yet */
};

struct native_gate {
    struct engine_run *_Atomic run; /* NULL: shut */
    uint32_t pid;
    struct native_stripe stripe[NATIVE_GATE_STRIPES];
};

void native_gate_open(struct native_gate *g, struct engine_run *run);
/* Returns when nobody is inside. */
void native_gate_shut(struct native_gate *g);

/* NULL: shut, and there is nothing to leave. No call that may block between the two. */
struct native_stripe *native_gate_enter(struct native_gate *g);
void native_gate_leave(struct native_stripe *stripe);

/* The weight a sample now stands for: all of it with an interval of 0 or 1, or where it is an
 * interval at least; else whole intervals of what came together, and the rest is kept for later;
 * 0: no sample is due. */
uint64_t native_gate_due(struct native_stripe *stripe, uint64_t interval, uint64_t weight);

/* Takes a sample of the caller of the hook whose frame this is. `real`: the function it wanted, the
 * leaf. Inside the gate. True: it is in the ring. */
bool native_gate_sample(const struct native_gate *g, const void *frame, uintptr_t real,
                        uint64_t weight, uint64_t live_id);

#endif
