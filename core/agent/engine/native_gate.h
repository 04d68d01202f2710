/*
 * Entry and exit of hooks, which libraries call instead of the real functions (imports.h). A hook
 * learns whether the engine runs; the engine can wait until no thread is inside a hook. Counters
 * are spread over cache lines, because every malloc of the process may use them.
 *
 * Context: native_gate_open and native_gate_shut belong to the agent's thread; the rest is
 * signal-safe, in any thread. In a child after fork no samples are taken, because the ring belongs
 * to the parent.
 */
#ifndef JTOP_AGENT_ENGINE_NATIVE_GATE_H
#define JTOP_AGENT_ENGINE_NATIVE_GATE_H

#include "core/agent/engine/engine.h"

#define NATIVE_GATE_STRIPES 64u

struct native_stripe {
    _Alignas(64) _Atomic uint32_t inside;
    _Atomic uint64_t due; /* weight that is in no sample yet */
};

struct native_gate {
    struct engine_run *_Atomic run; /* NULL: shut */
    uint32_t pid;
    struct native_stripe stripe[NATIVE_GATE_STRIPES];
};

void native_gate_open(struct native_gate *g, struct engine_run *run);
/* Closes the gate; waits until no thread is inside. */
void native_gate_shut(struct native_gate *g);

/* NULL: the gate is shut; do not call native_gate_leave. Between the two calls, the caller must not
 * block. */
struct native_stripe *native_gate_enter(struct native_gate *g);
void native_gate_leave(struct native_stripe *stripe);

/* Returns the weight of a sample to be taken now; 0: no sample is due. With an interval of 0 or 1,
 * or a weight of at least an interval, that is the whole weight. Otherwise weights are added up: a
 * sample gets whole intervals, and the rest is kept for later. */
uint64_t native_gate_due(struct native_stripe *stripe, uint64_t interval, uint64_t weight);

/* Takes a sample of the hook's caller. `frame`: the hook's frame. `real`: the real function, which
 * is the leaf. Call it inside the gate. True: the sample is in the ring. */
bool native_gate_sample(const struct native_gate *g, const void *frame, uintptr_t real,
                        uint64_t weight, uint64_t live_id);

#endif
