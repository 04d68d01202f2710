#include "core/http/fleet/member.h"

#include "attach/proc/proc.h"
#include "core/event/event.h"
#include "core/session/share/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

struct member *member_new(pid_t pid, const struct fleet_options *o, pthread_mutex_t *lock) {
    struct member *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->pid = pid;
    m->options = o;
    m->lock = lock;
    pthread_mutex_init(&m->busy, NULL);
    return m;
}

void member_free(struct member *m) {
    pthread_mutex_destroy(&m->busy);
    free(m);
}

bool member_remembers(const struct member *m, uint64_t now_ns) {
    return m->failed_ns && now_ns - m->failed_ns < SECOND_NS;
}

static enum session_phase phase_of(struct session *s) {
    struct session_status st;
    session_status(s, &st);
    return st.phase;
}

static bool looks_on(struct session *s) {
    struct session_status st;
    session_status(s, &st);
    return st.reader != 0;
}

static uint64_t next_second(void) {
    return proc_now_ns() / SECOND_NS + 1;
}

/* Finds out what is sampled now. */

static void asked_now(struct session *s, struct engine_union *out) {
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines = session_engines(s, engine);
    if (engine_union_of(engine, engines, out, NULL) != 0)
        *out = (struct engine_union){0};
}

/* Adds up what all users want. -EBUSY: two users want things that exclude each other. */
static int wanted(const struct member *m, struct engine_union *out, struct err *e) {
    int result = 0;
    *out = (struct engine_union){0};
    for (uint32_t i = 0; i < m->users && result == 0; i++)
        result = engine_union_add(out, &m->user[i]->want, e);
    return result;
}

static int set_engines(struct member *m, const struct engine_union *target, struct err *e) {
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines = engine_union_list(target, engine);
    return session_set_engines(m->session, engine, engines, e);
}

/* Fails if nothing that this user wants can be sampled, even if other users' engines work. */
static int check_runs(struct member *m, const struct engine_union *want, struct err *e) {
    struct session_status st;
    const struct session_engine *failed = NULL;
    session_status(m->session, &st);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        if (!want->has[event])
            continue;
        if (st.engine[event].runs || !st.engine[event].error)
            return 0;
        failed = failed ? failed : &st.engine[event];
    }
    if (!failed)
        return 0;
    return err_exit_as(e, ERR_EXIT_PROFILER, failed->error, "cannot sample %s: %s", failed->name,
                       failed->reason[0] ? failed->reason : strerror(failed->error));
}

/* Makes the session sample what its users want now, in addition to what others asked for: a screen
 * that views our session, or the process whose session we view. */
static int relink(struct member *m, struct err *e) {
    struct engine_union now, target, before, want;
    asked_now(m->session, &now);
    int result = wanted(m, &want, e);
    if (result != 0 || engine_union_is_empty(&want)) /* the remaining users take it as it is */
        return result;
    if (m->joined && !looks_on(m->session)) { /* the other process has ended: it wants nothing */
        m->joined = false;
        m->before = (struct engine_union){0};
        m->ours = now;
    }
    target = now;
    engine_union_take_back(&target, &m->ours, &m->before);
    before = target;
    result = engine_union_add(&target, &want, e);
    if (result != 0)
        return result;
    if (!engine_union_same(&target, &now))
        result = set_engines(m, &target, e);
    if (result == 0) {
        m->ours = target;
        m->before = before;
    }
    return result;
}

/* Restores the engines that others wanted before we did. */
static void give_back(struct member *m) {
    struct engine_union now, target;
    struct err ignored;
    asked_now(m->session, &now);
    target = now;
    engine_union_take_back(&target, &m->ours, &m->before);
    if (!engine_union_same(&target, &now))
        set_engines(m, &target, &ignored);
    m->ours = m->before = (struct engine_union){0};
}

/* Beginning. */

static int begin(struct member *m, const struct jvm *j, const struct engine_union *set,
                 const struct fleet_want *want, struct err *e) {
    struct session_options o = m->options->session;
    struct session *s = NULL;
    struct err ignored;
    bool joined;
    o.engines = engine_union_list(set, o.engine);
    if (want->depth)
        o.depth = want->depth;
    if (want->ring_bytes)
        o.ring_bytes = want->ring_bytes;
    int result = share_attach_or_join(j, &o, &s, &joined, e);
    if (result != 0)
        return result;
    session_share(s, NULL, NULL, &ignored);
    m->start_ticks = j->start_ticks;
    m->joined = joined;
    m->before = (struct engine_union){0};
    m->ours = m->joined ? m->before : *set;
    pthread_mutex_lock(m->lock);
    m->session = s;
    pthread_mutex_unlock(m->lock);
    return 0;
}

/* If the JVM could not be attached to, that is not tried again at once. */
static int begin_unless_failed(struct member *m, const struct engine_union *set,
                               const struct fleet_want *want, struct err *e) {
    struct err why = {0};
    struct jvm j;
    int result = jvm_inspect(m->pid, &j, e);
    if (result != 0)
        return result;
    bool failed = member_remembers(m, proc_now_ns()) && j.start_ticks == m->start_ticks &&
                  engine_union_same(set, &m->failed_want);
    if (!failed) {
        result = begin(m, &j, set, want, &why);
        if (result == 0)
            return 0;
        why.code = -result;
        m->failed_want = *set;
        m->failure = why;
        m->start_ticks = j.start_ticks;
        pthread_mutex_lock(m->lock);
        m->failed_ns = proc_now_ns();
        pthread_mutex_unlock(m->lock);
    }
    if (e)
        *e = m->failure;
    return -m->failure.code;
}

