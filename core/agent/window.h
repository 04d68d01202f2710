/*
 * Limits sampling to the time from a call of one native function to a call of another
 * (request.window_begin and window_end), e.g. the time the VM takes to bring all threads to a
 * safepoint. Breakpoints at both functions (trap.h) report the calls, of any thread. The first call
 * of window_begin begins a window, and the next call of window_end ends it. Where both are the same
 * function, each call ends a window and begins the next.
 *
 * Where the first instruction of a function cannot be emulated (trap_step.h), the two breakpoints
 * take turns: the one that was hit is removed, and the other one is set.
 *
 * Context: window_open and window_close belong to the agent's thread and VMDeath. What the
 * breakpoints call is signal-safe.
 */
#ifndef JTOP_AGENT_WINDOW_H
#define JTOP_AGENT_WINDOW_H

#include "core/agent/sampler.h"

struct window {
    struct sampler *sampler; /* NULL: not open */
    uint64_t begin, end;     /* addresses; end 0: the window never ends */
    bool marks;              /* request.window_marks */
    bool in_turns;
    int trap[2];               /* breakpoints at begin and end; -1: none */
    _Atomic uint64_t since_ns; /* begin of the current window; 0: outside */
};

/* Returns 0, also if no window was requested; or -errno with the reason in `why`. */
int window_open(struct window *w, struct sampler *s, const struct wire_request *request, char *why,
                size_t why_bytes);
/* Ends the current window and removes the breakpoints. Idempotent. */
void window_close(struct window *w);

#endif
