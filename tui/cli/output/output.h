/*
 * Files:
 *   growing      JFR files that grow while sampling goes on
 *   jfr_join     appending of the JVM's own JFR recording to the profiler's JFR file
 *   jfr_place    temporary directory in the JVM's /tmp for its JFR recording
 *   jfr_sync     --jfrsync: the JDK's flight recorder, run alongside the profile
 *   output       output files a command line asks for, and writing them
 *   piped_input  temporary copy of input that cannot be read twice, such as a pipe
 *   progress     progress line on the terminal during long work
 *
 * The files that a command line requests, and the writing of them.
 *
 *      no -f            every -o format, or text, to stdout
 *      -f, one file     by -o, otherwise by its extension, otherwise text
 *      -f, several      each by its extension if that is one of the -o formats, or if there is no
 *                       -o; each remaining -o format goes to the first remaining file whose name
 *                       does not stand for another format
 *
 * A file in a format for several events (exporter.write_all) has all of them, unless the pattern
 * requests one file per event (%e). Memory that was not freed is one of these events, except in
 * JFR, which has each malloc and each free. Any other file or report has one event. If there are
 * several, each event gets its own file: "out.svg" becomes "out-cpu.svg" and "out-alloc.svg".
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_OUTPUT_H
#define JTOP_TUI_CLI_OUTPUT_OUTPUT_H

#include "tui/cli/option/options.h"

#define OUTPUTS_MAX (OPTIONS_OUTPUTS_MAX * EVENT_KINDS)

/* An event that is written. With --live, the live objects replace all objects, except in JFR, which
 * has both. With nativemem, memory that was not freed is added, unless there is --nofree. */
struct output_event {
    int event; /* enum event_kind */
    char name[64];
    bool extra;    /* added to another event, whose file keeps its name */
    bool jfr_only; /* only in JFR, not in other formats */
    bool trace;    /* calls of a method, requested with --trace */
};

struct output {
    const struct exporter *exporter;
    const struct output_event *event;
    bool all;         /* all events (see outputs_want) in one file */
    struct text path; /* as it will be opened; data NULL: stdout */
    bool renamed;     /* not the name that was given */
    uint64_t samples; /* in the report; set by outputs_write */
};

/* A piece of a report, in the order of its bytes. A report has at least one piece. */
struct output_piece {
    const char *path; /* NULL: for stdout */
    const char *data;
    size_t bytes; /* may be 0 */
    bool first, last;
};

struct outputs {
    struct output_event event[EVENT_KINDS];
    int events;
    struct output item[OUTPUTS_MAX];
    int count;
    struct growing *growing; /* files that grow since outputs_begin; NULL: none */
    struct jfr_sync *sync;   /* the JDK's own recorder; NULL: not requested */
    /* Takes the reports piece by piece, instead of files that are written. The session is not
     * locked. The paths then belong to another process, and are not checked. NULL: files are
     * written. */
    int (*put)(void *arg, const struct output_piece *piece, struct err *e);
    void *put_arg;
};

/* Sets formats and names, and checks that each file, and that of --record, can be written, before
 * anything is profiled. `sequence` is %n. `replayed`: status of a recording, which has the events
 * if the command line names none; or NULL. The caller must call outputs_free in any case. */
int outputs_plan(struct outputs *out, const struct options *o, int pid, unsigned sequence,
                 const struct session_status *replayed, struct err *e);

/* Returns -EEXIST if one of the files is the input file. */
int outputs_check_input(const struct outputs *out, const char *input, struct err *e);
bool output_is_input(const char *path, const char *input);
int output_refuse_input(const char *input, struct err *e); /* reports that */

/* Call this when sampling has begun. JFR files now replace existing files with their final names,
 * and grow; they are complete at any moment, whichever process is killed
 * (tui/cli/output/growing.h). The caller must call outputs_write before the session is closed. */
int outputs_begin(struct outputs *out, const struct options *o, struct session *s, struct err *e);

/* Writes all files from the session's data. Each file is of the moment when its turn comes: while it
 * is written, sampling and reading go on. If a file fails, the others are still written; the
 * first failure is returned. */
int outputs_write(struct outputs *out, const struct options *o, struct session *s, struct err *e);

/* After outputs_write: prints on stderr what was written, a line per file. If stderr is not a
 * terminal, prints only the names of the files that were renamed. */
void outputs_say_written(const struct outputs *out, const struct options *o);

#define OUTPUT_SAMPLES_UNKNOWN UINT64_MAX

/* Prints "cpu.svg: 412 samples, 37 KB" on stderr, if that is a terminal and remarks are wanted.
 * Prints nothing for what is no file, such as /dev/stdout, or NULL. */
void output_say_written(const struct options *o, const char *path, uint64_t samples);

void outputs_free(struct outputs *out);

/* Adds to a query what the command line selects from a profile: -I and -X, whose texts belong to
 * the options. The session itself already leaves out threads and times (--thread, --filter, --from,
 * --to): struct session_options. */
void output_select(const struct options *o, struct query *q);

#endif
