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
 * Which files a command line asks for, and writing them.
 *
 *      no -f            every -o format, or text, to stdout
 *      -f, one file     -o, or what the extension says, or text
 *      -f, several      each by its extension where that is one of -o, or nothing was said with
 *                       -o; a format of -o that is left goes to the first file left whose name does
 *                       not promise another one
 *
 * A file of a format that can have several events (exporter.write_all) holds them all, unless the
 * pattern asks for one each (%e); what was not freed is one of them, but in JFR, where each malloc
 * and each free says so. Another file or report holds one: of several events each gets its
 * own, "out.svg" becomes "out-cpu.svg" and "out-alloc.svg".
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_OUTPUT_H
#define JTOP_TUI_CLI_OUTPUT_OUTPUT_H

#include "tui/cli/option/options.h"

#define OUTPUTS_MAX (OPTIONS_OUTPUTS_MAX * EVENT_KINDS)

/* What is written of. --live: the live objects in place of all, but in JFR beside them. nativemem: what was not freed
 * besides, unless --nofree. */
struct output_event {
    int event; /* enum event_kind */
    char name[64];
    bool extra;    /* comes with another one: the other's file keeps its name */
    bool jfr_only; /* other formats do not have it */
    bool trace;    /* calls of a method, asked for with --trace */
};

struct output {
    const struct exporter *exporter;
    const struct output_event *event;
    bool all;         /* all events, see outputs_want, in one file */
    struct text path; /* as it will be opened; data NULL: stdout */
    bool renamed;     /* it is not the name that was given */
};

struct outputs {
    struct output_event event[EVENT_KINDS];
    int events;
    struct output item[OUTPUTS_MAX];
    int count;
    struct growing *growing; /* files that are there since outputs_begin; NULL: none */
    struct jfr_sync *sync;   /* the JDK's own recorder; NULL: not asked for */
    /* Takes each report (path NULL: for stdout) in the place of export_write, and may keep the text,
     * leaving it empty. The session is locked. The paths are somebody else's then, and not looked
     * at. NULL: nobody. */
    int (*put)(void *arg, const char *path, struct text *t, struct err *e);
    void *put_arg;
};

/* Settles formats and names and checks that each file, and that of --record, can be written, before
 * anything is profiled. `sequence` is %n. `replayed`: a recording's status, which says what there
 * is where the command line does not; or NULL. outputs_free is due in any case. */
int outputs_plan(struct outputs *out, const struct options *o, int pid, unsigned sequence,
                 const struct session_status *replayed, struct err *e);

/* -EEXIST where one of the files is the one that is read. */
int outputs_check_input(const struct outputs *out, const char *input, struct err *e);
bool output_is_input(const char *path, const char *input);
int output_refuse_input(const char *input, struct err *e); /* says so */

/* When sampling has begun. JFR files are at their final name from now on, in place of what was
 * there, and grow: whole at any moment, whoever is killed (tui/cli/output/growing.h). outputs_write
 * is due before the session is closed. */
int outputs_begin(struct outputs *out, const struct options *o, struct session *s, struct err *e);

/* Writes them all from what the session has. A file that fails does not keep the others from being
 * written; the first failure is returned. */
int outputs_write(const struct outputs *out, const struct options *o, struct session *s,
                  struct err *e);

/* And that on stderr, where there are any. */
void outputs_say_renamed(const struct outputs *out);

void outputs_free(struct outputs *out);

/* Adds to a question what a command line wants to see of a profile: -I and -X, whose texts are the
 * options' own. The threads and the time (--thread, --filter, --from, --to) are left out by the
 * session already: struct session_options. */
void output_select(const struct options *o, struct query *q);

#endif
