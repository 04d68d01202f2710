#include "core/http/fleet/roster.h"

#include "core/base/clock.h"
#include "core/http/fleet/census.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum stage { FREE = 0, WANTED, ENTERING, HELD, LEFT, LEAVING, FAILED, ENDED };

struct entry {
    enum stage stage;
    enum roster_end why; /* in LEFT, or in WANTED after that; else ROSTER_GOES_ON */
    bool said;           /* it was reported why the JVM could not be entered */
    uint32_t failures;
    uint64_t retry_s;
    struct roster_jvm *it; /* roster_options.bytes long; NULL: FREE */
    struct err error;      /* of the last failure */
};

struct roster {
    struct roster_options o;
    struct jvm only;
    struct census census;
    pthread_mutex_t lock; /* protects the stages, and entries that are not held */
    pthread_cond_t work;
    bool closing;
    pthread_t thread[ROSTER_THREADS];
    uint32_t threads;
    struct entry *entry; /* ROSTER_MAX entries */
    bool full;           /* it was reported that there are too many JVMs */
};

static uint64_t now_s(void) {
    return clock_now_ms() / 1000;
}

static bool same_jvm(const struct jvm *a, const struct jvm *b) {
    return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static void say(struct roster *r, bool trouble, const struct jvm *j, const char *text) {
    char line[1024];
    snprintf(line, sizeof line, "%s (pid %d): %s", j->name, (int)j->pid, text);
    if (r->o.say)
        r->o.say(r->o.arg, trouble, line);
}

/* ---- the threads ---- */

static struct entry *find_work(struct roster *r) {
    for (uint32_t i = 0; i < ROSTER_MAX; i++)
        if (r->entry[i].stage == WANTED || r->entry[i].stage == LEFT)
            return &r->entry[i];
    return NULL;
}

/* Whether the JVM has ended: that it could not be entered is no failure then. The error code does
 * not show this, because a missing library is ENOENT, too. */
static bool is_gone(const struct jvm *j) {
    struct jvm now = *j;
    return jvm_refresh(&now) == -ESRCH;
}

static void note_failure(struct roster *r, struct entry *x, const struct err *e, bool gone) {
    uint64_t wait = ROSTER_RETRY_MIN_S;
    for (uint32_t i = 0; i < x->failures && wait < ROSTER_RETRY_MAX_S; i++)
        wait *= 2;
    bool tell = !x->said && !gone && !r->o.only;
    x->failures++;
    x->said |= tell;
    x->error = *e;
    x->retry_s = now_s() + (wait < ROSTER_RETRY_MAX_S ? wait : ROSTER_RETRY_MAX_S);
    x->stage = gone ? ENDED : FAILED;
    if (tell) {
        char text[700];
        snprintf(text, sizeof text, "not profiled: %s", e->message);
        say(r, true, &x->it->jvm, text);
    }
}

/* Called with the lock, which is released in between. */
static void enter(struct roster *r, struct entry *x) {
    struct fleet_user *user = NULL;
    struct err e = {0};
    x->stage = ENTERING;
    pthread_mutex_unlock(&r->lock);
    if (r->o.enter)
        r->o.enter(r->o.arg, x->it);
    int result = fleet_enter(r->o.fleet, x->it->jvm.pid, &r->o.want, &user, &e);
    x->it->user = user;
    if (result == 0 && r->o.entered)
        r->o.entered(r->o.arg, x->it);
    bool gone = result < 0 && is_gone(&x->it->jvm);
    pthread_mutex_lock(&r->lock);
    if (result < 0) {
        note_failure(r, x, &e, gone);
        return;
    }
    if (x->why != ROSTER_ANEW)
        say(r, false, &x->it->jvm, x->said ? "profiled now" : "profiled");
    x->stage = HELD;
    x->said = false;
    x->why = ROSTER_GOES_ON;
    x->failures = 0;
}

static void leave(struct roster *r, struct entry *x) {
    x->stage = LEAVING;
    pthread_mutex_unlock(&r->lock);
    fleet_leave(x->it->user);
    pthread_mutex_lock(&r->lock);
    x->it->user = NULL;
    x->retry_s = now_s() + ROSTER_RETRY_MIN_S;
    x->stage = x->why == ROSTER_ANEW ? WANTED : x->why == ROSTER_FAILED ? FAILED : ENDED;
}

static void *run(void *arg) {
    struct roster *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->closing) {
        struct entry *x = find_work(r);
        if (!x)
            pthread_cond_wait(&r->work, &r->lock);
        else if (x->stage == WANTED)
            enter(r, x);
        else
            leave(r, x);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- the list ---- */

static struct entry *find(struct roster *r, const struct jvm *j) {
    for (uint32_t i = 0; i < ROSTER_MAX; i++)
        if (r->entry[i].stage != FREE && same_jvm(&r->entry[i].it->jvm, j))
            return &r->entry[i];
    return NULL;
}

/* False: no memory. The JVM is tried again with the next list. */
static bool fill(struct roster *r, struct entry *x, const struct jvm *j) {
    *x = (struct entry){.it = calloc(1, r->o.bytes)};
    if (!x->it)
        return false;
    x->it->jvm = *j;
    x->stage = WANTED;
    return true;
}

static void empty(struct entry *x) {
    free(x->it);
    *x = (struct entry){0};
}

static void want(struct roster *r, const struct jvm *j) {
    for (uint32_t i = 0; i < ROSTER_MAX; i++) {
        if (r->entry[i].stage != FREE)
            continue;
        if (fill(r, &r->entry[i], j))
            pthread_cond_signal(&r->work);
        return;
    }
    if (!r->full)
        say(r, true, j, "not profiled: the limit of JVMs profiled at once is reached");
    r->full = true;
}

/* Frees entries that ended or failed and that are not in the list any more. */
static void forget(struct roster *r, const struct jvm *list, int n) {
    for (uint32_t i = 0; i < ROSTER_MAX; i++) {
        struct entry *x = &r->entry[i];
        bool there = x->stage == FREE;
        for (int k = 0; k < n && !there; k++)
            there = same_jvm(&x->it->jvm, &list[k]);
        if (!there && (x->stage == FAILED || x->stage == ENDED) && !r->o.only) {
            empty(x);
            r->full = false;
        }
    }
}

static void try_again(struct roster *r) {
    uint64_t now = now_s();
    for (uint32_t i = 0; i < ROSTER_MAX; i++)
        if (r->entry[i].stage == FAILED && now >= r->entry[i].retry_s && !r->o.only) {
            r->entry[i].stage = WANTED;
            pthread_cond_signal(&r->work);
        }
}

void roster_look(struct roster *r) {
    struct jvm *list = NULL;
    bool due = !r->o.only && census_due(&r->census, now_s());
    int n = due ? fleet_jvms(r->o.fleet, &list, NULL) : 0;
    pthread_mutex_lock(&r->lock);
    try_again(r);
    if (due && n >= 0)
        forget(r, list, n);
    for (int i = 0; i < n; i++)
        if (!find(r, &list[i]))
            want(r, &list[i]);
    pthread_mutex_unlock(&r->lock);
    free(list);
}

/* With one JVM only, this is the end, and the error that push ends with. */
static void say_failed(struct roster *r, struct entry *x) {
    const struct roster_jvm *s = x->it;
    struct session_status st;
    char text[400];
    session_status(fleet_session(s->user), &st);
    snprintf(text, sizeof text, "its profile has ended: %.350s",
             st.message[0] ? st.message : "another process stopped it");
    if (!r->o.only) {
        say(r, true, &s->jvm, text);
        return;
    }
    x->failures++;
    err_exit_as(&x->error, ERR_EXIT_PROFILER, ECONNRESET, "%s (pid %d): %s", s->jvm.name,
                (int)s->jvm.pid, text);
}

struct roster_jvm *roster_next(struct roster *r, uint32_t *i) {
    struct roster_jvm *found = NULL;
    pthread_mutex_lock(&r->lock);
    for (; *i < ROSTER_MAX && !found; (*i)++)
        if (r->entry[*i].stage == HELD)
            found = r->entry[*i].it;
    pthread_mutex_unlock(&r->lock);
    return found;
}

void roster_release(struct roster *r, struct roster_jvm *j, enum roster_end why) {
    pthread_mutex_lock(&r->lock);
    struct entry *x = find(r, &j->jvm);
    x->why = why;
    x->stage = LEFT;
    x->said = why == ROSTER_FAILED;
    if (why == ROSTER_ENDED)
        say(r, false, &j->jvm, "ended");
    if (why == ROSTER_FAILED)
        say_failed(r, x);
    pthread_cond_signal(&r->work);
    pthread_mutex_unlock(&r->lock);
}

bool roster_over(struct roster *r, struct err *e) {
    if (!r->o.only)
        return false;
    pthread_mutex_lock(&r->lock);
    struct entry *x = find(r, &r->only);
    bool over = !x || x->stage == ENDED || x->stage == FAILED;
    if (x && x->failures)
        *e = x->error;
    pthread_mutex_unlock(&r->lock);
    return over;
}

uint32_t roster_held(struct roster *r) {
    uint32_t n = 0;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < ROSTER_MAX; i++)
        n += r->entry[i].stage == HELD;
    pthread_mutex_unlock(&r->lock);
    return n;
}

/* ---- begin and end ---- */

int roster_new(const struct roster_options *o, struct roster **out, struct err *e) {
    struct roster *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r)
        r->entry = calloc(ROSTER_MAX, sizeof *r->entry);
    if (!r || !r->entry) {
        free(r);
        return err_set(e, ENOMEM, "no memory for the list of JVMs");
    }
    r->o = *o;
    if (o->only) {
        r->only = *o->only;
        if (!fill(r, &r->entry[0], &r->only)) {
            free(r->entry);
            free(r);
            return err_set(e, ENOMEM, "no memory for the list of JVMs");
        }
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->work, NULL);
    while (r->threads < ROSTER_THREADS) {
        int code = pthread_create(&r->thread[r->threads], NULL, run, r);
        if (code && !r->threads) {
            roster_free(r);
            return err_set(e, code, "cannot start a thread to attach: %s", strerror(code));
        }
        if (code)
            break;
        r->threads++;
    }
    *out = r;
    return 0;
}

void roster_free(struct roster *r) {
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    for (uint32_t i = 0; i < r->threads; i++)
        pthread_join(r->thread[i], NULL);
    for (uint32_t i = 0; i < ROSTER_MAX; i++) {
        if (r->entry[i].it)
            fleet_leave(r->entry[i].it->user);
        empty(&r->entry[i]);
    }
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->work);
    free(r->entry);
    free(r);
}
