/* The sharing thread: receives requests and lets a separate thread answer one after the other, and
 * sends viewers the data that the drain thread has put into their feeds. It waits only in poll. */
#include "core/session/share/share.h"

#include "core/base/clock.h"
#include "core/record/feed.h"
#include "core/session/session_state.h"
#include "core/session/share/share_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHARE_GUESTS_MAX 24u

enum guest_state { GUEST_NONE, GUEST_SPEAKS, GUEST_WAITS, GUEST_SERVED };

struct guest {
    int fd;
    uint64_t accepted_ns; /* CLOCK_MONOTONIC */
    enum guest_state state;
    uint64_t deadline_ns; /* by then it must have sent its request; 0: no deadline */
    bool greeted;
    struct share_header header; /* of the incoming frame */
    char *in;                   /* the frame's bytes; NULL: the header is not complete */
    size_t have;                /* bytes received of the header or of the frame */
    struct feed *feed;          /* NULL: not a viewer */
};

struct share {
    struct session *session;
    share_handler *handler;
    void *arg;
    int listen_fd, wake_fd;
    pthread_t thread, worker;
    uint64_t deaf_until_ns; /* no new connections are accepted before this, because there are no
                               free descriptors; 0: connections are accepted */
    struct guest guest[SHARE_GUESTS_MAX];
    struct guest *served; /* served by the worker; NULL: none */
    pthread_mutex_t lock;
    /* protected by `lock` */
    bool served_out;       /* the worker has finished */
    bool quiet, quiet_now; /* quiet: no more requests may be served; quiet_now: none is
                              being served */
    bool cut;              /* the client that is being served is disconnected */
    bool quit;
    pthread_cond_t changed;
};

#define LAST_ANSWER_S 5
#define SEND_BYTES (1 << 20)
#define REQUEST_NS UINT64_C(5000000000)
#define DEAF_NS UINT64_C(100000000)
#define STATES_MS 3000u /* a viewer that still needs Java states asks each second */

/* ---- clients: what they send, frame by frame, and what they receive; nothing here waits ---- */

static void share_guest_dismiss(struct guest *g) {
    if (g->feed)
        feed_close(g->feed);
    feed_release(g->feed);
    free(g->in);
    close(g->fd);
    *g = (struct guest){.fd = -1};
}

static void share_guest_next_frame(struct guest *g) {
    free(g->in);
    g->in = NULL;
    g->have = 0;
    g->state = GUEST_SPEAKS;
    g->deadline_ns = g->feed ? 0 : clock_now_ns() + REQUEST_NS;
}

static struct share_exit share_exit_of(int result, const struct err *e);

