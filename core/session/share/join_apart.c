/* A profile of its own, whose samples another process's session takes. The other process lets the
 * events run that it lacks (SHARE_LEND), and sends its whole stream; the decoder leaves out other
 * events and other times. */
#include "core/session/share/join.h"

#include "core/base/clock.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_NS UINT64_C(15000000000)

/* Before the profile begins, and if it cannot begin. */

/* How the other process samples, compared with what this profile is to have. NULL: the same. */
static const char *other_option(const struct session *s, const struct share_status *t, char *text,
                                size_t size) {
    const struct session_options *o = &s->options;
    if (t->restricted)
        return "it takes samples of some threads or times only (--thread, --filter, --begin, "
               "--from)";
    if (o->begin || o->end)
        return "--begin, --end, --ttsp and --nostop need a session of their own";
    if (t->walk != o->walk) {
        snprintf(text, size, "stacks are walked by %s there, and by %s here (--cstack)",
                 wire_walk_name[t->walk], wire_walk_name[o->walk]);
        return text;
    }
    if (t->depth != o->depth || t->cut != o->cut) {
        snprintf(text, size, "stacks have up to %u frames there, and %u here (-j, --trim)",
                 (unsigned)t->depth, (unsigned)o->depth);
        return text;
    }
    if (t->features != o->features)
        return "its stacks have other additional frames (--features)";
    if (t->precise != o->precise)
        return o->precise ? "it samples without --precise" : "it samples with --precise";
    if (t->limit_ppm != o->max_overhead_ppm)
        return "it has another limit of the overhead (--max-overhead)";
    return NULL;
}

/* Ends the session's start with an error; or the profile, if it has begun already. */
static void fail(struct session *s, struct join *j, const struct err *e) {
    if (!j->begun) {
        session_finish(s, WIRE_COMMAND_START, -e->code, e);
        return;
    }
    s->drain.decoder->window.end_ns = clock_now_ns();
    session_set_phase(s, SESSION_FAILED, e->message);
}

static void refuse(struct session *s, struct join *j, const char *why) {
    struct err e;
    err_exit_as(&e, ERR_EXIT_PROFILER, EBUSY,
                "process %d profiles JVM %d, and this profile cannot take its samples from there: "
                "%.250s; ask for the same options, or quit process %d first",
                (int)j->reader, (int)s->jvm.pid, why, (int)j->reader);
    fail(s, j, &e);
}

static void send_lend(struct session *s, struct join *j, const void *engine, size_t bytes) {
    j->asked = share_send_frame(j->fd, SHARE_LEND, engine, bytes, NULL, 0) == 0;
    j->deadline_ns = clock_now_ns() + ANSWER_NS;
    if (j->asked)
        return;
    struct err e;
    err_exit_as(&e, ERR_EXIT_PROFILER, EPIPE, "process %d, which profiles JVM %d, has ended",
                (int)j->reader, (int)s->jvm.pid);
    fail(s, j, &e);
}

void join_apart_ask(struct session *s, struct join *j) {
    char text[160];
    const char *other = other_option(s, &j->last, text, sizeof text);
    if (other)
        refuse(s, j, other);
    else
        send_lend(s, j, s->options.engine, s->options.engines * sizeof s->options.engine[0]);
}

/* The profile's time begins now. */
static void begin(struct session *s, struct join *j) {
    uint64_t now = clock_now_ns();
    j->begun = true;
    session_lock(s);
    j->base = j->last.status;
    s->drain.decoder->window.begin_ns = now;
    s->sampled_ns = 0;
    s->running_ns = now;
    s->status.message[0] = '\0';
    join_apart_rebase(s, j);
    s->status = j->last.status;
    join_apart_show(s, j);
    session_unlock(s);
    session_finish(s, WIRE_COMMAND_START, 0, NULL);
}

void join_apart_answered(struct session *s, struct join *j, int result, const struct err *e) {
    j->asked = false;
    if (j->ending)
        join_apart_end(s, j);
    else if (result == -EBUSY)
        refuse(s, j, e->message);
    else if (result != 0)
        fail(s, j, e);
    else if (!j->begun)
        begin(s, j);
}

/* While it is taken. */

