/*
 * --jfrsync: the JDK's own flight recorder runs as long as we do, and what it recorded comes behind
 * ours in the same file.
 *
 *      begin   a directory of the JVM's user in its /tmp, with settings that switch off what we
 *              sample ourselves; JFR.start with those of CONFIG before them
 *      stop    JFR.stop into that directory
 *      append  our file and that one, under the name of ours at once
 *
 * CONFIG: "default", "profile", a .jfc file as the JVM sees it, or events: "+jdk.GCPhasePause+…".
 *
 * Context: frontend, main thread; blocks while the JVM answers.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_JFR_SYNC_H
#define JTOP_TUI_CLI_OUTPUT_JFR_SYNC_H

#include "core/session/session.h"

struct jfr_sync;

/* `config` must live as long. `limit_ms`: how long the profile is to take at most, 0: not known; the
 * recorder ends by itself some minutes after that, and keeps 256 MB at most. Exit code 100 where the
 * JVM has no such recorder or settings. */
int jfr_sync_begin(struct jfr_sync **out, const char *config, const struct session_options *so,
                   const struct jvm *j, uint64_t limit_ms, struct err *e);

/* The recorder stops; idempotent. The session must not be locked. On failure what it has is lost. */
int jfr_sync_stop(struct jfr_sync *y, struct err *e);

/* It has not been stopped yet, or could not be. NULL: no. */
bool jfr_sync_runs(const struct jfr_sync *y);

/* Puts what it recorded behind what is in the file, see jfr_join. */
int jfr_sync_append(const struct jfr_sync *y, const char *path, struct err *e);

/* Stops it if need be, and removes all that was made. NULL is fine. */
void jfr_sync_free(struct jfr_sync *y);

#endif
