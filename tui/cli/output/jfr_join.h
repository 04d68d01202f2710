/*
 * A recording of the JVM's own behind one of ours, in one file: recordings in JFR's format are
 * chunks, one after the other, whoever wrote them.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_JFR_JOIN_H
#define JTOP_TUI_CLI_OUTPUT_JFR_JOIN_H

#include "core/base/err.h"

/* Whether the file can be put together later: only one that is replaced by a rename, not standard
 * output, a pipe or a device. Exit code 100. */
int jfr_join_check(const char *path, struct err *e);

/* Puts what the plain file behind the descriptor `theirs` has, from its beginning to its end as it
 * is now, behind what is in the file of that name; at once, or on failure not at all. Whoever writes
 * `theirs` may be hostile: it has 1 GiB at most, and no more than fits on the disk. */
int jfr_join(const char *path, int theirs, struct err *e);

#endif
