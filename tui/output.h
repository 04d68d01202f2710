/*
 * Which files a command line asks for, and writing them.
 *
 *      no -f            every -o format, or text, to stdout
 *      -f, one file     -o, or what the extension says, or text
 *      -f, several      each by its extension where that is one of -o, or nothing was said with
 *                       -o; the formats of -o that are left go to the files that are left, in order
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_OUTPUT_H
#define JTOP_TUI_OUTPUT_H

#include "tui/options.h"

struct output {
    const struct exporter *exporter;
    struct text path; /* as it will be opened; data NULL: stdout */
};

struct outputs {
    struct output item[OPTIONS_OUTPUTS_MAX];
    int count;
};

/* Settles formats and names (`pid` is %p) and checks that each file, and that of --record, can be
 * written, before anything is profiled. outputs_free is due in any case. */
int outputs_plan(struct outputs *out, const struct options *o, int pid, struct err *e);

/* Writes them all from what the session has. A file that fails does not keep the others from being
 * written; the first failure is returned. */
int outputs_write(const struct outputs *out, const struct options *o, struct session *s,
                  struct err *e);

void outputs_free(struct outputs *out);

#endif
