#include "core/session/session_state.h"
#include "core/wire/wire_names.h"

#include "core/base/clock.h"

#include <stdio.h>
#include <string.h>

static void copy_text(char *out, size_t size, const char *in) {
    snprintf(out, size, "%s", in);
}

void session_show_engine(struct session_status *st, const struct wire_engine_status *engine,
                         const char *name, bool asked, bool runs) {
    struct session_engine *one = &st->engine[engine->event];
    bool ran = engine->mechanism != WIRE_MECHANISM_AUTO;
    if (engine->name[0])
        name = engine->name;
    one->asked = asked;
    one->runs = runs;
    one->biased = engine->biased != 0;
    one->error = asked && !runs ? engine->error : 0;
    one->interval = engine->interval;
    one->threads = engine->threads < UINT32_MAX ? (uint32_t)engine->threads : UINT32_MAX;
    one->coverage = -1;
    if (engine->expected_ns) /* both grow while they are read, so the ratio may exceed 1 */
        one->coverage = engine->covered_ns < engine->expected_ns
                            ? (double)engine->covered_ns / (double)engine->expected_ns
                            : 1;
    copy_text(one->name, sizeof one->name, name[0] ? name : event_kind_name[engine->event]);
    copy_text(one->mechanism, sizeof one->mechanism,
              ran && asked ? wire_mechanism_name[engine->mechanism] : "");
    copy_text(one->reason, sizeof one->reason, engine->reason);
}

/* What is left of an event (the live objects of allocations, the leaks of native memory) is shown
 * as an event of its own. */
static void show_rest(struct session *s, int event, int of, bool followed) {
    struct session_engine *rest = &s->status.engine[event];
    uint64_t samples = profile_samples(s->profile, event);
    *rest = s->status.engine[of];
    rest->asked = rest->asked && (followed || samples > 0);
    rest->runs = rest->runs && rest->asked;
    rest->samples = samples;
    copy_text(rest->name, sizeof rest->name, event_kind_name[event]);
}

void session_show_counts(struct session *s, uint32_t flags) {
    struct session_status *st = &s->status;
    const struct decoder_counts *c = &s->drain.decoder->counts;
    st->samples = c->samples;
    st->windows = c->windows;
    st->window_ns = c->window_ns;
    for (int i = 0; i < WIRE_EVENTS; i++)
        st->engine[i].samples = c->event[i];
    show_rest(s, EVENT_LIVE, WIRE_EVENT_ALLOC, (flags & WIRE_ENGINE_LIVE) != 0);
    show_rest(s, EVENT_LEAK, WIRE_EVENT_NATIVEMEM, (flags & WIRE_ENGINE_NO_FREE) == 0);
}

void session_show_first(struct session_status *st, uint32_t event) {
    if (event >= WIRE_EVENTS)
        return;
    const struct session_engine *one = &st->engine[event];
    copy_text(st->event, sizeof st->event, one->name);
    copy_text(st->mechanism, sizeof st->mechanism, one->mechanism);
    copy_text(st->reason, sizeof st->reason, one->reason);
    st->interval = one->interval;
}

void drain_run_clock(struct session *s, bool runs) {
    uint64_t now = clock_now_ns();
    session_lock(s);
    if (runs && !s->running_ns) {
        s->running_ns = now;
    } else if (!runs && s->running_ns) {
        s->sampled_ns += now - s->running_ns;
        s->running_ns = 0;
    }
    session_unlock(s);
}

static uint64_t counted(struct restarting *c, uint64_t now) {
    if (now < c->last)
        c->before += c->last;
    c->last = now;
    return c->before + now;
}

static const struct wire_engine_request *find_request(const struct session_options *o,
                                                      uint32_t event) {
    for (uint32_t i = 0; i < o->engines; i++)
        if (o->engine[i].event == event)
            return &o->engine[i];
    return NULL;
}

static void publish_engine(struct session *s, uint32_t event) {
    struct drain *d = &s->drain;
    const struct wire_engine_status *r = &d->report.engine[event];
    const struct wire_engine_request *q = find_request(&s->options, event);
    q = q ? q : lent_find(&s->lent, event);
    struct wire_engine_status *known = &d->known[event];
    bool runs = r->mechanism != WIRE_MECHANISM_AUTO;
    bool asked = q || (s->adopted && (runs || known->mechanism != WIRE_MECHANISM_AUTO));
    known->event = event;
    bool refused = asked && !runs && !r->error && d->refused[event].error;
    /* An engine that was stopped keeps its last status. */
    if (refused)
        *known = d->refused[event];
    else if (runs || (asked && r->error))
        *known = *r;
    if (runs && q && !known->interval)
        known->interval = q->interval;
    session_show_engine(&s->status, known, q ? q->name : "", asked, runs);
    profile_event_runs(s->profile, (int)event, clock_now_ns(), runs);
    if (event == WIRE_EVENT_WALL)
        profile_event_runs(s->profile, EVENT_ACTIVE, clock_now_ns(), runs);
    if (refused)
        copy_text(s->status.engine[event].reason, sizeof s->status.engine[event].reason,
                  d->why_refused[event]);
    if (runs || d->dropped[event].last)
        s->status.engine[event].dropped = counted(&d->dropped[event], runs ? r->dropped : 0);
}

