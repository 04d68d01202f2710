/*
 * Files:
 *   caption                 title and subtitle at the head of an exported page
 *   export                  table of export formats, with their options and quality figures
 *   export_file             formatting of an export, and writing it to a file or stdout
 *   export_path             file names with %p, %t, %n, %e and %{ENV} filled in
 *   formats                 declarations of each format's writer, and helpers they share
 *   fork_walk               the walk of frame_walk over a snapshot that has forks
 *   frame_change            change of a frame against an earlier profile, and its colour
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
 * Exports of profiles to files. Each format has one row in `exporters` and one source file.
 *
 * The caller's process writes each file under a temporary name in the same directory and then
 * renames it. A failure leaves neither a partial file nor a temporary file. Devices, pipes and
 * /dev/stdout are written to directly; they may have received a part of the output when an
 * error occurs.
 *
 * Context: frontend only, any thread. Works on snapshots, and on a profile that the caller has
 * locked: its names are read, of a snapshot with forks its call tree, and by formats that list samples
 * its history.
 */
#ifndef JTOP_EXPORT_EXPORT_H
#define JTOP_EXPORT_EXPORT_H

#include "core/base/err.h"
#include "core/base/text.h"
#include "core/export/jfr_rate.h"
#include "core/profile/snapshot/diff.h"
#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>

/* How good the profile is. Exported files state it, in formats that have a place for it. */
struct export_quality {
    const char *event; /* "cpu" */
    const char *unit;  /* unit of the weight: "ns", "bytes", "calls", "total" */
    bool trace;        /* calls of a method, which JFR stores as method traces */
    uint64_t interval;
    uint64_t elapsed_ns;
    uint64_t dropped;
    const char *jvm;     /* main class or jar, pid: "Main (pid 123)" */
    const char *walker;  /* "asgct"; NULL: the default walker */
    const char *precise; /* "12 methods recompiled, 34 ms"; NULL: none */
    const char *how;     /* "ctimer: REASON": the first-choice mechanism was not used; NULL: it
                            was used */
    const char *budget;  /* "cpu every 40ms in place of 10ms, …"; NULL: the requested intervals */
    double quota;        /* CPUs the JVM may use, if the limit throttled it often; 0: it did not */
    double throttled;    /* share of the quota periods in which the JVM was throttled, 0 to 1 */
    struct {
        const char *name;
        uint64_t samples;
    } failed[32]; /* failed walks by reason, those > 0 */
    int failed_count;
    uint64_t walks;     /* walks of all events, of which `failed` are a part; 0: use the samples of
                           this event */
    bool several;       /* other events were sampled too; they are in other files */
    bool heading;       /* several reports follow each other: begin with the event's name, if the
                           format can */
    bool biased;        /* sampled only at safepoints */
    double coverage;    /* wall: share of thread-time covered by samples; 0: not measured */
    uint64_t windows;   /* number of windows between two functions in which samples were taken; 0:
                           windows were not requested, or none occurred */
    uint64_t window_ns; /* total duration of these windows */
    int64_t day_ns;     /* added to the samples' clock it gives the time of day; 0: use this
                           machine's clock. At most half of an int64_t */
    bool undated;       /* read from a file that does not know when it was recorded */
    bool uncounted;     /* read from a file that has only weights: sample counts mean nothing */
};

/* The lock of a profile to which samples are added meanwhile. Who exports holds it, and gives it up
 * while a piece of the output is on its way. What is written is the state of the profile when the
 * snapshot was taken: names and the call tree only grow. */
struct export_lock {
    void (*give_up)(void *arg);
    void (*take)(void *arg);
    void *arg;
};

struct export_options {
    bool threads;    /* -t: a stack's first frame is its thread */
    bool carriers;   /* for a virtual thread, that first frame is its carrier thread */
    bool simple;     /* -s */
    bool normalize;  /* -n */
    bool signatures; /* -g */
    bool annotate;   /* -a */
    bool library;    /* -l */
    bool dotted;     /* --dot: java.lang.String instead of java/lang/String */
    bool total;      /* --total: weights instead of counts, in formats that show only one of them */
    bool reverse;    /* --reverse: stacks start at the leaf */
    bool inverted;   /* --inverted: icicle graph instead of flame graph */
    bool unlabelled; /* pprof: samples have no labels for thread and event */
    uint32_t traces; /* maximum number of traces in the text format; 0: 200 if traces were
                        requested */
    uint32_t flat;   /* maximum number of flat rows in the text format */
    bool want_summary, want_traces, want_flat; /* parts of the text format; if none is set, all
                                                  are written */
    const char *title;                         /* NULL: derived from the event */
    struct jfr_limits limits;                  /* JFR: maximum number of events per second */
    uint32_t width;                            /* width of the SVG; 0: fluid */
    uint32_t height;                           /* height of a frame in the SVG; 0: 16 */
    const struct query *question; /* the query that the snapshot answers. Formats that list samples
                                     ask the profile the same query again. NULL: all of event 0 */
    const struct export_lock *lock; /* NULL: it is not given up, or nobody adds to the profile */
    const struct diff *diff; /* flame graphs: how each node of the snapshot changed; NULL: nothing
                                to compare with */
    double minwidth; /* SVG: frames narrower than this percentage are left out; 0: leave out frames
                        that are too narrow to see or too many for a browser */
};