/* Sends the reason and ends the connection. */
static void send_away(struct guest *g, int result, const struct err *e) {
    struct share_exit x = share_exit_of(result, e);
    struct share_header h = {.kind = SHARE_EXIT, .bytes = sizeof x};
    /* A new connection has room for so little data. */
    if (send(g->fd, &h, sizeof h, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 &&
        send(g->fd, &x, sizeof x, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        g->have = 0;
    share_guest_dismiss(g);
}

static void refuse(struct guest *g, int code, const char *why) {
    struct err e;
    send_away(g, err_set(&e, code, "%s", why), &e);
}

/* Tells the client to ask again: -EAGAIN. */
static void share_guest_turn_away(struct share *h, struct guest *g) {
    struct err e;
    send_away(g, share_just_ending(h->session->jvm.pid, &e), &e);
}

static void greet(struct guest *g) {
    const struct share_hello mine = share_hello();
    char why[160];
    struct share_hello theirs = {0};
    if (g->header.bytes == sizeof theirs)
        memcpy(&theirs, g->in, sizeof theirs);
    theirs.program[sizeof theirs.program - 1] = '\0';
    if (memcmp(&mine, &theirs, sizeof mine) == 0) {
        g->greeted = true;
        share_guest_next_frame(g);
        return;
    }
    snprintf(why, sizeof why,
             "process %d, which profiles this JVM, is another build of %s: use the same build",
             (int)getpid(), mine.program);
    refuse(g, EPROTO, why);
}

static void join(struct share *h, struct guest *g) {
    struct share_join j = {0};
    struct session *s = h->session;
    if (g->header.bytes == sizeof j)
        memcpy(&j, g->in, sizeof j);
    if (j.start_ticks && s->jvm.start_ticks && j.start_ticks != s->jvm.start_ticks) {
        refuse(g, ESRCH, "the profile is of an earlier JVM with the same process number");
        return;
    }
    g->feed = feed_new(j.past != 0);
    int result = g->feed ? drain_add_feed(s, g->feed) : -EUSERS;
    if (result != 0) {
        feed_release(g->feed);
        feed_release(g->feed); /* the drain thread's reference */
        g->feed = NULL;
        if (result == -EAGAIN)
            share_guest_turn_away(h, g);
        else
            refuse(g, EUSERS, "this profile already has too many viewers");
        return;
    }
    share_guest_next_frame(g);
}

/* A complete frame has arrived. */
static void take_frame(struct share *h, struct guest *g) {
    if (!g->greeted) {
        if (g->header.kind == SHARE_HELLO)
            greet(g);
        else
            share_guest_dismiss(g);
    } else if (g->header.kind == SHARE_JOIN && !g->feed) {
        join(h, g);
    } else if (g->header.kind == SHARE_STATES && g->feed) {
        uint32_t all = 0;
        memcpy(&all, g->in, g->header.bytes < sizeof all ? g->header.bytes : sizeof all);
        session_ask_java_states(h->session, STATES_MS, all != 0);
        share_guest_next_frame(g);
    } else if (g->header.kind == (g->feed ? SHARE_ENGINES : SHARE_ASK) ||
               (g->feed && g->header.kind == SHARE_LEND)) {
        g->state = GUEST_WAITS;
        g->deadline_ns = 0;
    } else {
        share_guest_dismiss(g);
    }
}

/* Receives data. False: the client has disconnected, or sent something invalid. */
static bool hear(struct guest *g) {
    bool header = !g->in;
    size_t want = header ? sizeof g->header : g->header.bytes;
    char *to = header ? (char *)&g->header : g->in;
    ssize_t n = want > g->have ? recv(g->fd, to + g->have, want - g->have, MSG_DONTWAIT) : 0;
    if (want > g->have && n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    g->have += (size_t)n;
    if (!header || g->have < want)
        return true;
    if (g->header.bytes > SHARE_REQUEST_MAX)
        return false;
    g->have = 0;
    g->in = calloc(1, (size_t)g->header.bytes + 1);
    return g->in != NULL;
}

static void listen_to(struct share *h, struct guest *g) {
    if (!hear(g))
        share_guest_dismiss(g);
    else if (g->in && g->have == g->header.bytes)
        take_frame(h, g);
}

static bool share_guest_welcome(struct share *h) {
    int fd = accept4(h->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) { /* poll would report it again at once */
        bool none = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        h->deaf_until_ns = none ? clock_now_ns() + DEAF_NS : 0;
        return false;
    }
    struct guest *g = NULL;
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX && !g; i++)
        if (h->guest[i].state == GUEST_NONE)
            g = &h->guest[i];
    if (!g || !share_may_serve(fd)) {
        close(fd);
        return true;
    }
    *g = (struct guest){.fd = fd, .accepted_ns = clock_now_ns()};
    share_guest_next_frame(g);
    return true;
}

static short share_guest_events(struct guest *g) {
    short events = 0;
    if (g->state == GUEST_SPEAKS)
        events |= POLLIN;
    if (g->feed && feed_has_more(g->feed))
        events |= POLLOUT;
    return events;
}

static void share_guest_look_after(struct share *h, struct guest *g, short events, uint64_t now) {
    if (g->state == GUEST_NONE)
        return;
    int rc = g->feed ? feed_send(g->feed, g->fd) : 0;
    if (rc != 0 && rc != -EAGAIN) {
        if (g->state == GUEST_SERVED)
            feed_close(g->feed); /* the worker closes the rest when it has finished */
        else
            share_guest_dismiss(g);
        return;
    }
    if (g->state == GUEST_SPEAKS && events & (POLLIN | POLLHUP | POLLERR))
        listen_to(h, g);
    else if (g->state == GUEST_SPEAKS && g->deadline_ns && now >= g->deadline_ns)
        share_guest_dismiss(g);
}

/* Answers requests one after the other, each in a separate thread, so that a client's request does
 * not delay viewers. */

static struct share_exit share_exit_of(int result, const struct err *e) {
    struct share_exit x = {.result = result};
    if (result == 0)
        return x;
    x.exit_code = e->exit_code;
    snprintf(x.message, sizeof x.message, "%s", e->message);
    return x;
}

static int handle(struct share *h, struct share_reply *r, struct guest *g, struct err *e) {
    char *argv[SHARE_ARGUMENTS_MAX + 1];
    int argc = 0;
    if (!h->handler)
        return err_set(e, EBUSY,
                       "JVM %d is on the screen of process %d: quit that one first, or join as "
                       "viewer: jtop-prof %d",
                       (int)h->session->jvm.pid, (int)getpid(), (int)h->session->jvm.pid);
    if (g->header.bytes == 0 || g->in[g->header.bytes - 1])
        return err_set(e, EPROTO, "the request is not a command line");
    const char *cwd = g->in, *end = g->in + g->header.bytes;
    for (char *at = g->in + strlen(g->in) + 1; at < end && argc < SHARE_ARGUMENTS_MAX;
         at += strlen(at) + 1)
        argv[argc++] = at;
    argv[argc] = NULL;
    return h->handler(h->arg, r, cwd, argc, argv, e);
}

static void answer(struct share *h, struct guest *g) {
    struct share_reply r = {.fd = g->fd, .accepted_ns = g->accepted_ns};
    int room = SEND_BYTES; /* the client writes a piece of a file while the next one is made */
    setsockopt(g->fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    struct err e = {.exit_code = ERR_EXIT_PROFILER};
    struct share_exit x = share_exit_of(handle(h, &r, g, &e), &e);
    if (!r.gone)
        share_send_frame(g->fd, SHARE_EXIT, &x, sizeof x, NULL, 0);
}

/* If the viewer has left meanwhile, the drain thread did not know yet what to end. */
static int lend(struct share *h, struct guest *g, const struct wire_engine_request *engine,
                uint32_t engines, struct err *e) {
    int result = session_lend(h->session, g->feed, engine, engines, e);
    if (engines && feed_closed(g->feed))
        session_lend(h->session, g->feed, NULL, 0, NULL);
    return result;
}

static void change_engines(struct share *h, struct guest *g) {
    struct wire_engine_request engine[WIRE_EVENTS];
    struct err e = {.exit_code = ERR_EXIT_ARGUMENT};
    uint32_t engines = g->header.bytes / (uint32_t)sizeof engine[0];
    int result = -EINVAL;
    if (engines <= WIRE_EVENTS && g->header.bytes % sizeof engine[0] == 0) {
        memcpy(engine, g->in, g->header.bytes);
        for (uint32_t i = 0; i < engines; i++)
            engine[i].name[sizeof engine[i].name - 1] = engine[i].text[sizeof engine[i].text - 1] =
                '\0';
        result = g->header.kind == SHARE_LEND
                     ? lend(h, g, engine, engines, &e)
                     : session_set_engines(h->session, engine, engines, &e);
    }
    struct share_exit x = share_exit_of(result, &e);
    feed_put(g->feed, SHARE_ANSWER, &x, sizeof x);
}

static void *serve(void *arg) {
    struct share *h = arg;
    if (h->served->feed)
        change_engines(h, h->served);
    else
        answer(h, h->served);
    pthread_mutex_lock(&h->lock);
    h->served_out = true;
    pthread_mutex_unlock(&h->lock);
    share_wake(h);
    return NULL;
}

/* Ends the service of a client when the worker has finished. */
static void share_worker_end(struct share *h) {
    pthread_mutex_lock(&h->lock);
    bool out = h->served && h->served_out;
    pthread_mutex_unlock(&h->lock);
    if (!out)
        return;
    pthread_join(h->worker, NULL);
    struct guest *g = h->served;
    h->served = NULL;
    if (g->feed && !feed_closed(g->feed))
        share_guest_next_frame(g);
    else
        share_guest_dismiss(g);
}

static bool is_quiet(struct share *h) {
    pthread_mutex_lock(&h->lock);
    if (h->cut && h->served)
        shutdown(h->served->fd, SHUT_RDWR); /* the worker ends soon */
    if (h->quiet && !h->served) {
        h->quiet_now = true;
        pthread_cond_broadcast(&h->changed);
    }
    bool quiet = h->quiet;
    pthread_mutex_unlock(&h->lock);
    return quiet;
}

/* The session ends: each client that waits for an answer is notified, and asks again. */
static void turn_away(struct share *h) {
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++)
        if (h->guest[i].state == GUEST_WAITS && !h->guest[i].feed)
            share_guest_turn_away(h, &h->guest[i]);
}

/* Starts the next request; requests are served one after the other. Called by the
 * sharing thread. */
static void share_worker_begin(struct share *h) {
    struct guest *g = NULL;
    if (is_quiet(h)) {
        turn_away(h);
        return;
    }
    if (h->served)
        return;
    pthread_mutex_lock(&h->lock);
    h->served_out = false;
    pthread_mutex_unlock(&h->lock);
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX && !g; i++)
        if (h->guest[i].state == GUEST_WAITS)
            g = &h->guest[i];
    if (!g)
        return;
    h->served = g;
    g->state = GUEST_SERVED;
    if (pthread_create(&h->worker, NULL, serve, h) != 0) {
        h->served = NULL;
        share_guest_dismiss(g);
    }
}

#define FAREWELL_MS 300 /* for data that viewers have not been sent at the end */

static void signal_fd(int fd) {
    uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0)
        return; /* it is already full of signals */
}

void share_wake(struct share *h) {
    if (h)
        signal_fd(h->wake_fd);
}

static bool must_quit(struct share *h) {
    pthread_mutex_lock(&h->lock);
    bool quit = h->quit;
    pthread_mutex_unlock(&h->lock);
    return quit;
}

/* Returns how long poll may wait: until the next deadline. */
static int patience(const struct share *h) {
    uint64_t now = clock_now_ns(), next = h->deaf_until_ns ? h->deaf_until_ns : UINT64_MAX;
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++) {
        uint64_t at = h->guest[i].deadline_ns;
        if (h->guest[i].state == GUEST_SPEAKS && at && at < next)
            next = at;
    }
    return next == UINT64_MAX ? -1 : next <= now ? 0 : (int)((next - now) / 1000000u) + 1;
}

