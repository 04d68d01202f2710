#include "core/session/share/join.h"

#include "core/base/clock.h"
#include "core/session/agent_link.h"
#include "core/session/pauses.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define TURN_MS 200
#define FIRST_NS (15 * SECOND_NS) /* a long past takes its time */
#define ANSWER_NS (8 * SECOND_NS)
#define TURN_BYTES (8u << 20) /* taken in before anything else is looked at */

int join_connect(struct join *j, const struct jvm *jvm, bool past, struct err *e) {
    const struct share_hello hello = share_hello();
    const struct share_join join = {.start_ticks = jvm->start_ticks, .past = past};
    j->fd = share_connect(jvm->pid, &j->reader, e);
    if (j->fd < 0)
        return j->fd;
    int rc = share_send_frame(j->fd, SHARE_HELLO, &hello, sizeof hello, NULL, 0);
    if (rc == 0)
        rc = share_send_frame(j->fd, SHARE_JOIN, &join, sizeof join, NULL, 0);
    j->told = j->over = j->has_header = false;
    j->have = 0;
    j->deadline_ns = clock_now_ns() + FIRST_NS;
    if (rc == 0)
        return 0;
    close(j->fd);
    j->fd = -1;
    return err_set(e, -rc, "process %d does not let us look on: %s", (int)j->reader, strerror(-rc));
}

void join_hear(struct session *s, struct join *j) {
    for (size_t taken = 0; taken < TURN_BYTES && !j->over;) {
        size_t want = j->has_header ? j->header.bytes : sizeof j->header;
        char *to = j->has_header ? (char *)j->frame : (char *)&j->header;
        ssize_t n = want > j->have ? recv(j->fd, to + j->have, want - j->have, MSG_DONTWAIT) : 0;
        if (want > j->have && n <= 0) {
            j->over = n == 0 || (errno != EAGAIN && errno != EINTR);
            return;
        }
        j->have += (size_t)n;
        taken += (size_t)n;
        if (j->have < want)
            continue;
        j->have = 0;
        if (j->has_header)
            j->over = !join_take(s, j, j->header.kind, j->frame, want);
        else
            j->over = j->header.bytes > sizeof j->frame;
        j->has_header = !j->has_header;
    }
}

/* What is asked of us. */

static void finish(struct session *s, int code, const char *why) {
    struct err e;
    err_exit_as(&e, ERR_EXIT_PROFILER, code, "%s", why);
    session_finish(s, WIRE_COMMAND_START, -code, &e);
}

static void ask_engines(struct session *s, struct join *j) {
    struct wire_engine_request engine[WIRE_EVENTS];
    session_lock(s);
    uint32_t engines = s->options.engines;
    memcpy(engine, s->options.engine, sizeof engine);
    session_unlock(s);
    if (share_send_frame(j->fd, SHARE_ENGINES, engine, engines * sizeof engine[0], NULL, 0) != 0) {
        finish(s, EPIPE, "the process that samples this JVM does not listen");
        return;
    }
    j->asked = true;
    j->deadline_ns = clock_now_ns() + ANSWER_NS;
}

static void serve(struct session *s, struct join *j, uint64_t now) {
    enum wire_command command = drain_wanted(s);
    if (command == WIRE_COMMAND_STOP || command == WIRE_COMMAND_DETACH)
        session_finish(s, command, 0, NULL);
    if (command != WIRE_COMMAND_START)
        return;
    if (!j->told && now > j->deadline_ns)
        finish(s, ETIMEDOUT, "the process that samples this JVM does not let us look on");
    else if (j->asked && now > j->deadline_ns)
        finish(s, ETIMEDOUT, "the process that samples this JVM did not answer in time");
    else if (j->told && !j->asked)
        ask_engines(s, j);
    if (now > j->deadline_ns)
        j->asked = false;
}

/* There is nobody to ask any more. */
static void refuse(struct session *s) {
    enum wire_command command = drain_wanted(s);
    if (command == WIRE_COMMAND_START)
        finish(s, ESRCH, "the process that sampled this JVM has ended: open the JVM anew");
    else
        session_finish(s, command, 0, NULL);
}

static void every_second(struct session *s, struct join *j, uint64_t now) {
    if (now < j->second_ns)
        return;
    j->second_ns = now + SECOND_NS;
    session_lock(s);
    decoder_expire(s->drain.decoder);
    session_unlock(s);
    drain_look_at_jvm(s, now);
    drain_mark(s);
}

