/*
 * Files:
 *   caption                 title and subtitle at the head of an exported page
 *   export                  table of export formats, with their options and quality figures
 *   export_file             formatting of an export, and writing it to a file or stdout
 *   export_path             file names with %p, %t, %n, %e and %{ENV} filled in
 *   formats                 declarations of each format's writer, and helpers they share
 *   frame_class             kinds of frames (Java tiers, native, kernel, …) and their colours
 *   frame_names             printed names of frames, each distinct text once with a number
 *   frame_walk              depth-first walk over a snapshot's tree, siblings sorted by name
 *   human                   numbers formatted for people: 1,234,567, 1.23 s, 512 KB
 *   jfr_rate                limit on the JFR events of a category in one second
 *   json_text               escaped strings and numbers for JSON
 *   output_file             output file written under a temporary name, then renamed
 *   places                  table of code locations (method, line, tier), each once
 *   stack_path              text of a stack from the root to the current frame
 *   svg_text                escaped text for SVG, and shortening of frame labels
 *   otlp/otlp_dictionary    strings, functions, locations and stacks of an OTLP message
 *   otlp/otlp_export        OTLP export: OpenTelemetry profiles as protobuf
 *   pprof/pprof_export      pprof export: profile.proto, gzipped
 *   text/collapsed_export   collapsed stacks export: a line "root;…;leaf COUNT" each
 *   text/json_export        JSON export: methods, threads and stacks of each event
 *   text/markdown_export    Markdown report of the hottest methods, threads and paths
 *   text/markdown_text      escaped text and code for Markdown
 *   text/speedscope_export  speedscope export: frames, and weighted stacks of each event
 *   text/text_export        plain text report: summary, heaviest stacks, top methods
 *
 * Profiles as files. One row in `exporters` and one file per format.
 *
 * Files are written by the caller's process to a temporary name in the same directory and renamed;
 * a failure leaves neither a half file nor a temporary one. Devices, pipes and /dev/stdout are
 * written to directly, and may have got a part when something fails.
 *
 * Context: frontend only, any thread; works on snapshots and on a profile the caller has locked
 * (names only).
 */
#ifndef JTOP_EXPORT_EXPORT_H
#define JTOP_EXPORT_EXPORT_H

#include "core/base/err.h"
#include "core/base/text.h"
#include "core/export/jfr_rate.h"
#include "core/profile/snapshot/diff.h"
#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>

/* How good the profile is: stated in every file. */
struct export_quality {
    const char *event; /* "cpu" */
    const char *unit;  /* "ns", "bytes", "calls", "total": of the weight */
    bool trace;        /* calls of a method that JFR has as method traces */
    uint64_t interval;
    uint64_t elapsed_ns;
    uint64_t dropped;
    const char *jvm;     /* main class or jar, pid: "Main (pid 123)" */
    const char *walker;  /* "asgct"; NULL: the usual one */
    const char *precise; /* "12 methods recompiled, 34 ms"; NULL: none */
    const char *how;     /* "ctimer: REASON": not by the first choice of ways; NULL: by that */
    const char *budget;  /* "cpu every 40ms in place of 10ms, …"; NULL: as asked */
    double quota;        /* CPUs the JVM may use, where that stopped it often; 0: it did not … */
    double throttled;    /* … and in what share of its periods, 0 to 1 */
    struct {
        const char *name;
        uint64_t samples;
    } failed[32]; /* failed walks by reason, those > 0 */
    int failed_count;
    uint64_t walks;     /* they are out of so many, of all events; 0: of this event's */
    bool several;       /* other events were sampled as well, and are elsewhere */
    bool heading;       /* reports follow each other: begin with the event, where a format can */
    bool biased;        /* sampled at safepoints only */
    double coverage;    /* wall: share of thread-time that is in samples; 0: not measured */
    uint64_t windows;   /* sampled only in so many windows between two functions … */
    uint64_t window_ns; /* … that took so long; 0 windows: there were none asked for, or met */
    int64_t day_ns;     /* added to the samples' clock it is the time of day; 0: this machine's. At
                           most half an int64_t */
    bool undated;       /* read from a file that does not know when it was */
    bool uncounted;     /* read from a file that has weights only: samples count nothing */
};

