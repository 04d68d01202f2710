/*
 * Sampling between two native functions only: from a call of the one to a call of the other
 * (request.window_begin and window_end), e.g. the time the VM takes to bring all threads to a
 * safepoint. Breakpoints at both (trap.h) tell. Whichever thread calls them: a window begins with
 * the first call of the one and ends with the first of the other after that. One function given
 * for both ends a window and begins the next.
 *
 * Where a function begins with an instruction that cannot be done for the thread, the breakpoint
 * that was met is taken out and the other one put in, in turns.
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
    int trap[2];               /* of begin and end; -1: none */
    _Atomic uint64_t since_ns; /* 0: outside */
};

/* 0, also where no window is asked for. -errno with the reason in `why`. */
int window_open(struct window *w, struct sampler *s, const struct wire_request *request, char *why,
                size_t why_bytes);
/* A window that is open ends. Idempotent. */
void window_close(struct window *w);

#endif