/* The end. */

static bool process_gone(struct session *s) {
    struct pollfd p = {.fd = s->pid_fd, .events = POLLIN};
    return s->pid_fd >= 0 ? poll(&p, 1, 0) > 0 : kill(s->jvm.pid, 0) != 0 && errno == ESRCH;
}

static void flush(struct session *s) {
    session_lock(s);
    decoder_flush(s->drain.decoder);
    session_unlock(s);
    drain_mark(s);
    drain_run_clock(s, false);
}

/* True: the JVM is ours. */
static bool carry_on(struct session *s, struct join *j) {
    char message[256];
    struct err e = {0};
    enum session_phase phase = drain_phase(s);
    close(j->fd);
    j->fd = -1;
    if (!j->was_told || drain_wanted(s) == WIRE_COMMAND_START)
        finish(s, EPIPE, "the process that sampled this JVM has ended");
    if (!j->was_told || phase != SESSION_RUNNING) {
        flush(s);
        return false;
    }
    if (process_gone(s)) {
        flush(s);
        snprintf(message, sizeof message, "JVM %d is gone", (int)s->jvm.pid);
        session_set_phase(s, SESSION_JVM_GONE, message);
        return false;
    }
    pid_t before = j->reader;
    int rc = join_succeed(s, j, &e);
    if (rc == 1)
        session_set_message(s, "process %d, which sampled this JVM, has ended: sampled from here",
                            (int)before);
    if (rc >= 0)
        return rc == 1;
    flush(s);
    snprintf(message, sizeof message, "process %d, which sampled this JVM, has ended: %.180s",
             (int)before, e.message);
    session_set_phase(s, rc == -ENOTSUP ? SESSION_STOPPED : SESSION_FAILED, message);
    return false;
}

static void wait_for_work(struct session *s, const struct join *j) {
    struct pollfd fds[] = {{.fd = s->wake_fd, .events = POLLIN}, {.fd = j->fd, .events = POLLIN}};
    uint64_t n;
    if (poll(fds, 2, TURN_MS) > 0 && fds[0].revents && read(s->wake_fd, &n, sizeof n) < 0)
        return;
}

static bool must_quit(struct session *s) {
    session_lock(s);
    bool quit = s->quit;
    session_unlock(s);
    return quit;
}

static void *join_main(void *arg) {
    struct session *s = arg;
    struct join *j = s->join;
    while (!must_quit(s)) {
        wait_for_work(s, j);
        uint64_t now = clock_now_ns();
        s->drain.decoder->now_ns = now;
        if (j->fd >= 0)
            join_hear(s, j);
        if (j->fd >= 0 && j->over && carry_on(s, j))
            return drain_main(s);
        drain_swap_recording(s);
        if (j->fd >= 0)
            serve(s, j, now);
        else
            refuse(s);
        every_second(s, j, now);
    }
    return NULL;
}

/* The beginning. */

static int begin(struct session *s, struct err *e) {
    sigset_t all, before;
    s->pid_fd = (int)syscall(SYS_pidfd_open, s->jvm.pid, 0);
    session_begin_request(s, WIRE_COMMAND_START); /* done with the first status */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&s->thread, NULL, join_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, code, "cannot start a thread: %s", strerror(code));
    s->threaded = true;
    return session_await_request(s, e);
}

static int open_recording(struct session *s, struct err *e) {
    return s->options.record ? session_record(s, s->options.record, e) : 0;
}

int session_join(const struct jvm *jvm, const struct session_options *o, struct session **out,
                 struct err *e) {
    struct session *s = NULL;
    *out = NULL;
    int result = session_new(o, &s, e);
    if (!s)
        return result;
    s->jvm = *jvm;
    s->joined = true;
    s->drain.decoder->replay = true;
    s->drain.decoder->policy = drain_policy;
    s->drain.decoder->policy_arg = s;
    s->join = calloc(1, sizeof *s->join);
    if (!s->join) {
        session_close(s);
        return err_set(e, ENOMEM, "out of memory");
    }
    s->join->fd = -1;
    result = join_connect(s->join, jvm, true, e);
    /* For when the other one ends; it does without. */
    if (result == 0 && agent_library_find(o->library, s->library, sizeof s->library, NULL) != 0)
        s->library[0] = '\0';
    if (result == 0)
        result = begin(s, e);
    if (result == 0)
        result = open_recording(s, e);
    if (result != 0)
        session_close(s);
    else
        *out = s;
    return result;
}
