#include "tui/watch.h"

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

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum watch_end watch_run(const struct watch *w, struct session *s, uint64_t duration_ms) {
    uint64_t end = now_ms() + duration_ms;
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
        uint64_t now = now_ms();
        if (duration_ms && now >= end)
            return WATCH_TIME;
        uint64_t left = duration_ms ? end - now : 0;
        struct timespec wait = {.tv_sec = (time_t)(left / 1000),
                                .tv_nsec = (long)(left % 1000) * 1000000};
        if (ppoll(fds, 2, duration_ms ? &wait : NULL, NULL) <= 0)
            continue;
        if (fds[0].revents && read(w->signal_fd, &info, sizeof info) > 0)
            return WATCH_SIGNAL;
        if (fds[1].revents && read(fds[1].fd, &events, sizeof events) < 0 && errno != EAGAIN)
            fds[1].fd = -1; /* broken: the time limit and signals still end the profile */
    }
}

void watch_close(struct watch *w) {
    if (w->signal_fd < 0)
        return;
    close(w->signal_fd);
    w->signal_fd = -1;
    sigprocmask(SIG_SETMASK, &w->before, NULL);
}
