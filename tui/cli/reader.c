#include "tui/cli/reader.h"

#include "core/event/event.h"
#include "core/wire/layout.h"
#include "tui/cli/background/background.h"
#include "tui/cli/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READY_MS 5000

/* Closes all descriptors from 3 on, except these two. */
static void close_but(int one, int other) {
    unsigned low = (unsigned)(one < other ? one : other),
             high = (unsigned)(one < other ? other : one);
    if (low > 3)
        close_range(3, low - 1, 0);
    if (high > low + 1)
        close_range(low + 1, high - 1, 0);
    close_range(high + 1, ~0U, 0);
}

/* Closes the JVM's descriptors: an inherited pipe or socket would seem open as long as we live.
 * stderr stays open for warnings. */
static void close_others(int memfd, int ready) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    close_but(memfd, ready);
    fcntl(memfd, F_SETFD, FD_CLOEXEC);
}

/* The JVM waits for the end of the process that it started. Its program must not run before it is
 * sampled, so we wait if the agent could not begin by itself, or if the JDK's recorder has to begin
 * too. */
static void wait_until_ready(int from, int memfd, bool more) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    uint32_t generation = 0; /* of the agent's own request */
    off_t at = offsetof(struct wire_mapping, control.request.generation);
    if (!more && pread(memfd, &generation, sizeof generation, at) == sizeof generation &&
        generation)
        return;
    while (poll(&p, 1, READY_MS) < 0 && errno == EINTR)
        ;
}

/* A thread of the JVM may have forked us with signals blocked. SIGINT and SIGHUP are for the JVM
 * and its terminal. SIGTERM asks us to write what we have. */
static void settle_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
}

static int take_settings(struct options *o, struct err *e) {
    struct text unknown = {0};
    int r = o->reader_options ? options_parse_agent(o, o->reader_options, &unknown, e) : 0;
    if (unknown.len)
        fprintf(stderr, "jtop-prof: agent: unknown settings are ignored: %s\n", unknown.data);
    text_free(&unknown);
    if (r == 0 && o->remark[0])
        fprintf(stderr, "jtop-prof: agent: %s\n", o->remark);
    o->session.apart = o->session.engines > 0; /* otherwise the agent chooses */
    return r;
}

static int check_memfd(int fd, struct err *e) {
    struct stat st;
    if (fd <= STDERR_FILENO || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(e, EBADF, "--reader %d: not an agent's shared memory", fd);
    return 0;
}

int reader_run(struct options *o, struct err *e) {
    struct outputs *out = calloc(1, sizeof *out);
    if (!out)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    int r = check_memfd(o->reader_fd, e);
    if (r == 0)
        r = take_settings(o, e);
    if (r == 0)
        r = event_check(o->session.engine, o->session.engines, o->reader_pid, 0, e);
    if (r == 0)
        r = outputs_plan(out, o, o->reader_pid, 0, NULL, e);
    if (r < 0)
        goto done;
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0) {
        r = err_exit_as(e, ERR_EXIT_PROFILER, errno, "pipe: %s", strerror(errno));
        goto done;
    }
    pid_t child = fork();
    if (child != 0) {
        close(ready[1]);
        if (child < 0)
            r = err_exit_as(e, ERR_EXIT_PROFILER, errno, "fork: %s", strerror(errno));
        else
            wait_until_ready(ready[0], o->reader_fd, o->jfr_sync != NULL);
        goto done;
    }
    setsid();
    settle_signals();
    close_others(o->reader_fd, ready[1]);
    o->ready_fd = ready[1];
    r = background_read(o, out, e);
done:
    outputs_free(out);
    free(out);
    return r;
}