/* Closes the session. A session that samples no more is of no use to a new user, except for what it
 * has. */

void member_close(struct member *m) {
    struct session *s = m->session;
    pthread_mutex_lock(m->lock);
    m->session = NULL;
    pthread_mutex_unlock(m->lock);
    session_close(s);
}

static int gone(const struct member *m, struct err *e) {
    return err_set(e, ESRCH,
                   "JVM %d has ended; only those who had its profile open can still read it",
                   (int)m->pid);
}

/* 0: the session samples, or there is none. */
static int check_session(struct member *m, struct err *e) {
    enum session_phase phase = m->session ? phase_of(m->session) : SESSION_RUNNING;
    struct jvm j;
    if (phase == SESSION_RUNNING)
        return 0;
    if (phase == SESSION_JVM_GONE &&
        (jvm_inspect(m->pid, &j, NULL) != 0 || j.start_ticks == m->start_ticks))
        return gone(m, e);
    pthread_mutex_lock(m->lock);
    m->retired = m->users > 0;
    pthread_mutex_unlock(m->lock);
    if (!m->retired) {
        member_close(m);
        return 0;
    }
    session_leave(m->session);
    return -ESTALE;
}

/* Users. */

static int add_user(struct member *m, struct fleet_user *u, struct err *e) {
    pthread_mutex_lock(m->lock);
    bool room = m->users < FLEET_USERS_MAX;
    if (room)
        m->user[m->users++] = u;
    pthread_mutex_unlock(m->lock);
    return room ? 0
                : err_set(e, EUSERS, "JVM %d has %d clients already: one of them must end first",
                          (int)m->pid, FLEET_USERS_MAX);
}

static void remove_user(struct member *m, const struct fleet_user *u) {
    uint32_t i = 0;
    pthread_mutex_lock(m->lock);
    while (i < m->users && m->user[i] != u)
        i++;
    if (i < m->users)
        m->user[i] = m->user[--m->users];
    if (m->users == 0)
        m->idle_ns = proc_now_ns();
    pthread_mutex_unlock(m->lock);
}

static void set_since(struct member *m, struct fleet_user *u, uint64_t since) {
    pthread_mutex_lock(m->lock);
    u->since = since;
    pthread_mutex_unlock(m->lock);
}

/* Makes the session sample what its users want, including this one. If it cannot, everything stays
 * as it was. */
static int serve(struct member *m, const struct engine_union *want, struct err *e) {
    const struct engine_union ours = m->ours, before = m->before;
    struct engine_union asked, now;
    struct err ignored;
    asked_now(m->session, &asked);
    int result = relink(m, e);
    if (result == 0 && !m->joined) /* another process reports its result later */
        result = check_runs(m, want, e);
    if (result == 0)
        return 0;
    asked_now(m->session, &now);
    if (!engine_union_same(&now, &asked))
        set_engines(m, &asked, &ignored);
    m->ours = ours;
    m->before = before;
    return result;
}

/* No user returned in time; the session still exists only by chance. */
static bool is_over(const struct member *m) {
    uint64_t linger_ns = m->options->linger_ms * UINT64_C(1000000);
    return m->session && m->users == 0 && proc_now_ns() >= m->idle_ns + linger_ns;
}

int member_enter(struct member *m, struct fleet_user *u, const struct fleet_want *want,
                 struct err *e) {
    if (m->retired)
        return -ESTALE;
    bool over = is_over(m);
    if (want->as_it_is && (over || !m->session))
        return err_set(e, ENOENT, "JVM %d is not being profiled", (int)m->pid);
    if (want->as_it_is)
        return add_user(m, u, e);
    if (over)
        member_close(m);
    int result = check_session(m, e);
    if (result != 0)
        return result;
    bool first = !m->session;
    if (first)
        result = begin_unless_failed(m, &u->want, want, e);
    if (result == 0)
        result = add_user(m, u, e);
    if (result != 0)
        return result;
    result = serve(m, &u->want, e);
    if (result != 0) {
        remove_user(m, u);
        return result;
    }
    set_since(m, u, first && !m->joined ? 0 : next_second());
    return 0;
}

int member_rewant(struct member *m, struct fleet_user *u, const struct engine_union *want,
                  struct err *e) {
    struct engine_union before = u->want, now;
    asked_now(m->session, &now);
    bool there = engine_union_covers(&now, want);
    u->want = *want;
    int result = serve(m, want, e);
    if (result != 0) {
        u->want = before;
    } else if (!there) {
        set_since(m, u, next_second());
    }
    return result;
}

void member_leave(struct member *m, const struct fleet_user *u) {
    struct err ignored;
    remove_user(m, u);
    bool runs = phase_of(m->session) == SESSION_RUNNING;
    if (runs && m->users > 0)
        relink(m, &ignored);
    else if (runs && m->joined && looks_on(m->session))
        give_back(m);
    if (is_over(m)) /* it is closed soon: then many that end one by one are waited for together */
        session_leave(m->session);
}
