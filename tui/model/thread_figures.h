/*
 * What the threads view shows of a thread, or of many threads together.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_THREAD_FIGURES_H
#define JTOP_TUI_MODEL_THREAD_FIGURES_H

#include "tui/model/model.h"

struct thread_figures {
    uint32_t threads;   /* it is of */
    double cpu_percent; /* of one core; < 0: not known */
    uint64_t weight, samples;
    uint64_t states[PROFILE_STATES]; /* of the wall clock samples; noughts: none */
    double share[EVENT_KINDS];       /* percent of the other events that have rows */
    uint64_t spark[MODEL_SPARKS];
    struct diff_change change; /* chance: no thread's is more */
};

/* Adds a thread to what was zeroed, or has others already. */
void thread_figures_add(struct thread_figures *f, const struct model *m,
                        const struct model_thread *t);

/* Bytes a second that are allocated, by the alloc samples; < 0: there are none. */
double thread_alloc_rate(const struct model *m, const struct thread_figures *f);

/* How much of the time goes into waiting for locks, in percent, of several threads the mean; < 0:
 * it is not sampled. By the lock samples, that is waits for monitors and java.util.concurrent's
 * locks; or by the wall clock, entering monitors, which sees waits that have not ended. The larger
 * of both. Parked alone does not count: so are idle threads of a pool. */
double thread_blocked(const struct model *m, const struct thread_figures *f);

#endif
