/*
 * Signals as events of a poll loop. Handlers only set flags and wake an eventfd. The only exception
 * is fatal signals: their handler restores the terminal with write(2) and tcsetattr(3), and the
 * process dies of the same signal. No handler calls curses.
 *
 * Context: frontend main thread, unless stated otherwise. One user at a time: signal dispositions
 * belong to the process.
 */
#ifndef JTOP_TUI_TERMINAL_TERMINAL_SIGNALS_H
#define JTOP_TUI_TERMINAL_TERMINAL_SIGNALS_H

#include "core/base/err.h"

#include <stddef.h>
#include <termios.h>

enum {
    SIGNAL_QUIT = 1,     /* SIGINT, SIGTERM, SIGHUP */
    SIGNAL_SUSPEND = 2,  /* SIGTSTP */
    SIGNAL_CONTINUE = 4, /* SIGCONT */
    SIGNAL_RESIZE = 8,   /* SIGWINCH */
};

/* Installs handlers for SIGINT, SIGTERM, SIGHUP (those not ignored), SIGTSTP, SIGCONT, SIGWINCH and
 * the fatal signals; ignores SIGPIPE. 0 or -errno. */
int signals_open(struct err *e);
/* Restores all dispositions. */
void signals_close(void);

/* This descriptor is readable when signals_take has flags to return. */
int signals_fd(void);
/* Returns the set of flags since the last call. */
unsigned signals_take(void);

/* For a time in which the caller cannot be interrupted, such as an attach. SIGINT, SIGTERM and
 * SIGHUP (those not ignored) then end this process: the first one after `patience_s` (0: never), a
 * second one at once. The terminal is restored first. Works with or without signals_open, and even
 * if the signals are blocked. What we have in a JVM is then released as if we were killed: by
 * errands and by the agent itself. */
#define SIGNALS_PATIENCE_S 1
void signals_impatient(unsigned patience_s);
/* Restores the state before signals_impatient. If a signal came, it is raised again for its usual
 * handler. */
void signals_patient(void);

/* Stops this process as an unhandled SIGTSTP does, and returns when it is continued. The terminal
 * must be in its old state. */
void signals_stop_self(void);

/* Sets how to restore the terminal: its modes and the bytes to send. From now on until
 * signals_unguard, fatal signals and exit() first restore the terminal. `bytes` is copied, at most
 * SIGNALS_GUARD_BYTES. */
#define SIGNALS_GUARD_BYTES 512
void signals_guard(int tty, const struct termios *modes, const void *bytes, size_t length);
void signals_unguard(void);

#endif
