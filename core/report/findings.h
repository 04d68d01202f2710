/*
 * Notable facts about a profile, one line each: where the time is spent, what stops the JVM, what it
 * waits for, and what is wrong with the profile. The order is always the same, so that lines do not
 * swap places.
 *
 *      tui/model/finding.c ───────────────┐
 *                                         ├▶ struct findings_of ─▶ findings_list ─▶ struct finding
 *      core/http/serve/api/api_findings.c ┘
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_REPORT_FINDINGS_H
#define JTOP_REPORT_FINDINGS_H

#include "attach/find/jvm.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/session/session.h"

#include <stdbool.h>

#define FINDINGS_MAX 12
#define FINDINGS_SECONDS 60u /* how far back the VM's pauses are examined */

/* Where there is more about a finding. */
enum finding_more {
    FINDING_MORE_NONE,
    FINDING_MORE_LOCKS,
    FINDING_MORE_ALLOC,
    FINDING_MORE_STATUS
};

struct finding {
    int what;      /* kind of finding; the same from one answer to the next */
    bool is_worse; /* a problem to fix, not only information */
    char text[200];
    uint32_t method;    /* METHOD_NONE: not about a method */
    int event;          /* enum event_kind: of the method's share; otherwise that of the answer */
    const void *thread; /* findings_thread.self of the thread it is about; NULL: not about one */
    enum finding_more more;
};

struct findings_thread {
    const void *self; /* what a finding names it by; not NULL */
    const char *name; /* "": not known; lives as long as what was asked */
    uint32_t tid;
    bool is_virtual;
    uint64_t weight;        /* in the answer */
    const uint64_t *states; /* weight of its wall clock samples, by state; NULL: none */
};

/* A list of threads, which the caller may keep in any form. */
struct findings_threads {
    uint32_t count;
    void (*get)(const void *arg, uint32_t i, struct findings_thread *out);
    const void *arg;
};

/* What the findings are about. Everything belongs to the caller. */
struct findings_of {
    int event;                     /* enum event_kind: of the answer */
    const struct snapshot *answer; /* with query.locks */
    /* Rows of these events, for the same question; the answer itself if it is of that event. NULL:
     * the event is not sampled. */
    const struct snapshot *cpu, *alloc;
    struct findings_threads threads;  /* of the answer, by weight, descending */
    struct findings_threads sleepers; /* with wall clock samples; may be the same list */
    const struct jvm *jvm;
    const struct session_status *status;
    bool held;     /* the answer is of a time that is over */
    bool selected; /* of a thread, method, package or filter: shares are not of the whole profile */
    const struct profile_second *second; /* complete seconds before now, oldest first */
    uint32_t seconds;
    /* Names: `method` never returns NULL; `name` writes the method's name, and returns `out`. */
    const struct method *(*method)(const void *arg, uint32_t id);
    const char *(*name)(const void *arg, uint32_t id, char *out, size_t size);
    const void *arg;
    unsigned style; /* of frame_name, for classes */
};

/* Returns the number of findings, at least 1. */
int findings_list(const struct findings_of *of, struct finding out[FINDINGS_MAX]);

/* The VM's pauses in the last FINDINGS_SECONDS, as far as they are known: the number of seconds, and
 * the time the VM was paused for collections (0) and for other reasons (1), in total and in the worst
 * second. */
struct findings_pauses {
    uint32_t seconds;
    uint64_t paused_ns[2], most_ns[2];
};
struct findings_pauses findings_pauses(const struct profile_second *second, uint32_t seconds);

#endif
