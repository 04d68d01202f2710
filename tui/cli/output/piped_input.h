/*
 * Input that cannot be read twice: "-", a pipe, <(a command) of a shell. It is copied into a
 * temporary file without a name, which is then read instead.
 *
 * Context: frontend, main thread; blocks until the other end has written all.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_PIPED_INPUT_H
#define JTOP_TUI_CLI_OUTPUT_PIPED_INPUT_H

#include "core/base/err.h"

/* If *path is such an input, *path becomes the path of the copy, in static storage or unchanged.
 * The copy lives as long as the process. Otherwise nothing happens. Returns 0, or -errno with a
 * message and exit code 200. */
int spool_input(const char **path, struct err *e);

#endif
