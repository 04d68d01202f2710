/*
 * Signals as events of a poll loop. Handlers only set flags and wake an eventfd; the one
 * exception are fatal signals, which put the terminal back with write(2) and tcsetattr(3) and die
 * of the same signal. No curses call is made in a handler.
 *
 * Context: frontend main thread, unless said otherwise. One user at a time: dispositions belong
 * to the process.
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

/* Takes over SIGINT, SIGTERM, SIGHUP (those not ignored), SIGTSTP, SIGCONT, SIGWINCH and the
 * fatal ones; ignores SIGPIPE. 0 or -errno. */
int signals_open(struct err *e);
/* Puts every disposition back. */
void signals_close(void);

/* Readable when signals_take has something to say. */
int signals_fd(void);
/* What came since it was asked last: a set. */
unsigned signals_take(void);

/* While the caller is in something that cannot be broken off, an attach: SIGINT, SIGTERM and SIGHUP
 * (those not ignored) end this process, the first one after `patience_s` (0: never), a second one at
 * once; the terminal is put back before. With or without signals_open; blocked or not. What a JVM
 * has of ours then is let go of as when we are killed: by errands and by the agent itself. */
#define SIGNALS_PATIENCE_S 1
void signals_impatient(unsigned patience_s);
/* As it was before. A signal that came is delivered again, to whoever takes it otherwise. */
void signals_patient(void);

/* Stops this process as an unhandled SIGTSTP does; returns when it is continued. The terminal
 * must be in its old state. */
void signals_stop_self(void);

/* What puts the terminal back: its modes and the bytes to send. From here on until
 * signals_unguard, fatal signals and exit() do that first. `bytes` is copied, at most
 * SIGNALS_GUARD_BYTES. */
#define SIGNALS_GUARD_BYTES 512
void signals_guard(int tty, const struct termios *modes, const void *bytes, size_t length);
void signals_unguard(void);

#endif
