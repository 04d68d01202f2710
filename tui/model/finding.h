/*
 * Notable facts about the model's answer, one line each: where the time is spent, what stops the
 * JVM, what it waits for, and what is wrong with the profile. The order is always the same, so that
 * lines do not swap places.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_FINDING_H
#define JTOP_TUI_MODEL_FINDING_H

#include "tui/model/model.h"

#include <stdbool.h>

#define FINDINGS_MAX 12

struct finding {
    int what;      /* kind of finding; the same from one answer to the next */
    bool is_worse; /* a problem to fix, not only information */
    char text[200];
    uint32_t method;                   /* METHOD_NONE: not about a method */
    const struct model_thread *thread; /* NULL: not about a thread; lives as long as the answer */
    int view;                          /* enum live_view with more about it; -1: none */
};

/* Returns the number of findings: 0 without an answer, otherwise at least 1. */
int finding_list(const struct model *m, struct finding out[FINDINGS_MAX]);

/* The VM's pauses in the last minute, as far as it is known: its seconds, and the time the VM was
 * paused for collections (0) and for other reasons (1), in total and in the worst second. */
struct finding_pauses {
    uint32_t seconds;
    uint64_t paused_ns[2], most_ns[2];
};
struct finding_pauses finding_pauses(const struct model *m);

#endif
