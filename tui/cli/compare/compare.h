/*
 * Files:
 *   compare         the diff command: compares two profiles and writes the result
 *   compare_report  comparison as text, Markdown or collapsed stacks
 *   compare_rows    change of each method, with a test of statistical significance
 *   compare_sides   the two profiles, read and merged into one by printed names
 *
 * `diff A B`: what changed between two profiles, and whether that is more than chance.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_H

#include "tui/cli/option/options.h"

/* Compares the two files of o->operand, and writes the requested formats. */
int compare_files(const struct options *o, struct err *e);

#endif