/* One event of a file that holds several events. */
struct export_part {
    const struct snapshot *snapshot;
    const struct export_quality *quality;
    const struct query *question; /* the query that the snapshot answers */
};

struct exporter {
    const char *name;         /* name for -o: "collapsed" */
    const char *extension[4]; /* ".collapsed", ".folded" */
    const char *help;         /* one line */
    const char *type;         /* Content-Type */
    bool download;            /* meant for another program: a browser saves the file instead of
                                 showing it */
    bool picture; /* a graph with a script: shows a title, and can be drawn from the leaves */
    bool diff;    /* can show how two profiles differ */
    bool walks;   /* reads the tree by frame_walk only: query.forks may be set, unless the names
                     are annotated or o->diff is set */
    bool samples; /* lists the samples of the question: needs no tree */
    /* Appends the whole file to `out`. 0 or -ENOMEM. The profile is needed for its names. */
    int (*write)(struct text *out, const struct profile *p, const struct snapshot *s,
                 const struct export_quality *q, const struct export_options *o);
    /* Does the same, with all events in one file. NULL: the format holds one event only. */
    int (*write_all)(struct text *out, const struct profile *p, const struct export_part *part,
                     int parts, const struct export_options *o);
    bool whole; /* the writer goes back to what it has written, or has its output only at the
                   end: `out` must hold the whole file. Other writers only append, so `out` may
                   have a sink */
};

/* Ends with a NULL name. "flat", "traces" and "summary" are not rows: they are parts of "text". */
extern const struct exporter exporters[];

/* Finds a format by its -o name ("collapsed", "flat", "traces=100" …). Such a value may also set
 * options. NULL: unknown name. */
const struct exporter *exporter_by_format(const char *format, struct export_options *o);
/* Finds a format by the extension of a file name; NULL: no format has this extension. */
const struct exporter *exporter_by_path(const char *path);

/* Checks, before profiling starts, that the file can be written: the directory exists and is
 * writable, and the path is not a directory. 0 or -errno, with a message for people and exit
 * code 100. */
int export_check_path(const char *path, struct err *e);

/* Formats and writes a file. If the format allows it (exporter.whole is false), each piece is
 * written as soon as it is formatted, so a file may be larger than memory. `path` NULL: stdout. 0
 * or -errno, with a message for people and exit code 200. */
int export_file(const char *path, const struct exporter *x, const struct profile *p,
                const struct snapshot *s, const struct export_quality *q,
                const struct export_options *o, struct err *e);
/* Does the same for all of `parts` events. More than one event is possible only if the format has
 * write_all. */
int export_file_all(const char *path, const struct exporter *x, const struct profile *p,
                    const struct export_part *part, int parts, const struct export_options *o,
                    struct err *e);

/* Call them around what takes long and does not read the profile. */
void export_give_up(const struct export_options *o);
void export_take(const struct export_options *o);

/* The two halves of export_file, for a caller that has the profile locked and must not wait for a
 * slow file system. The whole output is in memory. */
int export_format(struct text *out, const struct exporter *x, const struct profile *p,
                  const struct snapshot *s, const struct export_quality *q,
                  const struct export_options *o, struct err *e);
int export_write(const char *path, const struct text *t, struct err *e);

/* Values for the letters of a file name pattern. */
struct export_path {
    int pid;           /* %p */
    unsigned sequence; /* %n, %n{MAX} */
    const char *event; /* %e, with '_' for characters that a file name should not contain;
                          NULL: "" */
};

/* Also expands %t (time as YYYYMMDD-hhmmss), %{ENV} and %%. */
int export_path_expand(const char *pattern, const struct export_path *of, struct text *out,
                       struct err *e);

/* Reports whether the pattern contains %e. */
bool export_path_has_event(const char *pattern);

/* "out.svg" → "out-alloc.svg". The event goes before the exporter's own extension if the path has
 * it, otherwise before the last extension. */
void export_path_add_event(const char *path, const struct exporter *x, const char *event,
                           struct text *out);

#endif
