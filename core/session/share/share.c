/* The sharing thread: takes requests in, lets one after the other be answered by a thread of its
 * own, and sends those who look on what the drain thread has put in their feeds. It never waits for
 * anybody but in poll. */
#include "core/session/share/share_state.h"

#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FAREWELL_MS 300 /* for what those who look on have not been sent at the end */

static void signal_fd(int fd) {
    uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0)
        return; /* it is full of signals already */
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

/* What poll may wait; until the next deadline. */
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
        /* One that waits or is served is not listened to; nor would its end be news. */
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

/* Whoever has connected meanwhile would see a connection that breaks: they are told too. */
static void welcome_the_last(struct share *h) {
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX && share_guest_welcome(h); i++)
        ;
    close(h->listen_fd); /* before anything is said, so that nobody comes back to us */
    h->listen_fd = -1;
}

/* What is still to be sent, if it goes soon. */
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

/* Beginning and end. */

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

void share_quiet(struct share *h) {
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->quiet = true;
    signal_fd(h->wake_fd);
    while (!h->quiet_now)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
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
    if (s->joined && !s->share) { /* when the other one ends and this one goes on */
        s->share_later = true;
        s->share_handler = handler;
        s->share_arg = arg;
    }
    session_unlock(s);
    if (!shared && s->threaded)
        return share_begin(s, socket, handler, arg, e);
    if (socket >= 0)
        close(socket);
    return shared ? 0 : err_set(e, EINVAL, "a recording is not shared");
}

int session_share_socket(struct session *s) {
    session_lock(s);
    int fd = s->share ? fcntl(s->share->listen_fd, F_DUPFD_CLOEXEC, 0) : -1;
    session_unlock(s);
    return fd;
}
