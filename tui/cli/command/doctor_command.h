/*
 * `doctor`: whether a JVM can be profiled from here, and what would make it better, before anything
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
    struct jvm jvm; /* pid 0: of the machine only */
    struct finding finding[FINDINGS_MAX];
    int count;
    int failures, warnings;
    char verdict[640]; /* one line */
};

/* What o->target can be profiled like, or the machine where none is given, as text or JSON. 0: it
 * can; 1: it cannot; -errno: there is no such JVM. In the first two cases `out` is to be printed. */
int doctor_command(const struct options *o, struct text *out, struct err *e);

/* Counts, and makes the last line. `trouble`: what attaching would say; NULL: nothing. */
void doctor_judge(struct doctor_report *r, const char *trouble);

/* `columns`: where lines are to be broken; 0: nowhere. */
void doctor_print(const struct doctor_report *r, int columns, bool colours, struct text *out);
void doctor_print_json(const struct doctor_report *r, struct text *out);

#endif
