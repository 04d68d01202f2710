/*
 * A table given to a command, which has the terminal meanwhile: less, grep, vi -.
 *
 * Context: frontend main thread, with signals_open in force and the terminal given away
 * (terminal_leave).
 */
#ifndef JTOP_TUI_TERMINAL_PIPE_H
#define JTOP_TUI_TERMINAL_PIPE_H

#include "core/base/err.h"

#include <stddef.h>

/* Runs `sh -c command` with the text as its standard input, a file nobody has to read to its end,
 * and waits for it. It is a process group of its own, which has the terminal meanwhile: Ctrl-C is
 * its business, Ctrl-Z stops us too. 0 and in *status what waitpid says; or -errno with a message.
 * Where we are asked to end, so is all of the command: after 2 s it is killed, and the signal comes
 * again. */
int pipe_run(const char *command, const char *data, size_t length, int *status, struct err *e);

/* Waits for a press on the terminal, or for a signal. */
void pipe_wait_key(void);

#endif
