/*
 * Describes how good a profile is, from a session's status: for files, for the screen, for stderr.
 *
 * Context: frontend, any thread.
 */
#ifndef JTOP_REPORT_QUALITY_H
#define JTOP_REPORT_QUALITY_H

#include "attach/load/standstill.h"
#include "core/export/export.h"
#include "core/session/session.h"

/* Memory for the texts that a struct export_quality points to. */
struct quality_text {
    char jvm[320], precise[64], how[440];
};

/* Fills in what a file states about one event, an enum event_kind. `q` points into `st`
 * and `room`. */
void quality_of_event(struct export_quality *q, const struct session_status *st, int event,
                      const struct jvm *j, struct quality_text *room);

/* Returns the event's name as it was requested: "page-faults". `event` is an enum event_kind. */
const char *quality_event_name(const struct session_status *st, int event);

/* Returns the number of samples whose stack walk failed. Stacks that were only cut for depth do not
 * count. */
uint64_t quality_failed(const struct session_status *st);

/* "ctimer: no perf_events: …": why an event is not sampled in the best way; "" if it is.
 * Returns out. */
const char *quality_how(const struct session_status *st, int event, char *out, size_t size);

/* Adds the effect of the JVM's CPU quota, if it was large. */
void quality_limit(struct export_quality *q, const struct session_cpu *cpu);

/* "walker vm instead of asgct: REASON" if another walker than `asked` is used, otherwise "". Only
 * for JVMs that we attached to: an agent that started by itself was not asked for a walker.
 * Returns out. */
const char *quality_walker(const struct session_status *st, enum wire_walk asked, char *out,
                           size_t size);

/* "12 methods recompiled, 34 ms": the effect of session_options.precise. Returns out. */
const char *quality_precise(const struct session_status *st, char *out, size_t size);

/* "JVM 42 is stopped by a signal: kill -CONT 42 continues it"; "" if the JVM is not stopped.
 * Returns out. */
const char *quality_standstill(enum standstill why, pid_t pid, pid_t tracer, char *out,
                               size_t size);

#endif
