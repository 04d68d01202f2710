/*
 * The states of profiles as metrics for Prometheus (text format 0.0.4): samples, drops and failed
 * walks, the costs of profiling, and the hottest methods.
 *
 * Each family occurs once, with one line per JVM; lines differ in the pid. If there is one JVM,
 * what the reading process uses is a line of that JVM; if there are several, it is one line for
 * all of them.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_REPORT_METRICS_H
#define JTOP_REPORT_METRICS_H

#include "core/base/text.h"
#include "core/session/session.h"

#define METRICS_METHODS 10 /* number of methods per JVM, each a series */
#define METRICS_SECONDS 60 /* length of the time that the shares refer to */
#define METRICS_NAME_MAX 200

struct metrics_method {
    char name[METRICS_NAME_MAX + 1]; /* without counters of generated classes; UTF-8 */
    double share;                    /* 0 to 1 */
};

/* The methods with the most self weight; methods with the same printed name are merged. */
struct metrics_top {
    char event[64]; /* the event that the weight belongs to: CPU time if that is sampled */
    struct metrics_method method[METRICS_METHODS]; /* descending */
    uint32_t methods;
};

struct metrics_jvm {
    const struct session_status *status;
    const struct jvm *jvm;
    const struct metrics_top *top; /* NULL: no lines with methods */
};

/* Appends all metrics for one JVM. `own_rss` is this process's memory in bytes. */
void metrics_write(struct text *out, const struct session_status *st, const struct jvm *j,
                   uint64_t own_rss);
/* Does the same for any number of JVMs with different pids. `own_cpu_ns` is this process's
 * CPU time. */
void metrics_write_all(struct text *out, const struct metrics_jvm *jvm, uint32_t count,
                       uint64_t own_rss, uint64_t own_cpu_ns);

/* Finds the hottest methods of the last METRICS_SECONDS, which end at second `latest` of the
 * samples' clock. The caller has locked the profile. -ENOMEM: `out` contains no methods. */
int metrics_take_top(struct metrics_top *out, struct profile *p, const struct session_status *st,
                     uint64_t latest);

#endif