struct export_options {
    bool threads;    /* -t: a stack's first frame is its thread */
    bool carriers;   /* that of a virtual thread: the thread that carried it */
    bool simple;     /* -s */
    bool normalize;  /* -n */
    bool signatures; /* -g */
    bool annotate;   /* -a */
    bool library;    /* -l */
    bool dotted;     /* --dot: java.lang.String where it would be java/lang/String */
    bool total;      /* --total: weights instead of counts, where the format has one of them */
    bool reverse;    /* --reverse: stacks from the leaf */
    bool inverted;   /* --inverted: icicles instead of flames */
    bool unlabelled; /* pprof: samples do not say their thread and event */
    uint32_t traces; /* most traces in text; 0: 200 when traces are asked for */
    uint32_t flat;   /* most flat rows in text */
    bool want_summary, want_traces, want_flat; /* parts of the text format; none set: all */
    const char *title;                         /* NULL: by event */
    struct jfr_limits limits;                  /* JFR: events a second */
    uint32_t width;                            /* SVG; 0: fluid */
    uint32_t height;                           /* of a frame in the SVG; 0: 16 */
    const struct query *question; /* what the snapshot answers: formats that list samples ask it of
                                     the profile again; NULL: all of event 0 */
    const struct diff *diff; /* flame graphs: how each of the snapshot's nodes changed; NULL: there
                                is nothing to compare with */
    double minwidth; /* SVG: frames narrower than this many percent are left out; 0: those that
                        nobody would see, or no browser could show at once */
};

/* One event of a file that holds several. */
struct export_part {
    const struct snapshot *snapshot;
    const struct export_quality *quality;
    const struct query *question; /* what the snapshot answers */
};

struct exporter {
    const char *name;         /* as after -o: "collapsed" */
    const char *extension[4]; /* ".collapsed", ".folded" */
    const char *help;         /* one line */
    const char *type;         /* as in Content-Type */
    bool download;            /* for another program: a browser keeps it rather than shows it */
    bool picture; /* a graph with a script: shows a title, and can be made from the leaves up */
    bool diff;    /* can say how one profile differs from another */
    /* Appends the whole file to `out`. 0 or -ENOMEM. The profile is needed for names. */
    int (*write)(struct text *out, const struct profile *p, const struct snapshot *s,
                 const struct export_quality *q, const struct export_options *o);
    /* The same with all events in one file; NULL: the format holds one. */
    int (*write_all)(struct text *out, const struct profile *p, const struct export_part *part,
                     int parts, const struct export_options *o);
    bool whole; /* they go back to what they have written, or have it only at the end: `out` must
                   hold the file. The others only append, and `out` may have a sink */
};

/* Ends with a NULL name. "flat", "traces" and "summary" are parts of "text". */
extern const struct exporter exporters[];

/* By -o name ("collapsed", "flat", "traces=100" …, which also sets options), or NULL. */
const struct exporter *exporter_by_format(const char *format, struct export_options *o);
/* By a file's extension; NULL where it says nothing. */
const struct exporter *exporter_by_path(const char *path);

/* Checks that the file can be written where it is asked for, before any profiling: directory
 * exists and is writable, path is no directory. 0 or -errno, message for people, exit code 100. */
int export_check_path(const char *path, struct err *e);

/* Formats and writes, as it goes where the format allows it (exporter.whole): a file may be larger
 * than memory. `path` NULL: stdout. 0 or -errno, message for people, exit code 200. */
int export_file(const char *path, const struct exporter *x, const struct profile *p,
                const struct snapshot *s, const struct export_quality *q,
                const struct export_options *o, struct err *e);
/* The same with all of `parts` events; more than one only where there is write_all. */
int export_file_all(const char *path, const struct exporter *x, const struct profile *p,
                    const struct export_part *part, int parts, const struct export_options *o,
                    struct err *e);

/* Its two halves, for who has the profile locked and may not wait for a slow file system: the whole
 * is in memory. */
int export_format(struct text *out, const struct exporter *x, const struct profile *p,
                  const struct snapshot *s, const struct export_quality *q,
                  const struct export_options *o, struct err *e);
int export_write(const char *path, const struct text *t, struct err *e);

/* What a pattern's letters stand for. */
struct export_path {
    int pid;           /* %p */
    unsigned sequence; /* %n, %n{MAX} */
    const char *event; /* %e, with '_' for what a file's name better has not; NULL: "" */
};

/* Also %t time as YYYYMMDD-hhmmss, %{ENV} and %%. */
int export_path_expand(const char *pattern, const struct export_path *of, struct text *out,
                       struct err *e);

/* Whether the pattern has %e. */
bool export_path_has_event(const char *pattern);

/* "out.svg" → "out-alloc.svg": before the extension that is the exporter's, or else the last. */
void export_path_add_event(const char *path, const struct exporter *x, const char *event,
                           struct text *out);

#endif
