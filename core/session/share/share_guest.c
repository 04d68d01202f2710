/* Whoever is connected: what it says frame by frame, and what it is told. Nothing here waits. */
#include "core/session/share/share_state.h"

#include "core/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_NS UINT64_C(5000000000)
#define DEAF_NS UINT64_C(100000000)

void share_guest_dismiss(struct guest *g) {
    if (g->feed)
        feed_close(g->feed);
    feed_release(g->feed);
    free(g->in);
    close(g->fd);
    *g = (struct guest){.fd = -1};
}

void share_guest_next_frame(struct guest *g) {
    free(g->in);
    g->in = NULL;
    g->have = 0;
    g->state = GUEST_SPEAKS;
    g->deadline_ns = g->feed ? 0 : clock_now_ns() + REQUEST_NS;
}

/* Says why, and ends the connection. */
static void send_away(struct guest *g, int result, const struct err *e) {
    struct share_exit x = share_exit_of(result, e);
    struct share_header h = {.kind = SHARE_EXIT, .bytes = sizeof x};
    /* There is room for so little in a new connection. */
    if (send(g->fd, &h, sizeof h, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 &&
        send(g->fd, &x, sizeof x, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        g->have = 0;
    share_guest_dismiss(g);
}

static void refuse(struct guest *g, int code, const char *why) {
    struct err e;
    send_away(g, err_set(&e, code, "%s", why), &e);
}

void share_guest_turn_away(struct share *h, struct guest *g) {
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
             "process %d, which profiles this JVM, is another build of %s: use the same one",
             (int)getpid(), mine.program);
    refuse(g, EPROTO, why);
}

static void join(struct share *h, struct guest *g) {
    struct share_join j = {0};
    struct session *s = h->session;
    if (g->header.bytes == sizeof j)
        memcpy(&j, g->in, sizeof j);
    if (j.start_ticks && s->jvm.start_ticks && j.start_ticks != s->jvm.start_ticks) {
        refuse(g, ESRCH, "the profile is of another JVM that had this number before");
        return;
    }
    g->feed = feed_new(j.past != 0);
    if (!g->feed || drain_add_feed(s, g->feed) != 0) {
        feed_release(g->feed);
        feed_release(g->feed); /* the drain thread's */
        g->feed = NULL;
        refuse(g, EUSERS, "too many look on at this profile already");
        return;
    }
    share_guest_next_frame(g);
}

/* A whole frame has come. */
static void take_frame(struct share *h, struct guest *g) {
    if (!g->greeted) {
        if (g->header.kind == SHARE_HELLO)
            greet(g);
        else
            share_guest_dismiss(g);
    } else if (g->header.kind == SHARE_JOIN && !g->feed) {
        join(h, g);
    } else if (g->header.kind == (g->feed ? SHARE_ENGINES : SHARE_ASK)) {
        g->state = GUEST_WAITS;
        g->deadline_ns = 0;
    } else {
        share_guest_dismiss(g);
    }
}

/* False: it has gone, or says what nobody says. */
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

bool share_guest_welcome(struct share *h) {
    int fd = accept4(h->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) { /* it would be told again at once */
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
    *g = (struct guest){.fd = fd};
    share_guest_next_frame(g);
    return true;
}

short share_guest_events(struct guest *g) {
    short events = 0;
    if (g->state == GUEST_SPEAKS)
        events |= POLLIN;
    if (g->feed && feed_has_more(g->feed))
        events |= POLLOUT;
    return events;
}

void share_guest_look_after(struct share *h, struct guest *g, short events, uint64_t now) {
    if (g->state == GUEST_NONE)
        return;
    int rc = g->feed ? feed_send(g->feed, g->fd) : 0;
    if (rc != 0 && rc != -EAGAIN) {
        if (g->state == GUEST_SERVED)
            feed_close(g->feed); /* and the rest when the worker has done with it */
        else
            share_guest_dismiss(g);
        return;
    }
    if (g->state == GUEST_SPEAKS && events & (POLLIN | POLLHUP | POLLERR))
        listen_to(h, g);
    else if (g->state == GUEST_SPEAKS && g->deadline_ns && now >= g->deadline_ns)
        share_guest_dismiss(g);
}
