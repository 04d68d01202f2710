/*
 * Files:
 *   batch   profile without a screen: attach, wait, write files
 *   main    the main function: reads the command line and runs what it asks for
 *   reader  --reader: process that reads for an agent loaded at JVM start
 *   watch   wait for the end of a profile: time, signal, or end of session
 *
 * Profiles without a screen: attach, wait, write.
 *
 * Context: frontend, main thread. Reports go to stdout or files, everything else to stderr.
 */
#ifndef JTOP_TUI_CLI_BATCH_H
#define JTOP_TUI_CLI_BATCH_H

#include "tui/cli/option/options.h"

#define BATCH_DURATION_MS 60000

/* -EIO where the profile has ended before it was told to, with what the session says of it. */
int batch_failed(struct session *s, struct err *e);

/* Profiles the JVM for o->duration_ms, or what o->timeout says (neither: BATCH_DURATION_MS), and
 * writes what was asked for; with o->loop again and again, a profile a turn. SIGINT, SIGTERM or
 * SIGHUP end it early, with the files; a second one ends the process. A JVM that ends meanwhile is
 * no failure: what it committed is written. */
int batch_collect(const struct options *o, const struct jvm *j, struct err *e);

#endif
