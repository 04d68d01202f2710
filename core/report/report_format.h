/*
 * Files:
 *   event_trouble  what is wrong with the sampling of an event
 *   findings       notable facts about a profile, one line each
 *   metrics        metrics of profiled JVMs in Prometheus text format
 *   metrics_top    hottest methods of the last minute, for the metrics
 *   quality        statements on how good a profile is, from the session's status
 *   report_format  report of a session in any export format, in memory
 *
 * Makes one report of a session's data in any format, in memory: the file that -f writes, the
 * answer to a URL, the body of an upload.
 *
 *      session ─▶ report_view (locked: status, JVM, profile)
 *              ─▶ report_part (one event: query, snapshot, quality)
 *              ─▶ exporter    ─▶ text
 *
 * Context: frontend, any thread. The session is locked while its names are read, but not all the time:
 * its samples are taken in while a report is written.
 */
#ifndef JTOP_REPORT_REPORT_FORMAT_H
#define JTOP_REPORT_REPORT_FORMAT_H

#include "core/base/text.h"
#include "core/export/export.h"
#include "core/report/quality.h"
#include "core/session/session.h"

/* A session's counters at one moment. A report covers what was counted between two marks. */
struct report_mark {
    uint64_t elapsed_ns; /* sampling time */
    uint64_t samples, windows, window_ns;
    uint64_t event_samples[EVENT_KINDS], dropped[EVENT_KINDS];
    uint64_t failed[WIRE_FAILURES];
};

void report_mark(struct session *s, struct report_mark *out);

struct report_request {
    const struct exporter *exporter;
    struct query query;           /* its `event` is an enum event_kind; this code sets `tree`, and
                                     what the exporter and `export` require (report_query) */
    struct export_options export; /* this code sets `question` */
    const int *event;             /* several events in one file, if the format has write_all; NULL:
                                     query.event */
    uint32_t events;
    uint64_t elapsed_ns; /* sampling time that the report covers; 0: all since `since`, or the whole
                            session. If it is set without `since`, the counters of the whole session
                            (drops, failures) are left out */
    const struct report_mark *since; /* the counters at the start of the reported time; NULL:
                                        all zero */
};

/* Appends the report to `out`. 0; -ENOMEM, -ENODATA (an event that was neither sampled nor
 * requested), -EINVAL (several events in a format for one event), with a message and exit code. */
int report_format(struct session *s, const struct report_request *q, struct text *out,
                  struct err *e);

/* ---- the steps of report_format, for callers that write more than one report ---- */

struct report_view {
    struct session *session;
    struct session_status status;
    struct jvm jvm;
    struct session_cpu cpu;
    struct profile *profile;
    struct export_lock lock; /* the session's */
};

/* Waits until the session has caught up (session_catch_up), and locks it; report_close unlocks it. In
 * between, v->lock may be an option of exports. */
void report_open(struct report_view *v, struct session *s);
void report_close(struct report_view *v);
/* Takes the present state of the session, which may have changed while v->lock was given up. */
void report_refresh(struct report_view *v);

/* Sets the fields of a query that follow from format and options: inverted, by_thread, carriers,
 * tiers, tree. */
void report_query(struct query *q, const struct exporter *x, const struct export_options *o);

/* One event. It must not be moved: the quality points into it and into the view. */
struct report_part {
    struct query query;
    struct quality_text text;
    struct export_quality quality;
    struct snapshot *snapshot; /* free it with snapshot_free */
};

/* Takes the snapshot for part->query. 0 or -ENOMEM. */
int report_take(struct report_part *part, const struct report_view *v);

/* Writes all parts as one text; the caller has set options->question. 0 or -ENOMEM, with a
 * message. */
int report_write(const struct report_view *v, const struct exporter *x,
                 const struct export_part *part, int parts, const struct export_options *options,
                 struct text *out, struct err *e);

#endif
