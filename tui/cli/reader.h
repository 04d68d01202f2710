/*
 * --reader: what an agent that was loaded at JVM start runs to have its stream read and its file
 * written (core/wire/handshake.h). It leaves the JVM's family, reads until the JVM is gone or the
 * engines stop, writes, and tells the agent.
 *
 * Context: frontend, main thread, before any other thread is started.
 */
#ifndef JTOP_TUI_CLI_READER_H
#define JTOP_TUI_CLI_READER_H

#include "tui/cli/option/options.h"

/* Forks: the process that was called returns 0 when sampling has begun, or after some seconds, so
 * that the JVM reaps it and goes on; the reader itself returns when all is written. Wrong settings and a file that cannot be written are
 * found before the fork. Changes o by what o->reader_options says. */
int reader_run(struct options *o, struct err *e);

#endif
