#include "tui/cli/watch.h"

#include "core/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

int watch_open(struct watch *w, struct err *e) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction sa;
        /* A signal that is both ignored and blocked would still arrive through a signalfd. */
        if (sigaction(ends[i], NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
            sigaddset(&set, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &w->before);
    w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (w->signal_fd < 0) {
        int code = errno;
        sigprocmask(SIG_SETMASK, &w->before, NULL);
        return err_exit_as(e, ERR_EXIT_PROFILER, code, "signalfd: %s", strerror(code));
    }
    return 0;
}

/* Returns how long to sleep: until the end, or until the progress is drawn again. -1: no limit. */
static int64_t nap_ms(const struct watch *w, uint64_t left, bool ends) {
    bool shown = w->progress && w->progress->shown;
    if (!ends)
        return shown ? PROGRESS_EVERY_MS : -1;
    return shown && left > PROGRESS_EVERY_MS ? PROGRESS_EVERY_MS : (int64_t)left;
}

static enum watch_end run(const struct watch *w, struct session *s, uint64_t duration_ms) {
    uint64_t begin = clock_now_ms(), end = begin + duration_ms, drawn = begin;
    struct pollfd fds[] = {
        {.fd = w->signal_fd, .events = POLLIN},
        {.fd = session_event_fd(s), .events = POLLIN},
    };
    for (;;) {
        struct session_status st;
        struct signalfd_siginfo info;
        uint64_t events;
        session_status(s, &st);
        if (st.phase != SESSION_RUNNING)
            return WATCH_SESSION;
        uint64_t now = clock_now_ms();
        if (duration_ms && now >= end)
            return WATCH_TIME;
        if (w->progress && (now >= drawn + PROGRESS_EVERY_MS || now == begin)) {
            progress_profile(w->progress, now - begin, duration_ms, st.samples);
            drawn = now;
        }
        int64_t nap = nap_ms(w, end - now, duration_ms != 0);
        struct timespec wait = {.tv_sec = nap / 1000, .tv_nsec = (long)(nap % 1000) * 1000000};
        if (ppoll(fds, 2, nap < 0 ? NULL : &wait, NULL) <= 0)
            continue;
        if (fds[0].revents && read(w->signal_fd, &info, sizeof info) > 0)
            return WATCH_SIGNAL;
        if (fds[1].revents && read(fds[1].fd, &events, sizeof events) < 0 && errno != EAGAIN)
            fds[1].fd = -1; /* broken: the time limit and signals still end the profile */
    }
}

enum watch_end watch_run(const struct watch *w, struct session *s, uint64_t duration_ms) {
    enum watch_end end = run(w, s, duration_ms);
    if (w->progress)
        progress_clear(w->progress);
    return end;
}

void watch_forget(struct watch *w) {
    struct signalfd_siginfo info;
    while (w->signal_fd >= 0 && read(w->signal_fd, &info, sizeof info) == sizeof info)
        continue;
}

void watch_close(struct watch *w) {
    if (w->signal_fd < 0)
        return;
    close(w->signal_fd);
    w->signal_fd = -1;
    sigprocmask(SIG_SETMASK, &w->before, NULL);
}
