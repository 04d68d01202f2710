/*
 * `doctor`: whether a JVM can be profiled from here, and what would improve that, before anything
 * is tried (attach/doctor/examination.h).
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_DOCTOR_COMMAND_H
#define JTOP_TUI_CLI_COMMAND_DOCTOR_COMMAND_H

#include "attach/doctor/examination.h"
#include "core/base/text.h"
#include "tui/cli/option/options.h"

struct doctor_report {
    struct jvm jvm; /* pid 0: only the machine */
    struct finding finding[FINDINGS_MAX];
    int count;
    int failures, warnings;
    char verdict[640]; /* one line */
};

/* Examines o->target, or the machine if no target is given; the report is text or JSON. 0: it can
 * be profiled; 1: it cannot; -errno: no such JVM. In the first two cases, `out` is to be
 * printed. */
int doctor_command(const struct options *o, struct text *out, struct err *e);

/* Counts failures and warnings, and makes the last line. `trouble`: the error that attaching would
 * give; NULL: none. */
void doctor_judge(struct doctor_report *r, const char *trouble);

/* `columns`: width at which lines are broken; 0: never. */
void doctor_print(const struct doctor_report *r, int columns, bool colours, struct text *out);
void doctor_print_json(const struct doctor_report *r, struct text *out);

#endif