static void turn(struct share *h) {
    if (h->deaf_until_ns && clock_now_ns() >= h->deaf_until_ns)
        h->deaf_until_ns = 0;
    struct pollfd p[SHARE_GUESTS_MAX + 2] = {
        {.fd = h->wake_fd, .events = POLLIN},
        {.fd = h->deaf_until_ns ? -1 : h->listen_fd, .events = POLLIN}};
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++) {
        struct guest *g = &h->guest[i];
        short events = g->state == GUEST_NONE ? 0 : share_guest_events(g);
        /* A client that waits or is served sends nothing that matters now; nor does it matter if it
         * disconnects. */
        p[i + 2] = (struct pollfd){.fd = events ? g->fd : -1, .events = events};
    }
    poll(p, SHARE_GUESTS_MAX + 2, patience(h));
    uint64_t n;
    if (p[0].revents && read(h->wake_fd, &n, sizeof n) < 0)
        return;
    uint64_t now = clock_now_ns();
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++)
        share_guest_look_after(h, &h->guest[i], p[i + 2].revents, now);
    if (p[1].revents)
        share_guest_welcome(h);
    share_worker_end(h);
    share_worker_begin(h);
}

/* Accepts the connections made meanwhile, which would otherwise break: these clients also get the
 * message that the session ends. */
