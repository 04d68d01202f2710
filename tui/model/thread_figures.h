/*
 * The figures that the threads view shows of a thread, or of several threads together.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_THREAD_FIGURES_H
#define JTOP_TUI_MODEL_THREAD_FIGURES_H

#include "tui/model/model.h"

struct thread_figures {
    uint32_t threads;   /* number of threads included */
    double cpu_percent; /* of one core; < 0: not known */
    uint64_t weight, samples;
    uint64_t states[PROFILE_STATES]; /* of the wall clock samples; all 0: none */
    double share[EVENT_KINDS];       /* of the other events that have rows, in percent */
    uint64_t spark[MODEL_SPARKS];
    struct diff_change change; /* chance: true if it is for every thread */
};

/* Adds a thread to `f`, which is zeroed or has other threads already. */
void thread_figures_add(struct thread_figures *f, const struct model *m,
                        const struct model_thread *t);

/* Returns the bytes allocated per second, from the alloc samples; < 0: no samples. */
double thread_alloc_rate(const struct model *m, const struct thread_figures *f);

/* Returns the share of time spent waiting for locks, in percent, for several threads the mean; < 0:
 * not sampled. It is the larger of two figures: the lock samples' waits for monitors and the locks
 * of java.util.concurrent; or the wall clock samples in entering monitors, which include waits that
 * have not ended. Parking alone does not count, because idle threads of a pool park too. */
double thread_blocked(const struct model *m, const struct thread_figures *f);

#endif
