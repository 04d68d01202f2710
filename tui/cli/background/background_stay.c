/* Profiles of asprof's -d: the command ends with its report, and the collected profile stays. */
#include "tui/cli/background/background_parts.h"

#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The result of collecting. */
struct news {
    int result;
    enum watch_end end;
    struct err e;
};

#define INHERITED_MAX 1024

struct background_stay {
    int news_fd;                   /* -1: the result was reported */
    bool inherited[INHERITED_MAX]; /* descriptors inherited from the caller: locks, pipes to -f
                                      /dev/fd/N */
};

static void tell(struct background_stay *stay, int r, enum watch_end end, const struct err *e) {
    struct news n = {.result = r, .end = end};
    if (stay->news_fd < 0)
        return;
    if (r < 0)
        n.e = *e;
    fflush(NULL);
    if (write(stay->news_fd, &n, sizeof n) != (ssize_t)sizeof n)
        n.result = r; /* the caller no longer waits for it */
    close(stay->news_fd);
    stay->news_fd = -1;
}

static void leave(const struct background_stay *stay) {
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
        dup2(null, fd);
    if (null >= 0)
        close(null);
    for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++)
        if (stay->inherited[fd])
            close(fd);
}

void background_stay_on(struct background_stay *stay, struct background *b, enum watch_end end) {
    struct watch w = {.signal_fd = -1};
    struct err ignored;
    if (!stay || !b || stay->news_fd < 0)
        return;
    int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0 || watch_open(&w, &ignored) < 0 || chdir("/") < 0) {
        if (wake >= 0)
            close(wake);
        watch_close(&w);
        return;
    }
    pthread_mutex_lock(&b->lock);
    b->wake_fd = wake;
    b->foreground = b->closing = b->told = false;
    b->written = b->asked_for = true;
    b->active_ms = clock_now_ms();
    pthread_mutex_unlock(&b->lock);
    prctl(PR_SET_PDEATHSIG, 0);
    fflush(NULL);
    leave(stay);
    tell(stay, 0, end, NULL);
    background_await(b, &w);
    watch_close(&w);
}

/* Waits for the result. Signals to the caller are passed on to the child, because they are meant
 * for the profile. */
static int await(pid_t child, int news_fd, const struct watch *w, struct news *n) {
    struct signalfd_siginfo info;
    struct pollfd fds[] = {{.fd = news_fd, .events = POLLIN},
                           {.fd = w->signal_fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return -errno;
        if (fds[1].revents & POLLIN && read(w->signal_fd, &info, sizeof info) == sizeof info)
            kill(child, (int)info.ssi_signo);
        if (!fds[0].revents)
            continue;
        ssize_t got = read(news_fd, n, sizeof *n);
        return got == (ssize_t)sizeof *n ? 0 : -EPIPE;
    }
}

/* If the child died by a signal, we die by the same signal. */
static int explain_death(pid_t child, struct watch *w, struct err *e) {
    int status = 0;
    watch_close(w);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return err_exit_as(e, ERR_EXIT_PROFILER, ECHILD, "the process that profiled ended too early");
}

static int caller(pid_t child, int news_fd, enum watch_end *end, struct err *e) {
    struct watch w = {.signal_fd = -1};
    struct news n = {0};
    int r = watch_open(&w, e);
    if (r < 0)
        return r;
    r = await(child, news_fd, &w, &n);
    if (r < 0)
        return explain_death(child, &w, e);
    watch_close(&w);
    *end = n.end;
    if (n.result < 0)
        *e = n.e;
    return n.result;
}

static void collector(const struct options *o, const struct jvm *j, pid_t parent, int news_fd,
                      background_collect *collect) {
    static struct background_stay stay;
    enum watch_end end = WATCH_TIME;
    struct err e = {0};
    stay.news_fd = news_fd;
    for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++)
        stay.inherited[fd] = fd != news_fd && fcntl(fd, F_GETFD) >= 0;
    /* In a group of its own, the child gets the terminal's Ctrl-C only once, from the caller. Its
     * output to the terminal must not stop it (stty tostop). */
    progress_for_group(getpgrp());
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    int r = collect(o, j, &stay, &end, &e);
    tell(&stay, r, end, &e);
    exit(0);
}

int background_stay(const struct options *o, const struct jvm *j, background_collect *collect,
                    enum watch_end *end, struct err *e) {
    int fd[2];
    pid_t parent = getpid();
    if (pipe2(fd, O_CLOEXEC) < 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, errno, "pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(fd[0]);
        collector(o, j, parent, fd[1], collect);
    }
    int r = child < 0 ? err_exit_as(e, ERR_EXIT_PROFILER, errno, "fork: %s", strerror(errno)) : 0;
    close(fd[1]);
    if (child > 0)
        r = caller(child, fd[0], end, e);
    close(fd[0]);
    return r;
}
