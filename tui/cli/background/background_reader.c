/* The process that stays: it takes the profile, waits for its end, and then for more requests. */
#include "tui/cli/background/background_parts.h"

#include "core/base/clock.h"
#include "tui/cli/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int plan(struct background *b, const struct options *o, pid_t pid, struct err *e) {
    if (!b->files || b->turn == 0)
        return 0;
    outputs_free(b->files);
    return outputs_plan(b->files, o, (int)pid, b->turn, NULL, e);
}

/* Begins the session of a turn; closes that of the last one, after its last answer. */
static int attach(struct background *b, struct options *o, const struct jvm *j, struct session **s,
                  struct err *e) {
    struct session *before = b->s;
    if (o->reader_fd >= 0 && b->turn == 0)
        return session_adopt(o->reader_fd, o->reader_pid, &o->session, s, e);
    o->session.record = b->turn ? NULL : o->session.record; /* only in the first turn: now the file
                                                               exists */
    session_quiet(before);
    int r = before ? session_next(before, &o->session, s, e) : -ENOTCONN;
    session_close(before);
    b->s = NULL;
    return r == -ENOTCONN ? session_attach(j, &o->session, s, e) : r;
}

/* Files that still grow are freed before the session that they grow from. From now on, requests
 * must wait for the next turn. */
static void end_turn(struct background *b) {
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    if (b->files)
        outputs_free(b->files);
    pthread_mutex_unlock(&b->lock);
}

void background_close_turn(struct background *b) {
    end_turn(b);
    session_close(b->s);
    b->s = NULL;
}

/* Lets the application start. */
static void say_ready(struct options *o) {
    if (o->ready_fd)
        close(o->ready_fd);
    o->ready_fd = 0;
}

int background_begin_turn(struct background *b, struct options *o, const struct jvm *j, bool alone,
                          struct err *e) {
    struct session *s = NULL;
    if (b->s)
        end_turn(b);
    pthread_mutex_lock(&b->lock);
    int r = plan(b, o, j->pid, e);
    pthread_mutex_unlock(&b->lock);
    if (r == 0)
        r = attach(b, o, j, &s, e);
    if (r < 0) {
        background_close_turn(b);
        say_ready(o);
        return r;
    }
    b->s = s;
    b->since = time(NULL);
    b->active_ms = clock_now_ms();
    b->written = false;
    uint64_t loop = options_moment_ms(&o->loop, b->since);
    b->loop_ms = loop ? b->active_ms + loop : 0;
    pthread_mutex_lock(&b->lock); /* no answers before everything is ready */
    b->closing = false;
    r = session_share_on(s, b->socket, background_answer, b, e);
    b->socket = -1;
    if (r < 0 && alone) /* the files are still written */
        r = 0;
    if (r == 0 && b->files)
        r = outputs_begin(b->files, o, s, e);
    pthread_mutex_unlock(&b->lock);
    say_ready(o);
    if (r < 0)
        background_close_turn(b);
    return r;
}

int background_write(struct background *b) {
    if (!b->files)
        return 0;
    if (b->written)
        return b->unwritten;
    b->written = true;
    b->why = (struct err){0};
    b->unwritten = outputs_write(b->files, b->o, b->s, &b->why);
    session_reader_done(b->s);
    if (b->unwritten < 0 && b->result == 0) {
        b->result = b->unwritten;
        b->failure = b->why;
    }
    return b->unwritten;
}

/* Why the wait ended. */
enum turn_end { TURN_NOT = 0, TURN_NEXT, TURN_ANEW, TURN_OVER };

static uint64_t sooner(uint64_t a, uint64_t b) {
    return a && (!b || a < b) ? a : b;
}

/* Handles a profile that ended without a stop. If its files were written, the reader is not needed
 * any more. */
static enum turn_end end_by_itself(struct background *b) {
    bool failed = background_write(b) < 0, is_agents = b->o->reader_fd >= 0;
    return is_agents || (b->files && !failed) ? TURN_OVER : TURN_NOT;
}

/* Does what is due now. The lock is held. */
static enum turn_end look(struct background *b) {
    struct session_status st;
    uint64_t now = clock_now_ms();
    session_status(b->s, &st);
    bool runs = st.phase == SESSION_RUNNING;
    if (b->next)
        return TURN_ANEW;
    if (b->give_way)
        return TURN_OVER;
    if (b->told) {
        session_stop(b->s, NULL);
        background_write(b);
        return TURN_OVER;
    }
    if (runs && b->limit_ms && now >= b->limit_ms) {
        session_stop(b->s, NULL);
        b->active_ms = now;
        return end_by_itself(b);
    }
    if (runs && b->loop_ms && now >= b->loop_ms) {
        session_stop(b->s, NULL);
        background_write(b);
        return TURN_NEXT;
    }
    if (runs)
        return TURN_NOT;
    if ((st.phase == SESSION_JVM_GONE || st.phase == SESSION_FAILED) && !b->written && b->files)
        return end_by_itself(b);
    if (st.phase == SESSION_JVM_GONE && b->asked_for)
        return TURN_OVER;
    return now - b->active_ms >= BACKGROUND_LINGER_MS ? TURN_OVER : TURN_NOT;
}

/* Returns when to call look() again at the latest; 0: no limit. The lock is held. */
static uint64_t due(struct background *b) {
    struct session_status st;
    session_status(b->s, &st);
    return st.phase == SESSION_RUNNING ? sooner(b->limit_ms, b->loop_ms)
                                       : b->active_ms + BACKGROUND_LINGER_MS;
}

