/*
 * Waits for the end of a profile: its time is up, a person or the system says stop, or the session
 * ends by itself.
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
    sigset_t before;           /* the thread's mask as it was */
    struct progress *progress; /* shows how far it is, while it runs; NULL: nobody looks */
};

/* Blocks SIGINT, SIGTERM and SIGHUP, those of them that are not ignored (nohup, background jobs).
 * Call it before any thread is started: threads inherit the mask. */
int watch_open(struct watch *w, struct err *e);

/* `duration_ms` 0: no limit. */
enum watch_end watch_run(const struct watch *w, struct session *s, uint64_t duration_ms);

/* Gives the signals back what they did before: one that comes now ends the process. Idempotent. */
void watch_close(struct watch *w);

#endif
