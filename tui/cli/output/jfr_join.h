/*
 * Appends a recording of the JVM itself to one of ours, in one file. A recording in JFR's format is
 * a sequence of chunks, and the chunks may come from different writers.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_JFR_JOIN_H
#define JTOP_TUI_CLI_OUTPUT_JFR_JOIN_H

#include "core/base/err.h"

/* Checks that a recording can be appended to the file later: only to a file that is replaced by a
 * rename, not to standard output, a pipe or a device. Exit code 100. */
int jfr_join_check(const char *path, struct err *e);

/* Appends the plain file with the descriptor `theirs`, from its beginning to its present end, to
 * the file with that name. On failure the file is unchanged. The writer of `theirs` may be hostile:
 * the file must not be larger than 1 GiB, nor than the room on the disk. */
int jfr_join(const char *path, int theirs, struct err *e);

#endif
