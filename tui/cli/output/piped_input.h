/*
 * Input that cannot be read twice: "-", a pipe, <(a command) of a shell. It is copied into a
 * temporary file that has no name, which then is read in its place.
 *
 * Context: frontend, main thread; blocks until the other end has written all.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_PIPED_INPUT_H
#define JTOP_TUI_CLI_OUTPUT_PIPED_INPUT_H

#include "core/base/err.h"

/* Where *path is such an input, it becomes a path of the copy, in static storage or the same again.
 * The copy lives as long as the process. Otherwise nothing happens. 0, or -errno with a message,
 * exit code 200. */
int spool_input(const char **path, struct err *e);

#endif
