#include "core/http/fleet/member.h"
#include "core/http/fleet/roll.h"

#include "attach/proc/proc.h"
#include "core/base/clock.h"
#include "symbols/symbol_store.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAITING_MAX 8 /* threads that wait for one JVM at a time */
#define LOOK_MS 2000

struct fleet {
    struct fleet_options options;
    struct symbol_store *symbols; /* shared by all sessions */
    struct roll roll;
    pthread_t keeper; /* closes sessions that have no users any more */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* protected by `lock` */
    struct member *member[FLEET_MEMBERS_MAX];
    uint32_t members;
    bool quit;
};

/* The table. All functions but hold() and drop() are called with the lock. */

/* Frees members that nobody needs; `all`: also those that only remember that attaching failed. */
static void sweep(struct fleet *f, bool all) {
    uint64_t now = proc_now_ns();
    for (uint32_t i = 0; i < f->members;) {
        struct member *m = f->member[i];
        if (m->session || m->users || m->holds || (member_remembers(m, now) && !all)) {
            i++;
            continue;
        }
        f->member[i] = f->member[--f->members];
        member_free(m);
    }
}

static struct member *find(struct fleet *f, pid_t pid) {
    for (uint32_t i = 0; i < f->members; i++)
        if (f->member[i]->pid == pid && !f->member[i]->retired)
            return f->member[i];
    return NULL;
}

static int add(struct fleet *f, pid_t pid, struct member **out, struct err *e) {
    if (f->members == FLEET_MEMBERS_MAX)
        sweep(f, true);
    if (f->members == FLEET_MEMBERS_MAX)
        return err_set(e, EUSERS, "%d JVMs are being profiled already, which is the limit",
                       FLEET_MEMBERS_MAX);
    *out = member_new(pid, &f->options, &f->lock);
    if (!*out)
        return err_set(e, ENOMEM, "out of memory");
    f->member[f->members++] = *out;
    return 0;
}

/* Finds the member (with `make`, creates it) and holds it: it is not freed before drop(). */
static int hold(struct fleet *f, pid_t pid, bool make, struct member **out, struct err *e) {
    int result = 0;
    pthread_mutex_lock(&f->lock);
    *out = find(f, pid);
    if (!*out)
        result = make ? add(f, pid, out, e)
                      : err_set(e, ENOENT, "JVM %d is not being profiled", (int)pid);
    if (*out)
        (*out)->holds++;
    pthread_mutex_unlock(&f->lock);
    return result;
}

static void drop(struct fleet *f, struct member *m) {
    pthread_mutex_lock(&f->lock);
    m->holds--;
    sweep(f, false);
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* The keeper thread. */

static uint64_t due_ns(const struct fleet *f, const struct member *m) {
    if (!m->session || m->users || m->holds)
        return UINT64_MAX;
    return f->quit || m->retired ? 0 : m->idle_ns + f->options.linger_ms * UINT64_C(1000000);
}

/* Called with the lock: collects and holds the members to which no user returned. `next_ns`: when
 * another one may be due. */
static uint32_t take_due(struct fleet *f, struct member **due, uint64_t *next_ns) {
    uint64_t now = proc_now_ns();
    uint32_t n = 0;
    *next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < f->members; i++) {
        uint64_t at = due_ns(f, f->member[i]);
        if (at <= now) {
            due[n++] = f->member[i];
            f->member[i]->holds++;
        } else if (at < *next_ns) {
            *next_ns = at;
        }
    }
    return n;
}

/* Locks a member for closing. False: a user has come since and keeps it, or it is busy. */
static bool seize(struct member *m) {
    if (pthread_mutex_trylock(&m->busy) != 0)
        return false;
    pthread_mutex_lock(m->lock);
    bool unused = m->session && m->users == 0;
    pthread_mutex_unlock(m->lock);
    if (!unused)
        pthread_mutex_unlock(&m->busy);
    return unused;
}

/* Asks all sessions to end before it waits for the first one. Called without the lock. */
static void close_all(struct fleet *f, struct member **due, uint32_t n) {
    bool seized[FLEET_MEMBERS_MAX];
    for (uint32_t i = 0; i < n; i++) {
        seized[i] = seize(due[i]);
        if (seized[i])
            session_leave(due[i]->session);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (seized[i]) {
            member_close(due[i]);
            pthread_mutex_unlock(&due[i]->busy);
        }
        drop(f, due[i]);
    }
}

static void *keeper_main(void *arg) {
    struct fleet *f = arg;
    struct member *due[FLEET_MEMBERS_MAX];
    pthread_mutex_lock(&f->lock);
    for (;;) {
        uint64_t next_ns;
        uint32_t n = take_due(f, due, &next_ns);
        if (n > 0) {
            pthread_mutex_unlock(&f->lock);
            close_all(f, due, n);
            pthread_mutex_lock(&f->lock);
        } else if (f->quit) {
            break;
        } else if (next_ns == UINT64_MAX) {
            pthread_cond_wait(&f->changed, &f->lock);
        } else {
            struct timespec t = {(time_t)(next_ns / 1000000000u), (long)(next_ns % 1000000000u)};
            pthread_cond_timedwait(&f->changed, &f->lock, &t);
        }
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* Beginning and end. */

int fleet_new(const struct fleet_options *o, struct fleet **out, struct err *e) {
    sigset_t all, before;
    pthread_condattr_t attr;
    struct fleet *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f)
        return err_set(e, ENOMEM, "out of memory");
    f->options = *o;
    /* If there is no memory for the shared store, each session has its own tables. */
    f->symbols = symbol_store_new();
    f->options.session.symbols = f->symbols;
    roll_init(&f->roll);
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &attr);
    pthread_condattr_destroy(&attr);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&f->keeper, NULL, keeper_main, f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0) {
        *out = f;
        return 0;
    }
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    roll_free(&f->roll);
    symbol_store_free(f->symbols);
    free(f);
    return err_set(e, code, "cannot start a thread: %s", strerror(code));
}

