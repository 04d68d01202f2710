/*
 * Profiles' states as Prometheus reads them (text format 0.0.4): samples, drops and failed walks,
 * what profiling costs, and the hottest methods.
 *
 * Each family is there once, with a line for each JVM; lines are told apart by the pid. What the
 * reading process uses is a line of its own JVM where there is one, and one for all where there are
 * several.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_REPORT_METRICS_H
#define JTOP_REPORT_METRICS_H

#include "core/base/text.h"
#include "core/session/session.h"

#define METRICS_METHODS 10 /* of a JVM: so many series at a time */
#define METRICS_SECONDS 60 /* that their shares are of */
#define METRICS_NAME_MAX 200

struct metrics_method {
    char name[METRICS_NAME_MAX + 1]; /* without counters of generated classes; UTF-8 */
    double share;                    /* 0 to 1 */
};

/* The methods with the most self weight; those written alike are one. */
struct metrics_top {
    char event[64]; /* whose weight it is: CPU time where that is sampled */
    struct metrics_method method[METRICS_METHODS]; /* descending */
    uint32_t methods;
};

struct metrics_jvm {
    const struct session_status *status;
    const struct jvm *jvm;
    const struct metrics_top *top; /* NULL: no such lines */
};

/* Appends all of it, for one JVM. `own_rss` is this process's memory in bytes. */
void metrics_write(struct text *out, const struct session_status *st, const struct jvm *j,
                   uint64_t own_rss);
/* For any number of JVMs, no two of one pid. `own_cpu_ns` is this process's CPU time. */
void metrics_write_all(struct text *out, const struct metrics_jvm *jvm, uint32_t count,
                       uint64_t own_rss, uint64_t own_cpu_ns);

/* Looks for the hottest methods of the last METRICS_SECONDS, which end at the samples' clock's
 * second `latest`. The caller has locked the profile. -ENOMEM: there are none in `out`. */
int metrics_take_top(struct metrics_top *out, struct profile *p, const struct session_status *st,
                     uint64_t latest);

#endif
