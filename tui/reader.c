#include "tui/reader.h"

#include "core/session/event.h"
#include "tui/background.h"
#include "tui/batch.h"
#include "tui/output.h"
#include "tui/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The JVM's descriptors are none of our business, and an open pipe or socket of it would seem
 * alive for as long as we live. stderr stays: warnings go there. */
static void close_others(int memfd) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    if (memfd > 3)
        close_range(3, (unsigned)memfd - 1, 0);
    close_range((unsigned)memfd + 1, ~0U, 0);
    fcntl(memfd, F_SETFD, FD_CLOEXEC);
}

/* A JVM's thread may have forked us with signals blocked. SIGINT and SIGHUP are for the JVM and its
 * terminal; SIGTERM asks us to write what is there. */
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
        fprintf(stderr, "jtop-prof: agent: not known here and left out: %s\n", unknown.data);
    text_free(&unknown);
    return r;
}

static int check_memfd(int fd, struct err *e) {
    struct stat st;
    if (fd <= STDERR_FILENO || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(e, EBADF, "--reader %d: not an agent's shared memory", fd);
    return 0;
}

/* What was asked for and never ran: its report is empty, and does not say why. */
static void say_missing(struct session *s) {
    struct session_status st;
    session_status(s, &st);
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (st.engine[i].asked && st.engine[i].error && !st.engine[i].samples)
            fprintf(stderr, "jtop-prof: %s was not sampled: %s\n", st.engine[i].name,
                    st.engine[i].reason[0] ? st.engine[i].reason : strerror(st.engine[i].error));
}

/* Attaches anew for the other turns of loop=: an agent's own reader has one. */
static int read_and_write(struct options *o, struct outputs *out, struct watch *w, struct err *e) {
    struct session *s = NULL;
    struct session_options so = o->session;
    int r = session_adopt(o->reader_fd, o->reader_pid, &so, &s, e);
    if (r < 0)
        return r;
    background_share(o, s);
    r = outputs_begin(out, o, s, e);
    if (r < 0) {
        session_close(s);
        return r;
    }
    uint64_t limit = options_moment_ms(&o->timeout, time(NULL));
    uint64_t loop = options_moment_ms(&o->loop, time(NULL));
    bool loops = loop && (!limit || loop < limit);
    enum watch_end end = watch_run(w, s, loops ? loop : limit);
    struct err write_error = {0};
    r = batch_failed(s, e);
    session_stop(s, NULL);
    int written = outputs_write(out, o, s, &write_error);
    if (r == 0 && written < 0) {
        r = written;
        *e = write_error;
    }
    say_missing(s);
    session_reader_done(s);
    session_close(s);
    if (r < 0 || !loops || end != WATCH_TIME)
        return r;
    if (o->timeout.ms)
        o->timeout.ms -= loop;
    watch_close(w);
    return batch_go_on(o, o->reader_pid, e);
}

int reader_run(struct options *o, struct err *e) {
    struct outputs *out = calloc(1, sizeof *out);
    struct watch w = {.signal_fd = -1};
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
    pid_t child = fork();
    if (child != 0) {
        if (child < 0)
            r = err_exit_as(e, ERR_EXIT_PROFILER, errno, "fork: %s", strerror(errno));
        goto done;
    }
    setsid();
    settle_signals();
    close_others(o->reader_fd);
    r = watch_open(&w, e);
    if (r == 0)
        r = read_and_write(o, out, &w, e);
    watch_close(&w);
done:
    outputs_free(out);
    free(out);
    return r;
}
