/*
 * What a URL asks of /prof, checked: the names and defaults of Hadoop's and HBase's servlets, and
 * the other options of a report.
 *
 *   pid            the JVM's number; without it, the only JVM
 *   event          cpu; several, separated by commas, if the output can hold them; also in
 *                  capitals
 *   method         Hive's: the event is the calls of this method
 *   duration       seconds, 10, at most PROF_DURATION_MAX; also 1m
 *   interval       in the event's unit (ns, bytes, counts), also 10ms, 512k; of several events the
 *                  first one's, or "10ms,512k" in their order
 *   jstackdepth, bufsize           frames kept, bytes of the ring; if nobody profiles the JVM yet
 *   output         flamegraph (html) svg tree summary traces flat collapsed jfr pprof …
 *   thread simple norm sig ann lib total reverse inverted      given, or not
 *   width height minwidth title    of the flame graph
 *   include exclude                patterns, several times
 *   wait           answers with the result, not with its address
 *   refreshDelay   additional seconds before a browser asks again
 *
 * Names of events that contain a path (uprobes, PMUs) are not accepted here: nothing in a URL
 * decides which file is opened.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PROF_PROF_ASK_H
#define JTOP_HTTP_SERVE_PROF_PROF_ASK_H

#include "core/http/fleet/fleet.h"
#include "core/http/serve/server/params.h"
#include "core/report/report_format.h"

#define PROF_DURATION 10
#define PROF_DURATION_MAX 3600
#define PROF_PATTERNS_MAX 16
#define PROF_PATTERN_BYTES 256

struct prof_ask {
    pid_t pid; /* 0: not given */
    struct fleet_want want;
    uint32_t duration_s, refresh_delay_s;
    bool wait;
    const struct exporter *exporter;
    struct export_options export; /* its title points to `title` */
    int event[WIRE_EVENTS];       /* enum wire_event, as want.engine */
    char title[256];
    char pattern[PROF_PATTERNS_MAX][PROF_PATTERN_BYTES];
    const char *include[PROF_PATTERNS_MAX], *exclude[PROF_PATTERNS_MAX];
    uint32_t includes, excludes;
};

/* Reads all parameters. `*out` is malloc'ed; the caller frees it with free(). -EINVAL with a
 * message that begins with the parameter's name and says what is allowed; -ENOMEM. */
int prof_ask_read(struct params *p, struct prof_ask **out, struct err *e);

/* Whether both have the same result. */
bool prof_ask_same(const struct prof_ask *a, const struct prof_ask *b);

/* The query of `a`, which points into `a`. */
void prof_ask_query(const struct prof_ask *a, struct query *out);

#endif
