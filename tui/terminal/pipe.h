/*
 * Gives a table to a command, which has the terminal meanwhile: less, grep, vi -.
 *
 * Context: frontend main thread, after signals_open, while the terminal is given away
 * (terminal_leave).
 */
#ifndef JTOP_TUI_TERMINAL_PIPE_H
#define JTOP_TUI_TERMINAL_PIPE_H

#include "core/base/err.h"

#include <stddef.h>

/* Runs `sh -c command` with the text as its standard input, and waits for it. The input is a file,
 * so the command need not read it to the end. The command is a process group of its own, which has
 * the terminal meanwhile: Ctrl-C goes to the command, Ctrl-Z stops this process too. Returns 0 and
 * sets *status as waitpid does; or -errno with a message. If this process is asked to end, it ends
 * all of the command too, kills it after 2 s, and then raises SIGTERM for itself. */
int pipe_run(const char *command, const char *data, size_t length, int *status, struct err *e);

/* Waits for a press on the terminal, or for a signal that asks to end. */
void pipe_wait_key(void);

#endif
