/*
 * One report of what a session has, in any of the formats, in memory: what -f writes to a file, the
 * answer to a URL, the body of an upload.
 *
 * Context: frontend, any thread. The session is locked while its names are read.
 */
#ifndef JTOP_REPORT_REPORT_FORMAT_H
#define JTOP_REPORT_REPORT_FORMAT_H

#include "core/base/text.h"
#include "core/export/export.h"
#include "core/session/session.h"

struct report_request {
    const struct exporter *exporter;
    struct query query;           /* its `event` is an enum session_event; `tree` is set here */
    struct export_options export; /* `question` is set here */
    uint64_t elapsed_ns; /* sampling time that the report is about; 0: all of the session's. With
                            it, the counters of the whole session (drops, failures) are left out */
};

/* Appends it. 0; -ENOMEM, -ENODATA (the event was not sampled), with a message and exit code. */
int report_format(struct session *s, const struct report_request *q, struct text *out,
                  struct err *e);

#endif