static void welcome_the_last(struct share *h) {
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX && share_guest_welcome(h); i++)
        ;
    close(h->listen_fd); /* before any answer is sent, so that no client connects to us again */
    h->listen_fd = -1;
}

/* Sends the remaining data, if that is possible within a short time. */
static void say_farewell(struct share *h) {
    uint64_t until = clock_now_ns() + FAREWELL_MS * UINT64_C(1000000);
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++) {
        struct guest *g = &h->guest[i];
        if (g->state != GUEST_NONE && !g->feed) {
            share_guest_turn_away(h, g);
            continue;
        }
        while (g->feed && feed_send(g->feed, g->fd) == -EAGAIN && clock_now_ns() < until)
            poll(&(struct pollfd){.fd = g->fd, .events = POLLOUT}, 1, 10);
        if (g->state != GUEST_NONE)
            share_guest_dismiss(g);
    }
}

static void *share_main(void *arg) {
    struct share *h = arg;
    while (!must_quit(h))
        turn(h);
    welcome_the_last(h);
    say_farewell(h);
    return NULL;
}

/* Start and end. */

static void share_free(struct share *h) {
    if (h->listen_fd >= 0)
        close(h->listen_fd);
    if (h->wake_fd >= 0)
        close(h->wake_fd);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
    free(h);
}