static void publish_engines(struct session *s) {
    uint32_t flags = 0, first = WIRE_EVENTS;
    for (uint32_t event = WIRE_EVENTS; event-- > 0;) {
        publish_engine(s, event);
        if (s->status.engine[event].asked)
            first = event;
    }
    for (uint32_t i = 0; i < s->options.engines; i++)
        flags |= s->options.engine[i].flags;
    for (uint32_t i = 0; i < s->lent.loans; i++)
        for (uint32_t k = 0; k < s->lent.loan[i].engines; k++)
            flags |= s->lent.loan[i].engine[k].flags;
    session_show_counts(s, flags);
    session_show_first(&s->status, s->options.engines ? s->options.engine[0].event : first);
}

static void publish_counters(struct session *s) {
    struct drain *d = &s->drain;
    struct session_status *st = &s->status;
    if (d->report.walker[0])
        copy_text(st->walker, sizeof st->walker, d->report.walker);
    st->dropped = d->before.dropped + d->report.dropped;
    st->discarded = (uint32_t)(d->before.discarded + d->report.discarded);
    st->agent_ns = d->before.agent_ns + d->report.agent_ns;
    st->recompiled = d->before.recompiled + d->report.recompiled;
    st->recompile_ns = d->before.recompile_ns + d->report.recompile_ns;
    st->armed_threads = d->report.threads;
    st->java_states = d->report.java;
    /* The agent counts a window when it begins. */
    if (d->before.windows + d->report.windows > st->windows)
        st->windows = d->before.windows + d->report.windows;
    for (int i = 0; i < WIRE_FAILURES; i++)
        st->failed[i] = d->before.failed[i] + d->report.failed[i];
}

static void publish_notes(struct session *s) {
    struct drain *d = &s->drain;
    struct session_status *st = &s->status;
    const struct decoder_notes *n = &d->decoder->notes;
    if (n->logs != d->logs_seen)
        copy_text(st->message, sizeof st->message, n->log);
    d->logs_seen = n->logs;
    copy_text(st->news, sizeof st->news, n->latest);
    if (!d->decoder->counts.unfollowed || d->unfollowed_told)
        return;
    d->unfollowed_told = true;
    snprintf(st->message, sizeof st->message,
             "more than %u sampled blocks or objects at a time: the rest are missing from the live "
             "objects or the leaks",
             d->decoder->live.index.limit);
}

void drain_publish(struct session *s) {
    struct drain *d = &s->drain;
    if (s->joined) /* the other process sends the status */
        return;
    if (s->mapping.wire)
        control_report(&d->control, &d->report);
    session_lock(s);
    bool first = s->status.samples == 0 && d->decoder->counts.samples > 0;
    publish_engines(s);
    publish_counters(s);
    publish_notes(s);
    bool runs = d->report.engine_runs && d->report.state == WIRE_STATE_RUNNING &&
                s->status.phase == SESSION_RUNNING && !d->process_gone;
    session_unlock(s);
    drain_run_clock(s, runs);
    if (first)
        session_wake_reader(s);
}

static uint64_t since(uint64_t now, uint64_t base) {
    return now > base ? now - base : 0;
}

/* Writes one mark for each requested engine, all with the same time. The mechanism of a mark shows
 * if its engine does not run. */
void drain_mark(struct session *s) {
    struct drain *d = &s->drain;
    const struct session_status *st = &s->status; /* only this thread writes it, except for
                                                     its message */
    if (!d->recording)
        return;
    struct wire_mark mark = {
        .header = wire_header_word(WIRE_MARK, sizeof mark),
        .time_ns = clock_now_ns(),
        .dropped = since(st->dropped, d->base.dropped),
    };
    for (int i = 0; i < WIRE_FAILURES; i++)
        mark.failed[i] = since(st->failed[i], d->base.failed[i]);
    memcpy(mark.walker, st->walker, sizeof mark.walker);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        if (!st->engine[event].asked || (d->decoder->only && !(d->decoder->only & 1u << event)))
            continue;
        mark.engine = d->known[event];
        mark.engine.dropped = since(st->engine[event].dropped, d->base.engine_dropped[event]);
        if (!st->engine[event].runs)
            mark.engine.mechanism = WIRE_MECHANISM_AUTO;
        recording_write(d->recording, &mark);
    }
    struct err e;
    if (recording_flush(d->recording, &e) != 0) {
        session_set_message(s, "%s", e.message);
        session_lock(s);
        s->status.unrecorded = true;
        session_unlock(s);
    }
}
