/*
 * Keeps the agent's cost below a share of one CPU (--max-overhead). It makes intervals longer, and
 * shorter again if there is room.
 *
 * The caller passes the agent's CPU time so far once a second. The budget decides on one factor
 * for the intervals of all engines whose samples have a weight: CPU clocks, wall clock,
 * allocation, counted events. Thresholds (waits for locks, calls of a method) have another meaning
 * and do not change.
 *
 * A step that does not make the agent cheaper is undone: sampling is then not the cause of the
 * cost, and a coarser profile would be useless. The status reports this, and after a while the step
 * is tried again.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_SESSION_DRAIN_BUDGET_H
#define JTOP_SESSION_DRAIN_BUDGET_H

#include "core/session/session.h"

#define BUDGET_FACTOR_MAX 1024

struct budget {
    uint32_t limit_ppm;    /* 0: no limit, and nothing is ever decided */
    uint32_t factor;       /* for all intervals; at least 1 if there is a limit */
    uint32_t steps;        /* number of changes */
    uint32_t measured_ppm; /* in the last measured period */
    bool exhausted;        /* over the limit, and longer intervals do not help or are not
                              possible */
    /* Start of the current period, and the CPU time spent until then. 0: no period has begun. */
    uint64_t since_ns, since_spent;
    uint64_t settle_ns;                 /* CPU time spent before this moment was caused by the
                                           change itself */
    uint32_t before_ppm, before_factor; /* the state before the last lengthening, for
                                           comparison; 0: none */
    uint64_t again_ns;                  /* after a useless step, intervals are not made longer
                                           before this moment */
};

void budget_init(struct budget *b, uint32_t limit_ppm);

/* Sampling starts, or starts again: the cost of the start is not counted. */
void budget_restart(struct budget *b, uint64_t now_ns);

/* `spent_ns`: CPU time of the agent so far; it may decrease if another agent was loaded. True: the
 * factor has changed. */
bool budget_look(struct budget *b, uint64_t now_ns, uint64_t spent_ns);

/* The new intervals could not be requested from the agent: restores the factor. */
void budget_undo(struct budget *b, uint32_t factor);

/* Returns the request with the interval to use instead of the one in `asked`; an interval of 0 is
 * the engine's default. */
struct wire_engine_request budget_apply(const struct budget *b,
                                        const struct wire_engine_request *asked);

/* Describes the budget for people; `engine`: the requested engines. */
void budget_show(const struct budget *b, const struct wire_engine_request *engine, uint32_t engines,
                 struct session_budget *out);

#endif
