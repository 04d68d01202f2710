/* Which engines run: the session's own, and those that are lent to other processes' profiles. */
#include "core/session/session_state.h"

#include <errno.h>
#include <string.h>

static int check_engines(const struct session *s, const struct wire_engine_request *engine,
                         uint32_t engines, struct err *e) {
    uint32_t seen = 0;
    if (!s->threaded)
        return err_exit_as(
            e, ERR_EXIT_ARGUMENT, EINVAL,
            "this is a recording: events can be changed only while a JVM is being sampled");
    for (uint32_t i = 0; i < engines; i++) {
        if (i >= WIRE_EVENTS || engine[i].event >= WIRE_EVENTS || seen & 1u << engine[i].event)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "unknown event, or the same event given twice");
        seen |= 1u << engine[i].event;
    }
    return 0;
}

static void keep_before(struct session *s) {
    memcpy(s->engine_before, s->options.engine, sizeof s->engine_before);
    s->engines_before = s->options.engines;
}

int session_set_engines(struct session *s, const struct wire_engine_request *engine,
                        uint32_t engines, struct err *e) {
    int result = check_engines(s, engine, engines, e);
    if (result != 0)
        return result;
    pthread_mutex_lock(&s->caller);
    session_lock(s);
    struct session_options *o = &s->options;
    result = lent_check(&s->lent, engine, engines, e);
    keep_before(s);
    if (result == 0 && engines > 0)
        memcpy(o->engine, engine, engines * sizeof *engine);
    if (result == 0)
        o->engines = engines;
    session_unlock(s);
    if (result == 0) {
        session_begin_request(s, WIRE_COMMAND_START);
        result = session_await_request(s, e);
    }
    pthread_mutex_unlock(&s->caller);
    return result;
}

uint32_t session_engines(struct session *s, struct wire_engine_request *out) {
    session_lock(s);
    uint32_t engines = s->options.engines;
    memcpy(out, s->options.engine, engines * sizeof *out);
    session_unlock(s);
    return engines;
}

uint32_t session_wanted(const struct session *s, struct wire_engine_request *out, uint32_t *lent) {
    return lent_list(&s->lent, s->options.engine, s->options.engines, out, lent);
}

void session_hide_engines(struct session_status *st, uint32_t events) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        if (events & 1u << event)
            st->engine[event] = (struct session_engine){.coverage = -1};
    if (events & 1u << WIRE_EVENT_ALLOC)
        st->engine[EVENT_LIVE] = (struct session_engine){.coverage = -1};
    if (events & 1u << WIRE_EVENT_NATIVEMEM)
        st->engine[EVENT_LEAK] = (struct session_engine){.coverage = -1};
}

void session_count_own(struct session *s) {
    struct decoder *d = s->drain.decoder;
    const struct session_options *o = &s->options;
    if (!o->apart)
        return;
    uint32_t only = 0, unfollowed = 1u << WIRE_EVENT_ALLOC | 1u << WIRE_EVENT_NATIVEMEM;
    for (uint32_t i = 0; i < o->engines; i++) {
        only |= 1u << o->engine[i].event;
        if (o->engine[i].flags & WIRE_ENGINE_LIVE)
            unfollowed &= ~(1u << WIRE_EVENT_ALLOC);
        if (o->engine[i].event == WIRE_EVENT_NATIVEMEM &&
            !(o->engine[i].flags & WIRE_ENGINE_NO_FREE))
            unfollowed &= ~(1u << WIRE_EVENT_NATIVEMEM);
    }
    d->only = only;
    d->unfollowed = unfollowed;
}

/* Lending. */

/* Starts what has to run now. */
static int restart(struct session *s, struct err *e) {
    session_lock(s);
    keep_before(s);
    session_unlock(s);
    session_begin_request(s, WIRE_COMMAND_START);
    return session_await_request(s, e);
}

/* Fails if one of the engines does not run. */
static int check_runs(struct session *s, const struct wire_engine_request *engine, uint32_t engines,
                      struct err *e) {
    struct session_status st;
    session_whole_status(s, &st);
    for (uint32_t i = 0; i < engines; i++) {
        const struct session_engine *one = &st.engine[engine[i].event];
        if (one->runs)
            continue;
        int code = one->error > 0 && one->error != EBUSY ? one->error : ENOTSUP;
        if (one->reason[0]) /* as an attach reports it */
            return err_exit_as(e, ERR_EXIT_PROFILER, code, "%s", one->reason);
        return err_exit_as(e, ERR_EXIT_PROFILER, code, "%.63s cannot be sampled: %s",
                           engine[i].name, strerror(code));
    }
    return 0;
}

static int lend(struct session *s, const void *to, const struct wire_engine_request *engine,
                uint32_t engines, struct err *e) {
    struct wire_engine_request ignored[WIRE_EVENTS];
    uint32_t before, now;
    session_lock(s);
    bool runs = s->status.phase == SESSION_RUNNING;
    session_wanted(s, ignored, &before);
    int result =
        !runs ? err_exit_as(e, ERR_EXIT_PROFILER, ESRCH,
                            "JVM %d is no longer sampled by that process", (int)s->jvm.pid)
              : lent_begin(&s->lent, to, s->options.engine, s->options.engines, engine, engines, e);
    session_wanted(s, ignored, &now);
    session_unlock(s);
    if (result != 0)
        return result;
    /* They may not run yet, if this process has just taken the JVM over. */
    if (now != before || check_runs(s, engine, engines, NULL) != 0)
        result = restart(s, e);
    if (result == 0)
        result = check_runs(s, engine, engines, e);
    if (result != 0) {
        session_lock(s);
        lent_end(&s->lent, to);
        session_unlock(s);
    }
    return result;
}

int session_lend(struct session *s, const void *to, const struct wire_engine_request *engine,
                 uint32_t engines, struct err *e) {
    int result = check_engines(s, engine, engines, e);
    if (result != 0)
        return result;
    pthread_mutex_lock(&s->caller);
    if (engines) {
        result = lend(s, to, engine, engines, e);
    } else {
        session_lock(s);
        lent_end(&s->lent, to);
        session_unlock(s);
    }
    pthread_mutex_unlock(&s->caller);
    drain_await_rounds(s);
    return result;
}
