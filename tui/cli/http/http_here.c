/* What jtop-prof-http does where jtop-prof becomes it. */
#include "tui/cli/http/http_parts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Readable when we are told to end. Signals that were ignored stay so; threads inherit the mask. */
static int open_stop_fd(struct err *e) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction now;
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : err_set(e, errno, "no signalfd: %s", strerror(errno));
}

int http_run(const struct options *o, int argc, char **argv, struct err *e) {
    (void)argc, (void)argv;
    int stop_fd = open_stop_fd(e);
    if (stop_fd < 0)
        return stop_fd;
    int r = strcmp(o->word, "push") == 0 ? http_push(o, stop_fd, e) : http_serve(o, stop_fd, e);
    close(stop_fd);
    return r;
}
