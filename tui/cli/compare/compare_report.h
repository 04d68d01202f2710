/*
 * A comparison as text: tables for users, and stacks with two counts for other tools.
 *
 * Context: frontend only.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_REPORT_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_REPORT_H

#include "core/base/text.h"
#include "tui/cli/compare/compare_rows.h"
#include "tui/cli/compare/compare_sides.h"

struct compare_report {
    const struct compare_sides *sides;
    const struct snapshot *snapshot[SIDES];
    const struct compare_rows *rows;
    const struct export_options *o; /* from compare_export_options */
};

void compare_text(struct text *out, const struct compare_report *r);
void compare_markdown(struct text *out, const struct compare_report *r);
/* Appends lines "root;…;leaf A B", as difffolded.pl writes and flamegraph.pl reads them. 0 or
 * -ENOMEM. */
int compare_collapsed(struct text *out, const struct compare_report *r);

#endif
