/*
 * --jfrsync: the JDK's own flight recorder runs as long as we do, and its recording is appended to
 * ours in the same file.
 *
 *      begin   makes a directory in the JVM's /tmp that belongs to the JVM's user, with a file of
 *              settings that switch off what we sample ourselves; then sends JFR.start, with
 *              the settings of CONFIG first and this file second
 *      stop    JFR.stop into that directory
 *      append  joins our file and that one, under our file's name in one step
 *
 * CONFIG: "default", "profile", a .jfc file as the JVM sees it, or events: "+jdk.GCPhasePause+…".
 *
 * Context: frontend, main thread; blocks while the JVM answers.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_JFR_SYNC_H
#define JTOP_TUI_CLI_OUTPUT_JFR_SYNC_H

#include "core/session/session.h"

struct jfr_sync;

/* Starts the recorder. `config` must live as long as the result. `limit_ms`: the longest time of
 * the profile, 0: not known; the recorder ends by itself some minutes after that, and keeps at most
 * 256 MB. Exit code 100 if the JVM has no such recorder or settings. */
int jfr_sync_begin(struct jfr_sync **out, const char *config, const struct session_options *so,
                   const struct jvm *j, uint64_t limit_ms, struct err *e);

/* Stops the recorder; idempotent. The session must not be locked. On failure the recorder's data is
 * lost. */
int jfr_sync_stop(struct jfr_sync *y, struct err *e);

/* True if the recorder was not stopped yet, or could not be stopped. NULL: false. */
bool jfr_sync_runs(const struct jfr_sync *y);

/* Appends the recorder's file to the file, see jfr_join. */
int jfr_sync_append(const struct jfr_sync *y, const char *path, struct err *e);

/* Stops the recorder if needed, and removes all that was made. Accepts NULL. */
void jfr_sync_free(struct jfr_sync *y);

#endif
