/* Answering requests: one after the other, each by a thread of its own, so that whoever looks on is
 * not kept waiting by one who asks. */
#include "core/session/share/share_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct share_reply {
    int fd;
    bool gone;
};

int share_say(struct share_reply *r, enum share_part part, const char *text) {
    if (r->gone || (part != SHARE_OUT && part != SHARE_ERROR))
        return r->gone ? -EPIPE : -EINVAL;
    r->gone = share_send_frame(r->fd, part, text, strlen(text), NULL, 0) != 0;
    return r->gone ? -EPIPE : 0;
}

int share_file(struct share_reply *r, const char *path, const void *data, size_t bytes) {
    if (r->gone)
        return -EPIPE;
    int rc = share_send_frame(r->fd, SHARE_FILE, path, strlen(path) + 1, data, bytes);
    if (rc == 0 || rc == -EFBIG)
        return rc;
    r->gone = true;
    return -EPIPE;
}

struct share_exit share_exit_of(int result, const struct err *e) {
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
                       "JVM %d is on the screen of process %d: quit that one first, or look on "
                       "with: jtop-prof %d",
                       (int)h->session->jvm.pid, (int)getpid(), (int)h->session->jvm.pid);
    if (g->header.bytes == 0 || g->in[g->header.bytes - 1])
        return err_set(e, EPROTO, "the request is no command line");
    const char *cwd = g->in, *end = g->in + g->header.bytes;
    for (char *at = g->in + strlen(g->in) + 1; at < end && argc < SHARE_ARGUMENTS_MAX;
         at += strlen(at) + 1)
        argv[argc++] = at;
    argv[argc] = NULL;
    return h->handler(h->arg, r, cwd, argc, argv, e);
}

static void answer(struct share *h, struct guest *g) {
    struct share_reply r = {.fd = g->fd};
    struct err e = {.exit_code = ERR_EXIT_PROFILER};
    struct share_exit x = share_exit_of(handle(h, &r, g, &e), &e);
    if (!r.gone)
        share_send_frame(g->fd, SHARE_EXIT, &x, sizeof x, NULL, 0);
}

static void change_engines(struct share *h, struct guest *g) {
    struct wire_engine_request engine[WIRE_EVENTS];
    struct err e = {.exit_code = ERR_EXIT_ARGUMENT};
    uint32_t engines = g->header.bytes / (uint32_t)sizeof engine[0];
    int result = -EINVAL;
    if (engines <= WIRE_EVENTS && g->header.bytes % sizeof engine[0] == 0) {
        memcpy(engine, g->in, g->header.bytes);
        for (uint32_t i = 0; i < engines; i++)
            engine[i].name[sizeof engine[i].name - 1] = '\0';
        result = session_set_engines(h->session, engine, engines, &e);
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

void share_worker_end(struct share *h) {
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
    if (h->quiet && !h->served) {
        h->quiet_now = true;
        pthread_cond_broadcast(&h->changed);
    }
    bool quiet = h->quiet;
    pthread_mutex_unlock(&h->lock);
    return quiet;
}

/* The session ends: each client that waits for an answer is told so, and asks again. */
static void turn_away(struct share *h) {
    for (uint32_t i = 0; i < SHARE_GUESTS_MAX; i++)
        if (h->guest[i].state == GUEST_WAITS && !h->guest[i].feed)
            share_guest_turn_away(h, &h->guest[i]);
}

void share_worker_begin(struct share *h) {
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
