#include "core/http/serve/server/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t news;
    void (*work)(void *job);
    void *waiting[WORKERS_WAITING]; /* a ring buffer */
    uint32_t first, count;
    bool ending;
    uint32_t threads;
    pthread_t thread[];
};

static void *main_of_one(void *arg) {
    struct workers *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->count == 0 && !w->ending)
            pthread_cond_wait(&w->news, &w->lock);
        if (w->count == 0)
            break;
        void *job = w->waiting[w->first];
        w->first = (w->first + 1) % WORKERS_WAITING;
        w->count--;
        pthread_mutex_unlock(&w->lock);
        w->work(job);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int workers_new(uint32_t threads, void (*work)(void *job), struct workers **out, struct err *e) {
    struct workers *w = calloc(1, sizeof *w + threads * sizeof w->thread[0]);
    *out = NULL;
    if (!w)
        return err_set(e, ENOMEM, "no memory for %u threads", threads);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->news, NULL);
    w->work = work;
    int r = 0;
    while (r == 0 && w->threads < threads) {
        r = pthread_create(&w->thread[w->threads], NULL, main_of_one, w);
        w->threads += r == 0;
    }
    if (r != 0) {
        workers_end(w);
        workers_free(w);
        return err_set(e, r, "cannot start %u threads: %s", threads, strerror(r));
    }
    *out = w;
    return 0;
}

int workers_give(struct workers *w, void *job) {
    pthread_mutex_lock(&w->lock);
    int r = w->ending ? -ESHUTDOWN : w->count == WORKERS_WAITING ? -EAGAIN : 0;
    if (r == 0) {
        w->waiting[(w->first + w->count++) % WORKERS_WAITING] = job;
        pthread_cond_signal(&w->news);
    }
    pthread_mutex_unlock(&w->lock);
    return r;
}

void workers_end(struct workers *w) {
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->news);
    pthread_mutex_unlock(&w->lock);
    for (uint32_t i = 0; i < w->threads; i++)
        pthread_join(w->thread[i], NULL);
    w->threads = 0;
}

void workers_free(struct workers *w) {
    if (!w)
        return;
    pthread_cond_destroy(&w->news);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