void fleet_free(struct fleet *f) {
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->quit = true;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->keeper, NULL);
    sweep(f, true);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    roll_free(&f->roll);
    symbol_store_free(f->symbols);
    free(f);
}

/* The JVMs. */

int fleet_jvms(struct fleet *f, struct jvm **out, struct err *e) {
    return roll_list(&f->roll, out, e);
}

int fleet_jvm(struct fleet *f, pid_t pid, struct jvm *out, struct err *e) {
    return roll_find(&f->roll, pid, out, e);
}

static int by_pid(const void *a, const void *b) {
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

uint32_t fleet_held(struct fleet *f, pid_t *out, uint32_t max) {
    uint32_t n = 0;
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->members && n < max; i++)
        if (f->member[i]->session && !f->member[i]->retired)
            out[n++] = f->member[i]->pid;
    pthread_mutex_unlock(&f->lock);
    qsort(out, n, sizeof *out, by_pid);
    return n;
}

/* Users. */

static int want_of(const struct fleet_want *want, struct engine_union *out, struct err *e) {
    static const struct wire_engine_request usual = {.event = WIRE_EVENT_CPU, .name = "cpu"};
    *out = (struct engine_union){0};
    if (want->as_it_is)
        return 0;
    return want->engines ? engine_union_of(want->engine, want->engines, out, e)
                         : engine_union_of(&usual, 1, out, e);
}

/* Waits for this caller's turn with a JVM. Waiting for a JVM that is stuck blocks a thread: only
 * few may wait, and a caller that only views waits only for a short time. */
static int take_turn(struct fleet *f, struct member *m, bool looks, struct err *e) {
    pthread_mutex_lock(&f->lock);
    bool crowd = m->holds > WAITING_MAX;
    pthread_mutex_unlock(&f->lock);
    struct timespec until = clock_after_ms(CLOCK_REALTIME, LOOK_MS);
    int r = crowd   ? EAGAIN
            : looks ? pthread_mutex_timedlock(&m->busy, &until)
                    : pthread_mutex_lock(&m->busy);
    return r == 0
               ? 0
               : err_set(e, EAGAIN, "JVM %d answers slowly, and other requests already wait for it",
                         (int)m->pid);
}

int fleet_enter(struct fleet *f, pid_t pid, const struct fleet_want *want, struct fleet_user **out,
                struct err *e) {
    struct fleet_user *u = calloc(1, sizeof *u);
    struct member *m;
    *out = NULL;
    if (!u)
        return err_set(e, ENOMEM, "out of memory");
    int result = want_of(want, &u->want, e);
    bool again = result == 0;
    u->fleet = f;
    while (again) {
        result = hold(f, pid, !want->as_it_is, &m, e);
        if (result != 0)
            break;
        u->member = m;
        result = take_turn(f, m, want->as_it_is, e);
        if (result != 0) {
            drop(f, m);
            break;
        }
        result = member_enter(m, u, want, e);
        again = result != 0 && m->retired;
        pthread_mutex_unlock(&m->busy);
        drop(f, m);
    }
    if (result == 0)
        *out = u;
    else
        free(u);
    return result;
}

int fleet_rewant(struct fleet_user *u, const struct fleet_want *want, struct err *e) {
    struct engine_union set;
    int result = want_of(want, &set, e);
    if (result != 0)
        return result;
    pthread_mutex_lock(&u->member->busy);
    result = member_rewant(u->member, u, &set, e);
    pthread_mutex_unlock(&u->member->busy);
    return result;
}

void fleet_leave(struct fleet_user *u) {
    if (!u)
        return;
    struct fleet *f = u->fleet;
    struct member *m = u->member;
    pthread_mutex_lock(&f->lock);
    m->holds++;
    pthread_mutex_unlock(&f->lock);
    pthread_mutex_lock(&m->busy);
    member_leave(m, u);
    pthread_mutex_unlock(&m->busy);
    free(u);
    drop(f, m);
}

struct session *fleet_session(const struct fleet_user *u) {
    return u->member->session;
}

bool fleet_looks_on(const struct fleet_user *u) {
    struct session_status st;
    session_status(u->member->session, &st);
    return st.reader != 0;
}

uint64_t fleet_since(const struct fleet_user *u) {
    pthread_mutex_lock(u->member->lock);
    uint64_t since = u->since;
    pthread_mutex_unlock(u->member->lock);
    return since;
}

uint32_t fleet_users(const struct fleet_user *u) {
    pthread_mutex_lock(u->member->lock);
    uint32_t users = u->member->users;
    pthread_mutex_unlock(u->member->lock);
    return users;
}
