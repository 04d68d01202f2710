/*
 * What stands out in the model's answer, a line each: where the time is, what stops the JVM, what
 * it waits for, and what is wrong with the profile. Always in the same order, so that lines do not
 * swap places.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_FINDING_H
#define JTOP_TUI_MODEL_FINDING_H

#include "tui/model/model.h"

#include <stdbool.h>

#define FINDINGS_MAX 12

struct finding {
    int what;      /* tells it from the others, from one answer to the next */
    bool is_worse; /* something to be mended, rather than known */
    char text[200];
    uint32_t method;                   /* METHOD_NONE: it is about none … */
    const struct model_thread *thread; /* … NULL: nor about one; lives as long as the answer … */
    int view;                          /* … but an enum live_view shows more of it; -1: none */
};

/* Returns how many: none without an answer, else at least one. */
int finding_list(const struct model *m, struct finding out[FINDINGS_MAX]);

/* Of the last minute that is known: its seconds, and the time the VM stood still for collections
 * (0) and for anything else (1), and the most in one second. */
struct finding_pauses {
    uint32_t seconds;
    uint64_t paused_ns[2], most_ns[2];
};
struct finding_pauses finding_pauses(const struct model *m);

#endif
