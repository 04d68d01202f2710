#include "core/session/drain/unwind.h"

#include "core/base/clock.h"
#include "core/session/drain/unwind_area.h"
#include "symbols/unwind/unwind_files.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT_NS 10000000u /* reading everything from the cache takes less */

/* A file that was read. */
struct known {
    bool done;
    uint32_t first_row, rows;  /* 0 rows: it has none, or there was no room for them */
    struct unwind_table shape; /* the table without its rows, to find the base of another mapping */
};

struct unwind {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* protected by `lock` */
    bool quit;
    bool wanted; /* the maps must be read (again) */
    bool busy;
    bool soon;         /* the VM's table was in the cache, and is published */
    char trouble[200]; /* "": nothing to report */
    /* used only by the thread */
    struct unwind_files *files;
    struct unwind_area area;
    struct known file[UNWIND_FILES_LIMIT];
    struct wire_unwind_module list[WIRE_UNWIND_MODULES_MAX]; /* the list that was published last */
    struct wire_unwind_module fresh[WIRE_UNWIND_MODULES_MAX];
    uint32_t listed;
};

static bool must_quit(struct unwind *u) {
    pthread_mutex_lock(&u->lock);
    bool quit = u->quit;
    pthread_mutex_unlock(&u->lock);
    return quit;
}

static void complain(struct unwind *u, const char *what) {
    pthread_mutex_lock(&u->lock);
    snprintf(u->trouble, sizeof u->trouble, "%s", what);
    pthread_mutex_unlock(&u->lock);
}

static void expect_soon(struct unwind *u) {
    pthread_mutex_lock(&u->lock);
    u->soon = true;
    pthread_cond_broadcast(&u->changed);
    pthread_mutex_unlock(&u->lock);
}

/* Reads a file's table into the mapping. `first`: the most important file. True: it was that, and
 * the table was in the cache. */
static bool learn(struct unwind *u, const struct unwind_mapping *m, uint32_t first) {
    struct known *k = &u->file[m->file];
    struct unwind_table t;
    bool built;
    k->done = true;
    if (unwind_files_table(u->files, m, &t, &built) != 0)
        return false;
    k->shape = t;
    k->shape.rows = NULL;
    if (t.count && unwind_area_add(&u->area, t.rows, t.count, &k->first_row) == 0)
        k->rows = (uint32_t)t.count;
    else if (t.count)
        complain(u, "the unwind tables have no space for all loaded native code: some of it is "
                    "walked by frame pointers");
    if (built)
        unwind_files_keep(u->files, m, &t);
    else
        unwind_table_free(&t);
    return !built && m->file == first;
}

static int by_begin(const void *a, const void *b) {
    const struct wire_unwind_module *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Collects the modules of all files known so far. Mappings come in the order of their
 * importance. */
static uint32_t collect(struct unwind *u, const struct unwind_mapping *m, size_t count) {
    uint32_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct known *k = &u->file[m[i].file];
        uint64_t base;
        if (!k->rows || !unwind_table_base(&k->shape, m[i].offset, m[i].begin, &base))
            continue;
        if (n == WIRE_UNWIND_MODULES_MAX) {
            complain(u, "the unwind tables have no space for all native libraries: some are walked "
                        "by frame pointers");
            break;
        }
        u->fresh[n++] = (struct wire_unwind_module){
            .begin = m[i].begin,
            .end = m[i].end,
            .base = base,
            .first_row = k->first_row,
            .rows = k->rows,
        };
    }
    qsort(u->fresh, n, sizeof *u->fresh, by_begin);
    return n;
}

/* With `wait`: waits until the list may be written, unless the thread must quit. Otherwise
 * publishes now or not at all. */
static void publish(struct unwind *u, const struct unwind_mapping *m, size_t count, bool wait) {
    uint32_t n = collect(u, m, count);
    if (u->area.generation && n == u->listed && memcmp(u->fresh, u->list, n * sizeof *u->list) == 0)
        return;
    struct timespec until = clock_timespec(u->area.ready_ns);
    pthread_mutex_lock(&u->lock);
    while (wait && !u->quit && clock_now_ns() < u->area.ready_ns)
        pthread_cond_timedwait(&u->changed, &u->lock, &until);
    pthread_mutex_unlock(&u->lock);
    if (unwind_area_publish(&u->area, u->fresh, n, clock_now_ns()) != 0)
        return;
    memcpy(u->list, u->fresh, n * sizeof *u->list);
    u->listed = n;
}