void join_apart_rebase(struct session *s, struct join *j) {
    struct session_status *st = &j->last.status, *base = &j->base;
    const struct session_status *shown = &s->status;
    if (!j->begun)
        return;
    if (!j->told) { /* another process, whose counters may begin with 0 */
        base->dropped = st->dropped - shown->dropped;
        base->agent_ns = st->agent_ns - shown->agent_ns;
        base->missed_ns = st->missed_ns;
        base->recompiled = st->recompiled - shown->recompiled;
        base->recompile_ns = st->recompile_ns - shown->recompile_ns;
        for (uint32_t i = 0; i < WIRE_EVENTS; i++)
            base->engine[i].dropped = st->engine[i].dropped - shown->engine[i].dropped;
    }
    st->dropped -= base->dropped;
    st->agent_ns -= base->agent_ns;
    st->missed_ns -= base->missed_ns;
    st->recompiled -= base->recompiled;
    st->recompile_ns -= base->recompile_ns;
    for (uint32_t i = 0; i < WIRE_EVENTS; i++)
        st->engine[i].dropped -= base->engine[i].dropped;
    if (strcmp(st->message, base->message) == 0)
        st->message[0] = '\0'; /* it is about the time before */
}

/* The phase of this profile, where the other process's session is not running. */
static void show_phase(struct session *s) {
    struct session_status *st = &s->status;
    if (st->phase != SESSION_STOPPED)
        return;
    st->phase = SESSION_FAILED;
    snprintf(st->message, sizeof st->message,
             "process %d, which took the samples, has stopped sampling JVM %d", (int)st->reader,
             (int)s->jvm.pid);
}

void join_apart_show(struct session *s, struct join *j) {
    struct session_status *st = &s->status;
    const struct decoder *d = s->drain.decoder;
    uint32_t flags = 0;
    st->reader = (int32_t)j->reader;
    session_hide_engines(st, ~d->only);
    for (uint32_t i = 0; i < s->options.engines; i++)
        flags |= s->options.engine[i].flags;
    session_show_counts(s, flags);
    session_show_first(st, s->options.engine[0].event);
    memcpy(st->failed, d->counts.failed, sizeof st->failed);
    st->dropped = 0;
    for (uint32_t i = 0; i < WIRE_EVENTS; i++)
        st->dropped += st->engine[i].dropped;
    for (int i = 0; j->begun && i < WIRE_EVENTS; i++)
        if (d->only & 1u << i)
            profile_event_runs(s->profile, i, j->last.time_ns, st->engine[i].runs);
    if (!j->begun)
        return;
    show_phase(s);
    if (st->phase != SESSION_RUNNING && s->running_ns) {
        s->sampled_ns += clock_now_ns() - s->running_ns;
        s->running_ns = 0;
    }
}

/* The end. */

void join_apart_stop(struct session *s, struct join *j, uint64_t now) {
    bool runs = j->begun && drain_phase(s) == SESSION_RUNNING && (j->ending || !j->asked);
    if (!runs) {
        join_apart_end(s, j);
    } else if (!j->ending) {
        j->ending = true;
        session_lock(s);
        s->drain.decoder->window.end_ns = now;
        session_unlock(s);
        if (share_send_frame(j->fd, SHARE_LEND, NULL, 0, NULL, 0) != 0)
            join_apart_end(s, j);
        j->deadline_ns = now + ANSWER_NS;
    } else if (now > j->deadline_ns) {
        session_set_message(s, "process %d did not answer in time: the last samples may be missing",
                            (int)j->reader);
        join_apart_end(s, j);
    }
}

void join_apart_end(struct session *s, struct join *j) {
    bool runs = drain_phase(s) == SESSION_RUNNING;
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    drain_name_threads(s);
    session_lock(s);
    decoder_flush(s->drain.decoder);
    uint64_t end = s->drain.decoder->window.end_ns, now = clock_now_ns();
    end = end && end < now ? end : now;
    if (s->running_ns && end > s->running_ns)
        s->sampled_ns += end - s->running_ns;
    s->running_ns = 0;
    if (j->begun)
        join_apart_show(s, j);
    session_unlock(s);
    drain_mark(s);
    if (runs)
        session_set_phase(s, SESSION_STOPPED, NULL);
    session_finish(s, WIRE_COMMAND_STOP, 0, NULL);
}
