/*
 * Keeps what the agent costs below a share of one CPU (--max-overhead) by making intervals longer,
 * and shorter again where there is room.
 *
 * It is fed once a second with the agent's CPU time so far and decides on one factor for the
 * intervals of all engines whose samples carry a weight: CPU clocks, wall clock, allocation, counted
 * events. Thresholds (waits for locks, calls of a method) mean something else and stay.
 *
 * A step that does not make the agent cheaper is taken back: then it is not sampling that costs, and
 * a coarser profile would be for nothing. That is said, and tried again after a while.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_SESSION_DRAIN_BUDGET_H
#define JTOP_SESSION_DRAIN_BUDGET_H

#include "core/session/session.h"

#define BUDGET_FACTOR_MAX 1024

struct budget {
    uint32_t limit_ppm;    /* 0: none, and nothing is ever decided */
    uint32_t factor;       /* of all intervals; at least 1 once there is a limit */
    uint32_t steps;        /* it changed so often */
    uint32_t measured_ppm; /* over the last period looked at */
    bool exhausted;        /* over the limit, and longer intervals do not help or do not go */
    /* The period looked at began then, with so much CPU time spent. 0: none has begun. */
    uint64_t since_ns, since_spent;
    uint64_t settle_ns;                 /* what was spent before that is of the change itself */
    uint32_t before_ppm, before_factor; /* what the last lengthening is compared with; 0: none */
    uint64_t again_ns;                  /* not made longer before that, after a step in vain */
};

void budget_init(struct budget *b, uint32_t limit_ppm);

/* Sampling has begun, or begins anew: what it cost to begin is not counted. */
void budget_restart(struct budget *b, uint64_t now_ns);

/* `spent_ns`: CPU time of the agent so far; it may go back where another agent came in. True: the
 * factor is another one now. */
bool budget_look(struct budget *b, uint64_t now_ns, uint64_t spent_ns);

/* The engine could not be asked for it: back to that factor. */
void budget_undo(struct budget *b, uint32_t factor);

/* What the engine is asked for in place of `asked`, an interval of 0 being its default. */
struct wire_engine_request budget_apply(const struct budget *b,
                                        const struct wire_engine_request *asked);

/* For people; `engine` as asked for. */
void budget_show(const struct budget *b, const struct wire_engine_request *engine, uint32_t engines,
                 struct session_budget *out);

#endif