static int start(struct share *h, struct err *e) {
    sigset_t all, before;
    h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (h->wake_fd < 0)
        return err_set(e, errno, "no descriptor: %s", strerror(errno));
    if (h->listen_fd < 0)
        h->listen_fd = share_listen(h->session->jvm.pid, e);
    if (h->listen_fd < 0)
        return h->listen_fd;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&h->thread, NULL, share_main, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? err_set(e, code, "cannot start a thread: %s", strerror(code)) : 0;
}

int share_begin(struct session *s, int socket, share_handler *handler, void *arg, struct err *e) {
    struct share *h = calloc(1, sizeof *h);
    if (!h) {
        if (socket >= 0)
            close(socket);
        return err_set(e, ENOMEM, "out of memory");
    }
    *h = (struct share){
        .session = s, .handler = handler, .arg = arg, .listen_fd = socket, .wake_fd = -1};
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++)
        h->guest[i].fd = -1;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    int result = start(h, e);
    if (result != 0) {
        share_free(h);
        return result;
    }
    session_lock(s);
    s->share = h;
    session_unlock(s);
    return 0;
}

/* `limited`: after LAST_ANSWER_S the client in progress is disconnected. */
static void be_quiet(struct share *h, bool limited) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LAST_ANSWER_S;
    pthread_mutex_lock(&h->lock);
    h->quiet = true;
    signal_fd(h->wake_fd);
    while (!h->quiet_now) {
        if (!limited || h->cut) {
            pthread_cond_wait(&h->changed, &h->lock);
        } else if (pthread_cond_timedwait(&h->changed, &h->lock, &until) == ETIMEDOUT) {
            h->cut = true;
            signal_fd(h->wake_fd);
        }
    }
    pthread_mutex_unlock(&h->lock);
}

void share_quiet(struct share *h) {
    if (h)
        be_quiet(h, false);
}

void share_end(struct share *h) {
    if (!h)
        return;
    share_quiet(h);
    pthread_mutex_lock(&h->lock);
    h->quit = true;
    pthread_mutex_unlock(&h->lock);
    signal_fd(h->wake_fd);
    pthread_join(h->thread, NULL);
    share_free(h);
}

int session_share(struct session *s, share_handler *handler, void *arg, struct err *e) {
    return session_share_on(s, -1, handler, arg, e);
}

int session_share_on(struct session *s, int socket, share_handler *handler, void *arg,
                     struct err *e) {
    session_lock(s);
    bool shared = s->share || s->joined;
    if (s->joined && !s->share) { /* it is shared when the other process ends and this one
                                     continues */
        s->share_later = true;
        s->share_handler = handler;
        s->share_arg = arg;
    }
    session_unlock(s);
    if (!shared && s->threaded)
        return share_begin(s, socket, handler, arg, e);
    if (socket >= 0)
        close(socket);
    return shared ? 0 : err_set(e, EINVAL, "a recording cannot be shared");
}

void session_quiet(struct session *s) {
    if (!s)
        return;
    session_lock(s);
    struct share *share = s->share;
    session_unlock(s);
    if (share)
        be_quiet(share, true);
}

int session_share_socket(struct session *s) {
    session_lock(s);
    int fd = s->share ? fcntl(s->share->listen_fd, F_DUPFD_CLOEXEC, 0) : -1;
    session_unlock(s);
    return fd;
}
