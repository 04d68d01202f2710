#include "core/http/serve/prof/prof_table.h"

#include "core/base/clock.h"
#include "core/http/serve/server/route.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define NS 1000000000ull
#define NAP_NS (NS / 5)

struct prof_table {
    struct serve *serve;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* uses CLOCK_MONOTONIC */
    /* protected by `lock` */
    struct prof *of[PROF_KEPT_MAX + PROF_FAILED_MAX + PROF_RUNNING_MAX]; /* oldest first */
    uint32_t count, threads;
    bool ends;
};

struct serve *prof_table_serve(struct prof_table *t) {
    return t->serve;
}

struct prof_table *prof_table_new(struct serve *s, struct err *e) {
    struct prof_table *t = calloc(1, sizeof *t);
    pthread_condattr_t clock;
    if (!t || pthread_condattr_init(&clock) != 0) {
        free(t);
        err_set(e, ENOMEM, "no memory for the table of profiles");
        return NULL;
    }
    t->serve = s;
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &clock);
    pthread_condattr_destroy(&clock);
    return t;
}

/* ---- called with the lock ---- */

static bool is_over(const struct prof *p) {
    return p->state == PROF_DONE || p->state == PROF_FAILED;
}

static void free_prof(struct prof *p) {
    text_free(&p->result);
    free(p->ask);
    free(p);
}

static void let_go(struct prof *p) {
    if (--p->holds == 0 && !p->listed)
        free_prof(p);
}

static void unlist(struct prof_table *t, uint32_t i) {
    struct prof *p = t->of[i];
    for (t->count--; i < t->count; i++)
        t->of[i] = t->of[i + 1];
    p->listed = false;
    if (p->holds == 0)
        free_prof(p);
}

/* Drops old results, and the oldest ones if there are too many. */
static void sweep(struct prof_table *t) {
    uint64_t now = clock_now_ns(), bytes = 0;
    uint32_t done = 0, failed = 0;
    for (uint32_t i = t->count; i-- > 0;) {
        struct prof *p = t->of[i];
        if (!is_over(p))
            continue;
        bytes += p->result.cap;
        bool old = now > p->over_ns + PROF_KEPT_SECONDS * NS;
        /* Failed profiles take no room from results. The newest result stays, however large. */
        bool many = p->state == PROF_FAILED
                        ? ++failed > PROF_FAILED_MAX
                        : ++done > PROF_KEPT_MAX || (done > 1 && bytes > PROF_KEPT_BYTES);
        if (old || many) {
            bytes -= p->result.cap;
            unlist(t, i);
        }
    }
}

static uint32_t left_of(const struct prof *p) {
    uint64_t now = clock_now_ns();
    return is_over(p) ? 0 : p->due_ns > now ? (uint32_t)((p->due_ns - now) / NS) + 1 : 1;
}

/* Finds the JVM's own running profile, if there is one; *running: how many run in all. */
static struct prof *find_running(struct prof_table *t, pid_t pid, uint32_t *running) {
    struct prof *found = NULL;
    *running = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (is_over(t->of[i]))
            continue;
        ++*running;
        if (t->of[i]->ask->pid == pid)
            found = t->of[i];
    }
    return found;
}

static uint32_t least_left(const struct prof_table *t) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < t->count; i++)
        if (!is_over(t->of[i]) && left_of(t->of[i]) < least)
            least = left_of(t->of[i]);
    return least;
}

/* ---- the life of a profile ---- */

static void *run(void *arg) {
    struct prof *p = arg;
    struct prof_table *t = p->table;
    prof_take(p);
    pthread_mutex_lock(&t->lock);
    t->threads--;
    let_go(p);
    sweep(t);
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static int start_thread(struct prof *p) {
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attr, run, p);
    pthread_attr_destroy(&attr);
    return -r;
}

