/*
 * --reader: an agent that was loaded at JVM start runs this process to read its stream and write
 * its file (core/wire/handshake.h). The process detaches from the JVM, reads until the JVM is gone
 * or the engines stop, writes, and notifies the agent.
 *
 * Context: frontend, main thread, before any other thread is started.
 */
#ifndef JTOP_TUI_CLI_READER_H
#define JTOP_TUI_CLI_READER_H

#include "tui/cli/option/options.h"

/* Forks. The process that the agent called returns 0 when sampling has begun, or after some
 * seconds, so that the JVM reaps it and goes on. The reader itself returns when all is written.
 * Wrong settings and files that cannot be written are found before the fork. Applies
 * o->reader_options to `o`. */
int reader_run(struct options *o, struct err *e);

#endif