static void follow(struct unwind *u) {
    const struct unwind_mapping *m;
    size_t count;
    uint64_t partial_ns = clock_now_ns() + WIRE_UNWIND_GRACE_MS * UINT64_C(1000000);
    int rc = unwind_files_list(u->files, &m, &count);
    if (rc != 0) {
        char text[128];
        snprintf(text, sizeof text, "no unwind tables: cannot read the JVM's maps: %s",
                 strerror(-rc));
        if (rc != -ESRCH)
            complain(u, text);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (must_quit(u))
            return;
        if (u->file[m[i].file].done)
            continue;
        if (learn(u, &m[i], m[0].file)) {
            publish(u, m, count, false);
            expect_soon(u);
        }
        if (clock_now_ns() < partial_ns)
            continue;
        publish(u, m, count, false);
        partial_ns = clock_now_ns() + WIRE_UNWIND_GRACE_MS * UINT64_C(1000000);
    }
    publish(u, m, count, true);
}

/* Nobody waits for this. The lock is held. False: nothing is left to be stored. */
static bool store(struct unwind *u) {
    pthread_mutex_unlock(&u->lock);
    bool stored = unwind_files_store(u->files);
    pthread_mutex_lock(&u->lock);
    return stored || u->wanted || u->quit;
}

/* The JVM triggers the readings, but it must not be able to keep this thread reading all
 * the time. */
static void *unwind_main(void *arg) {
    struct unwind *u = arg;
    uint64_t next_ns = 0;
    pthread_mutex_lock(&u->lock);
    while (!u->quit) {
        u->busy = u->wanted;
        if (!u->wanted) {
            pthread_cond_broadcast(&u->changed);
            if (!store(u))
                pthread_cond_wait(&u->changed, &u->lock);
            continue;
        }
        if (clock_now_ns() < next_ns) {
            struct timespec until = clock_timespec(next_ns);
            pthread_cond_timedwait(&u->changed, &u->lock, &until);
            continue;
        }
        u->wanted = false;
        pthread_mutex_unlock(&u->lock);
        follow(u);
        next_ns = clock_now_ns() + UNWIND_PAUSE_MS * UINT64_C(1000000);
        pthread_mutex_lock(&u->lock);
    }
    pthread_mutex_unlock(&u->lock);
    return NULL;
}

static void release(struct unwind *u) {
    unwind_files_close(u->files);
    pthread_cond_destroy(&u->changed);
    pthread_mutex_destroy(&u->lock);
    free(u);
}

int unwind_start(pid_t pid, struct wire_unwind *area, int fd, uint64_t offset, struct unwind **out,
                 struct err *e) {
    *out = NULL;
    struct unwind *u = calloc(1, sizeof *u);
    if (!u)
        return err_set(e, ENOMEM, "no memory for unwind tables");
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&u->lock, NULL);
    pthread_cond_init(&u->changed, &attr);
    pthread_condattr_destroy(&attr);
    unwind_area_init(&u->area, area, clock_now_ns());
    u->area.fd = fd;
    u->area.offset = offset;
    u->wanted = u->busy = true;
    int rc = unwind_files_open(pid, &u->files, e);
    if (rc == 0) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int code = pthread_create(&u->thread, NULL, unwind_main, u);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (code)
            rc = err_set(e, code, "cannot start a thread: %s", strerror(code));
    }
    if (rc) {
        release(u);
        return rc;
    }
    *out = u;
    return 0;
}

void unwind_refresh(struct unwind *u) {
    pthread_mutex_lock(&u->lock);
    if (!u->wanted)
        pthread_cond_broadcast(&u->changed);
    u->wanted = u->busy = true;
    u->soon = false;
    pthread_mutex_unlock(&u->lock);
}

bool unwind_needs_all(const struct wire_engine_request *engine, uint32_t engines) {
    for (uint32_t i = 0; i < engines; i++) {
        bool timed = engine[i].event == WIRE_EVENT_CPU || engine[i].event == WIRE_EVENT_WALL;
        if (!timed || (engine[i].interval && engine[i].interval < SHORT_NS))
            return true;
    }
    return false;
}

bool unwind_wait(struct unwind *u, int timeout_ms, bool all) {
    struct timespec until = clock_after_ms(CLOCK_MONOTONIC, (uint64_t)timeout_ms);
    pthread_mutex_lock(&u->lock);
    while (u->busy && (all || !u->soon))
        if (pthread_cond_timedwait(&u->changed, &u->lock, &until) != 0)
            break;
    bool done = !u->busy;
    pthread_mutex_unlock(&u->lock);
    return done;
}

bool unwind_trouble(struct unwind *u, char *out, size_t size) {
    pthread_mutex_lock(&u->lock);
    bool any = u->trouble[0] != '\0';
    if (any)
        snprintf(out, size, "%s", u->trouble);
    u->trouble[0] = '\0';
    pthread_mutex_unlock(&u->lock);
    return any;
}

void unwind_stop(struct unwind *u) {
    if (!u)
        return;
    pthread_mutex_lock(&u->lock);
    u->quit = true;
    pthread_cond_broadcast(&u->changed);
    pthread_mutex_unlock(&u->lock);
    pthread_join(u->thread, NULL);
    release(u);
}
