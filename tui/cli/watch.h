/*
 * Waits for the end of a profile: its time is over, a signal asks to stop, or the session ends by
 * itself.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_WATCH_H
#define JTOP_TUI_CLI_WATCH_H

#include "core/session/session.h"
#include "tui/cli/output/progress.h"

#include <signal.h>

enum watch_end {
    WATCH_TIME,
    WATCH_SIGNAL,
    WATCH_SESSION, /* the phase is no longer SESSION_RUNNING */
};

struct watch {
    int signal_fd;
    sigset_t before;           /* the thread's signal mask before */
    struct progress *progress; /* shows the progress while it runs; NULL: none */
};

/* Blocks SIGINT, SIGTERM and SIGHUP, except those that are ignored (nohup, background jobs). Call
 * it before any thread is started, because threads inherit the mask. */
int watch_open(struct watch *w, struct err *e);

/* `duration_ms` 0: no limit. */
enum watch_end watch_run(const struct watch *w, struct session *s, uint64_t duration_ms);

/* Restores the signals: from now on, one of them ends the process. Idempotent. */
void watch_close(struct watch *w);
/* Drops signals that have come, so that they have no effect after watch_close. */
void watch_forget(struct watch *w);

#endif
