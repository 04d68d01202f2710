/*
 * Profiles without a screen: attach, wait, write.
 *
 * Context: frontend, main thread. Reports go to stdout or files, everything else to stderr.
 */
#ifndef JTOP_TUI_BATCH_H
#define JTOP_TUI_BATCH_H

#include "tui/options.h"

#define BATCH_DURATION_MS 60000

/* Profiles the JVM for o->duration_ms (0: BATCH_DURATION_MS) and writes what was asked for.
 * SIGINT, SIGTERM or SIGHUP end it early, with the files; a second one ends the process. A JVM that
 * ends meanwhile is no failure: what it committed is written. */
int batch_collect(const struct options *o, const struct jvm *j, struct err *e);

/* Writes a recording in the formats asked for. */
int batch_convert(const struct options *o, const char *recording, struct err *e);

#endif
