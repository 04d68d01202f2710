#include "core/http/serve/server/stream.h"

#include "core/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS 1000000ull
#define QUIET_NS (15000 * MS) /* after this time without data, a sign of life is sent */
#define PERIOD_LEAST_MS 10

struct stream {
    struct streams *all;
    struct stream *next_one;
    int (*next)(void *arg, struct text *out);
    void (*end)(void *arg);
    void *arg;
    bool events; /* server-sent events: a comment line is a sign of life */
    void (*wake)(void *who);
    void *who;
    struct text out, fresh; /* `fresh` is used by the thread only */
    size_t taken;           /* bytes of `out` */
    uint64_t period, due, last;
    bool asleep, finished, broken, busy, left;
};

struct streams {
    pthread_mutex_t lock;
    pthread_cond_t news; /* uses CLOCK_MONOTONIC */
    pthread_t thread;
    struct stream *first;
    uint32_t count;
    bool ending;
};

static void release(struct stream *s) {
    if (s->end)
        s->end(s->arg);
    text_free(&s->out);
    text_free(&s->fresh);
    free(s);
}

/* Wakes the sender that waits for bytes. Called with the lock. */
static void rouse(struct stream *s) {
    if (s->asleep) {
        s->asleep = false;
        s->wake(s->who);
    }
}

/* Moves new data to where it is taken from. Called with the lock. */
static void deliver(struct stream *s, int r, uint64_t now) {
    if (s->fresh.len == 0 && r == 0 && s->events && now - s->last > QUIET_NS)
        text_add(&s->fresh, ":\n\n");
    if (s->taken == s->out.len) {
        text_clear(&s->out);
        s->taken = 0;
    }
    if (s->fresh.len) {
        text_add_n(&s->out, s->fresh.data, s->fresh.len);
        s->last = now;
    }
    s->broken = r < 0 || s->out.failed || s->fresh.failed;
    s->finished = s->broken || r != 0;
    if (s->out.len > s->taken || s->finished)
        rouse(s);
}

/* The stream that is due first; NULL: none before something is taken. Called with the lock. */
static struct stream *first_due(const struct streams *all) {
    struct stream *first = NULL;
    for (struct stream *s = all->first; s; s = s->next_one)
        if (!s->finished && s->taken == s->out.len && (!first || s->due < first->due))
            first = s;
    return first;
}

static void unlink_one(struct stream *s) {
    struct stream **at = &s->all->first;
    while (*at != s)
        at = &(*at)->next_one;
    *at = s->next_one;
    s->all->count--;
}

/* Calls `next`. Called with the lock, which is released meanwhile. */
static void ask(struct streams *all, struct stream *s) {
    s->busy = true;
    pthread_mutex_unlock(&all->lock);
    text_clear(&s->fresh);
    int r = s->next(s->arg, &s->fresh);
    pthread_mutex_lock(&all->lock);
    uint64_t now = clock_now_ns();
    s->busy = false;
    s->due = s->due + s->period > now ? s->due + s->period : now + s->period;
    if (!s->left) {
        deliver(s, r, now);
        return;
    }
    unlink_one(s);
    pthread_mutex_unlock(&all->lock);
    release(s);
    pthread_mutex_lock(&all->lock);
}

static void *streams_main(void *arg) {
    struct streams *all = arg;
    pthread_mutex_lock(&all->lock);
    while (!all->ending) {
        struct stream *s = first_due(all);
        if (!s) {
            pthread_cond_wait(&all->news, &all->lock);
        } else if (s->due > clock_now_ns()) {
            struct timespec t = {.tv_sec = (time_t)(s->due / 1000000000u),
                                 .tv_nsec = (long)(s->due % 1000000000u)};
            pthread_cond_timedwait(&all->news, &all->lock, &t);
        } else {
            ask(all, s);
        }
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

int streams_new(struct streams **out, struct err *e) {
    struct streams *all = calloc(1, sizeof *all);
    *out = NULL;
    if (!all)
        return err_set(e, ENOMEM, "no memory for streams");
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&all->news, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&all->lock, NULL);
    int r = pthread_create(&all->thread, NULL, streams_main, all);
    if (r != 0) {
        streams_free(all);
        return err_set(e, r, "cannot start a thread: %s", strerror(r));
    }
    *out = all;
    return 0;
}

void streams_end(struct streams *all) {
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_signal(&all->news);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    pthread_mutex_lock(&all->lock);
    for (struct stream *s = all->first; s; s = s->next_one) {
        /* Events may end anywhere. Of anything else, a part must not look like the whole. */
        s->broken = s->broken || (!s->finished && !s->events);
        s->finished = true;
        rouse(s);
    }
    pthread_mutex_unlock(&all->lock);
}

void streams_free(struct streams *all) {
    if (!all)
        return;
    pthread_cond_destroy(&all->news);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

int stream_new(struct streams *all, const struct serve_answer *a, void (*wake)(void *who),
               void *who, struct stream **out) {
    struct stream *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) {
        if (a->end)
            a->end(a->arg);
        return -ENOMEM;
    }
    uint32_t period = a->period_ms > PERIOD_LEAST_MS ? a->period_ms : PERIOD_LEAST_MS;
    *s = (struct stream){.all = all, .next = a->next, .end = a->end, .arg = a->arg, .wake = wake};
    s->who = who;
    s->events = a->type && strncmp(a->type, "text/event-stream", 17) == 0;
    s->period = period * MS;
    s->due = s->last = clock_now_ns();
    pthread_mutex_lock(&all->lock);
    int r = all->ending ? -ESHUTDOWN : all->count == STREAMS_MAX ? -EUSERS : 0;
    if (r == 0) {
        s->next_one = all->first;
        all->first = s;
        all->count++;
        pthread_cond_signal(&all->news);
        *out = s;
    }
    pthread_mutex_unlock(&all->lock);
    if (r != 0)
        release(s);
    return r;
}

ssize_t stream_take(struct stream *s, char *out, size_t max, void (*sleep)(void *who)) {
    pthread_mutex_lock(&s->all->lock);
    size_t n = s->out.len - s->taken;
    ssize_t r = s->broken ? STREAM_BROKEN : s->finished ? STREAM_END : 0;
    if (n > 0) {
        n = n < max ? n : max;
        memcpy(out, s->out.data + s->taken, n);
        s->taken += n;
        r = (ssize_t)n;
        if (s->taken == s->out.len) /* `next` may be called again */
            pthread_cond_signal(&s->all->news);
    } else if (r == 0) {
        s->asleep = true;
        sleep(s->who);
    }
    pthread_mutex_unlock(&s->all->lock);
    return r;
}

void stream_leave(struct stream *s) {
    struct streams *all = s->all;
    pthread_mutex_lock(&all->lock);
    bool now = !s->busy;
    s->left = true;
    if (now)
        unlink_one(s);
    pthread_mutex_unlock(&all->lock);
    if (now)
        release(s);
}