static int make_id(char out[PROF_ID_BYTES]) {
    unsigned char random[(PROF_ID_BYTES - 1) / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -EAGAIN;
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", random[i]);
    return 0;
}

static void name_events(struct prof *p) {
    size_t n = 0;
    for (uint32_t i = 0; i < p->ask->want.engines && n < sizeof p->event; i++)
        n += (size_t)snprintf(p->event + n, sizeof p->event - n, "%s%s", i ? "," : "",
                              p->ask->want.engine[i].name);
}

/* Takes over `ask`. NULL: the profile was not begun, and `ask` was freed. */
static struct prof *add(struct prof_table *t, struct prof_ask *ask) {
    struct prof *p = calloc(1, sizeof *p);
    if (!p || make_id(p->id) < 0) {
        free(p);
        free(ask);
        return NULL;
    }
    p->ask = ask;
    p->table = t;
    p->begun_ns = clock_now_ns();
    p->due_ns = p->begun_ns + (ask->duration_s + 1) * NS;
    p->holds = 2; /* the thread's, and the caller's */
    name_events(p);
    if (start_thread(p) < 0) {
        free_prof(p);
        return NULL;
    }
    t->threads++;
    p->listed = true;
    t->of[t->count++] = p;
    return p;
}

static int refuse(struct prof_table *t, const struct prof *other, uint32_t *left_s, struct err *e) {
    if (other) {
        *left_s = left_of(other);
        return err_set(e, EBUSY,
                       "JVM %d is busy with another request (%.60s as %s), which takes %u s more; "
                       "an identical request would share its result",
                       (int)other->ask->pid, other->event, other->ask->exporter->name, *left_s);
    }
    *left_s = least_left(t);
    return err_set(e, EUSERS,
                   "%d profiles are being taken, which is the limit; the first is done in %u s",
                   PROF_RUNNING_MAX, *left_s);
}

int prof_begin(struct prof_table *t, struct prof_ask *ask, struct prof **out, bool *joined,
               uint32_t *left_s, struct err *e) {
    uint32_t running;
    int r = 0;
    *left_s = 0;
    pthread_mutex_lock(&t->lock);
    sweep(t);
    struct prof *p = find_running(t, ask->pid, &running);
    *joined = p && prof_ask_same(p->ask, ask);
    if (*joined) {
        p->holds++;
        free(ask);
    } else if (p || running >= PROF_RUNNING_MAX || t->ends) {
        r = refuse(t, p, left_s, e);
        free(ask);
    } else if (!(p = add(t, ask))) {
        r = err_set(e, EAGAIN, "no memory or no thread for one more profile");
    }
    pthread_mutex_unlock(&t->lock);
    *out = r == 0 ? p : NULL;
    return r;
}

enum prof_state prof_state_of(struct prof *p, uint32_t *left_s) {
    pthread_mutex_lock(&p->table->lock);
    enum prof_state state = p->state;
    *left_s = left_of(p);
    pthread_mutex_unlock(&p->table->lock);
    return state;
}

static struct timespec at(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / NS), .tv_nsec = (long)(ns % NS)};
}

void prof_wait_begun(struct prof *p, uint32_t ms) {
    struct prof_table *t = p->table;
    struct timespec until = at(clock_now_ns() + ms * 1000000ull);
    int r = 0;
    pthread_mutex_lock(&t->lock);
    while (p->state == PROF_BEGINS && r == 0 && !t->ends)
        r = pthread_cond_timedwait(&t->changed, &t->lock, &until);
    pthread_mutex_unlock(&t->lock);
}

struct prof *prof_find(struct prof_table *t, const char *id) {
    struct prof *found = NULL;
    pthread_mutex_lock(&t->lock);
    sweep(t);
    for (uint32_t i = 0; i < t->count && !found; i++)
        if (strcmp(t->of[i]->id, id) == 0)
            found = t->of[i];
    if (found)
        found->holds++;
    pthread_mutex_unlock(&t->lock);
    return found;
}

void prof_drop(struct prof *p) {
    if (!p)
        return;
    struct prof_table *t = p->table;
    pthread_mutex_lock(&t->lock);
    let_go(p);
    pthread_mutex_unlock(&t->lock);
}

bool prof_sleep(struct prof *p, uint64_t until_ns) {
    struct prof_table *t = p->table;
    uint64_t now = clock_now_ns(), nap = now + NAP_NS;
    struct timespec until = at(until_ns < nap ? until_ns : nap);
    pthread_mutex_lock(&t->lock);
    if (!t->ends && until_ns > now)
        (void)pthread_cond_timedwait(&t->changed, &t->lock, &until);
    bool ends = t->ends;
    pthread_mutex_unlock(&t->lock);
    return ends;
}

void prof_set_running(struct prof *p, uint64_t due_ns) {
    struct prof_table *t = p->table;
    pthread_mutex_lock(&t->lock);
    p->state = PROF_RUNS;
    p->due_ns = due_ns;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void prof_set_over(struct prof *p, enum prof_state state) {
    struct prof_table *t = p->table;
    pthread_mutex_lock(&t->lock);
    p->state = state;
    p->over_ns = clock_now_ns();
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void prof_table_free(struct prof_table *t) {
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_broadcast(&t->changed);
    while (t->threads)
        pthread_cond_wait(&t->changed, &t->lock);
    while (t->count)
        unlist(t, t->count - 1);
    pthread_mutex_unlock(&t->lock);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}