static void drain_eventfd(const struct pollfd *p) {
    uint64_t n;
    if (p->revents && read(p->fd, &n, sizeof n) < 0 && errno != EAGAIN)
        return;
}

/* Reports requested events that never ran: their reports are empty, without a reason. */
static void say_missing(struct session *s) {
    struct session_status st;
    session_status(s, &st);
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (st.engine[i].asked && st.engine[i].error && !st.engine[i].samples)
            fprintf(stderr, "jtop-prof: %s was not sampled: %s\n", st.engine[i].name,
                    st.engine[i].reason[0] ? st.engine[i].reason : strerror(st.engine[i].error));
}

/* Gives up the application's standard error, which a reader started by the agent has. It may be a
 * pipe, whose reader waits until all writers have closed it. So we close it when the application
 * has ended. */
static void leave_stderr(struct background *b) {
    struct session_status st;
    session_status(b->s, &st);
    if (b->silent || b->o->reader_fd < 0 || st.phase != SESSION_JVM_GONE)
        return;
    b->silent = true;
    say_missing(b->s);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDERR_FILENO);
        close(null);
    }
}

static enum turn_end await_end(struct background *b, const struct watch *w) {
    struct pollfd fds[] = {
        {.fd = w->signal_fd, .events = POLLIN},
        {.fd = session_event_fd(b->s), .events = POLLIN},
        {.fd = b->wake_fd, .events = POLLIN},
    };
    struct signalfd_siginfo info;
    for (;;) {
        pthread_mutex_lock(&b->lock);
        enum turn_end end = look(b);
        b->closing = b->closing || end != TURN_NOT; /* nothing is begun any more */
        uint64_t then = due(b), now = clock_now_ms();
        pthread_mutex_unlock(&b->lock);
        if (end != TURN_NOT)
            return end;
        leave_stderr(b);
        uint64_t left = then > now ? then - now : 0;
        struct timespec wait = {.tv_sec = (time_t)(left / 1000),
                                .tv_nsec = (long)(left % 1000) * 1000000};
        if (ppoll(fds, 3, then ? &wait : NULL, NULL) <= 0)
            continue;
        if (fds[0].revents && read(w->signal_fd, &info, sizeof info) > 0)
            b->told = true;
        drain_eventfd(&fds[1]);
        drain_eventfd(&fds[2]);
    }
}

void background_await(struct background *b, const struct watch *w) {
    (void)await_end(b, w);
}

/* Reports the result of the turn on the stderr of an agent's reader; other readers have no
 * stderr. */
static int say_end(struct background *b, struct err *e) {
    int r = batch_failed(b->s, e);
    say_missing(b->s);
    if (r == 0 && b->result < 0) {
        r = b->result;
        *e = b->failure;
    }
    return r;
}

/* Closes the socket, so that processes that wait for the next turn learn that there is none. */
static void drop_socket(struct background *b) {
    if (b->socket >= 0)
        close(b->socket);
    b->socket = -1;
}

/* True if the JVM is just ending: it soon answers as if it were no JVM, and no more turns are
 * due. */
static bool is_ending(pid_t pid) {
    struct jvm unused;
    for (int i = 0; i < 20; i++) {
        if (jvm_inspect(pid, &unused, NULL) == -ESRCH)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL);
    }
    return false;
}

/* Runs turn after turn, and profile after profile. The first one has begun. */
int background_go_on(struct background *b, struct options *o, struct jvm *j, const struct watch *w,
                     struct err *e) {
    for (;;) {
        enum turn_end end = await_end(b, w);
        if (end == TURN_ANEW) {
            o = background_take_next(b);
            if (o)
                continue;
            return 0;
        }
        int r = say_end(b, e);
        if (end != TURN_NEXT || r < 0) {
            background_close_turn(b);
            return r;
        }
        b->socket = session_share_socket(b->s);
        pthread_mutex_lock(&b->lock);
        b->turn++;
        pthread_mutex_unlock(&b->lock);
        pid_t pid = j->pid;
        r = jvm_inspect(pid, j, e);
        if (r == 0)
            r = background_begin_turn(b, o, j, true, e);
        else
            background_close_turn(b);
        drop_socket(b);
        if (r < 0)
            return r == -ESRCH || is_ending(pid) ? 0 : r;
    }
}

void background_set_limit(struct background *b, const struct options *o) {
    uint64_t limit = options_moment_ms(&o->timeout, time(NULL));
    b->limit_ms = limit ? clock_now_ms() + limit : 0;
}

int background_open(struct background *b, const struct options *o, struct err *e) {
    b->o = o;
    b->socket = -1;
    b->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (b->wake_fd < 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, errno, "eventfd: %s", strerror(errno));
    pthread_mutex_init(&b->lock, NULL);
    background_set_limit(b, o);
    return 0;
}

void background_close(struct background *b) {
    pthread_mutex_destroy(&b->lock);
    close(b->wake_fd);
}

int background_read(struct options *o, struct outputs *out, struct err *e) {
    struct background b = {.files = o->files ? out : NULL};
    struct watch w = {.signal_fd = -1};
    struct jvm j = {.pid = o->reader_pid};
    int r = watch_open(&w, e);
    if (r == 0)
        r = background_open(&b, o, e);
    if (r == 0) {
        r = background_begin_turn(&b, o, &j, true, e);
        if (r == 0)
            r = background_go_on(&b, o, &j, &w, e);
        background_close(&b);
    }
    watch_close(&w);
    return r;
}
