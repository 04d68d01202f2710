/*
 * `diff A B`: what changed between two profiles, and whether by more than chance.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_H

#include "tui/cli/option/options.h"

/* Compares the two files of o->operand and writes the formats asked for. */
int compare_files(const struct options *o, struct err *e);

#endif
