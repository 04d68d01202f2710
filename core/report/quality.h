/*
 * How good a profile is, from a session's status: for files, for the screen, for stderr.
 *
 * Context: frontend, any thread.
 */
#ifndef JTOP_REPORT_QUALITY_H
#define JTOP_REPORT_QUALITY_H

#include "attach/load/standstill.h"
#include "core/export/export.h"
#include "core/session/session.h"

/* Room for what a struct export_quality points to. */
struct quality_text {
    char jvm[320], precise[64], how[440];
};

/* What a file states of one event, an enum event_kind. Points into `st` and `room`. */
void quality_of_event(struct export_quality *q, const struct session_status *st, int event,
                      const struct jvm *j, struct quality_text *room);

/* "ctimer: no perf_events: …": why an event is sampled in another way than the best there is, "" where
 * it is not so. Returns out. */
const char *quality_how(const struct session_status *st, int event, char *out, size_t size);

/* Adds what the JVM's CPU quota did, where that was much. */
void quality_limit(struct export_quality *q, const struct session_cpu *cpu);

/* "walker vm instead of asgct: REASON" where another walker than `asked` is in use, else "". For
 * what we attached to: who started by itself was not asked. Returns out. */
const char *quality_walker(const struct session_status *st, enum wire_walk asked, char *out,
                           size_t size);

/* "12 methods recompiled, 34 ms": what session_options.precise did. Returns out. */
const char *quality_precise(const struct session_status *st, char *out, size_t size);

/* "JVM 42 is stopped by a signal: kill -CONT 42 lets it go on", "" where it does not stand still.
 * Returns out. */
const char *quality_standstill(enum standstill why, pid_t pid, pid_t tracer, char *out,
                               size_t size);

#endif
