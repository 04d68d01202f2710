/*
 * A profile's state as Prometheus reads it (text format 0.0.4): samples, drops and failed walks,
 * and what profiling costs.
 *
 * Context: pure.
 */
#ifndef JTOP_REPORT_METRICS_H
#define JTOP_REPORT_METRICS_H

#include "core/base/text.h"
#include "core/session/session.h"

/* Appends all of it. `own_rss` is this process's memory in bytes. */
void metrics_write(struct text *out, const struct session_status *st, const struct jvm *j,
                   uint64_t own_rss);

#endif
