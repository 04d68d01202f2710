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

/* Returns -EIO with the session's message if the profile ended too early by itself; otherwise 0. */
int batch_failed(struct session *s, struct err *e);

/* Profiles the JVM for o->duration_ms, or as long as o->timeout allows (neither:
 * BATCH_DURATION_MS), and writes the requested output. With o->loop, it does so again and again,
 * one profile per turn. SIGINT, SIGTERM or SIGHUP end it early, and the files are written; a second
 * signal ends the process. If the JVM ends meanwhile, that is no failure: what it committed is
 * written. */
int batch_collect(const struct options *o, const struct jvm *j, struct err *e);

#endif
