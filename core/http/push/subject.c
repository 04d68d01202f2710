#include "core/http/push/subject.h"

#include "core/base/clock.h"
#include "core/report/quality.h"

#include <stdlib.h>
#include <time.h>

#define NS 1000000000u

/* The open window as a query in the samples' clock. A session's first window includes older
 * samples: they were taken while the session was being prepared. */
static struct query question(const struct subject *s, int event) {
    struct query q = {.event = event, .from_second = s->window.from};
    if (s->window.first)
        q.from_second = s->since;
    q.to_second = s->window.to - 1;
    return q;
}

struct event_part {
    struct query query;
    struct quality_text text;
    struct export_quality quality;
    struct snapshot *snapshot;
};

/* The first second of the window that has samples: exporters let a profile begin there. */
static uint64_t first_second(const struct profile *p, const struct query *q) {
    uint64_t first, last, kept;
    profile_span(p, &first, &last, &kept);
    uint64_t from = q->from_second > first ? q->from_second : first;
    uint64_t n = q->to_second >= from ? q->to_second - from + 1 : 0;
    struct profile_second *second = n && n < 86400 ? calloc(n, sizeof *second) : NULL;
    uint64_t found = from;
    if (second) {
        profile_timeline(p, q->event, from, (uint32_t)n, second);
        for (uint64_t i = 0; i < n; i++)
            if (second[i].samples) {
                found = from + i;
                break;
            }
    }
    free(second);
    return found;
}

/* False: there is nothing to send for that event. */
static bool fill_part(struct subject *s, struct event_part *a, struct profile *p,
                      const struct session_status *st, int event) {
    const struct session_engine *engine = &st->engine[event];
    if (!engine->samples && !engine->asked)
        return false;
    a->query = question(s, event);
    quality_of_event(&a->quality, st, event, &s->held.jvm, &a->text);
    /* These values are of the window, not of the session. */
    uint64_t dropped = engine->dropped;
    a->quality.dropped = dropped > s->dropped[event] ? dropped - s->dropped[event] : 0;
    a->quality.failed_count = 0;
    a->quality.elapsed_ns = window_to_ns(&s->window) - window_from_ns(&s->window);
    a->quality.windows = a->quality.window_ns = 0;
    a->snapshot = snapshot_take(p, &a->query);
    if (!a->snapshot || !a->snapshot->samples)
        return false;
    /* Makes the profile begin where the window does. */
    a->quality.day_ns =
        (int64_t)(window_from_ns(&s->window) - first_second(p, &a->query) * (uint64_t)NS);
    s->dropped[event] = dropped;
    return true;
}

/* Sends the open window as one message; nothing if it has no samples. */
static void send_window(struct subject *s, const struct subject_out *out,
                        const struct session_status *st) {
    struct session *session = fleet_session(s->held.user);
    struct event_part *a = calloc(EVENT_KINDS, sizeof *a);
    struct export_part part[EVENT_KINDS];
    int parts = 0;
    if (!a)
        return;
    struct profile *p = session_lock(session);
    for (int event = 0; event < EVENT_KINDS; event++) {
        struct event_part *one = &a[event];
        if (fill_part(s, one, p, st, event))
            part[parts++] = (struct export_part){one->snapshot, &one->quality, &one->query};
    }
    struct push_profile f = {.profile = p,
                             .part = part,
                             .parts = parts,
                             .labels = &s->labels,
                             .from_ns = window_from_ns(&s->window),
                             .to_ns = window_to_ns(&s->window)};
    if (parts)
        (void)out->protocol->make(out->protocol, &f, out->put, out->arg);
    for (int event = 0; event < EVENT_KINDS; event++)
        snapshot_free(a[event].snapshot);
    session_unlock(session);
    free(a);
}

void subject_begin(struct subject *s, uint32_t every) {
    struct session_status st;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    s->since = fleet_since(s->held.user);
    session_status(fleet_session(s->held.user), &st);
    for (int i = 0; i < EVENT_KINDS; i++)
        s->dropped[i] = st.engine[i].dropped;
    uint64_t from = s->since ? s->since : (now - (st.elapsed_ns < now ? st.elapsed_ns : 0)) / NS;
    if (!s->begun) {
        window_begin(&s->window, every, from, now, clock_ns(CLOCK_REALTIME));
    } else {
        /* Continues where the window was cut. What a new session sampled in that last second was
         * not sent, so it belongs to this window. A session that went on still has the samples that
         * were sent, so it begins at the window. */
        if (s->since && s->since < s->window.from)
            s->since = s->window.from;
        s->window.first = true;
    }
    s->begun = true;
}

static uint64_t newest_second(struct session *session, uint32_t *nodes) {
    uint64_t first, last, kept;
    const struct profile *p = session_lock(session);
    profile_span(p, &first, &last, &kept);
    *nodes = profile_node_count(p);
    session_unlock(session);
    return last;
}

enum roster_end subject_step(struct subject *s, const struct subject_out *out) {
    struct session *session = fleet_session(s->held.user);
    struct session_status st;
    uint32_t nodes;
    uint64_t newest = newest_second(session, &nodes);
    session_status(session, &st);
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    while (window_due(&s->window, now, newest)) {
        send_window(s, out, &st);
        window_next(&s->window, now, clock_ns(CLOCK_REALTIME));
    }
    if (st.phase != SESSION_RUNNING) {
        /* The phase was read first, so the profile has everything by now. */
        newest = newest_second(session, &nodes);
        subject_cut(s, out, newest * NS);
        return st.phase == SESSION_JVM_GONE ? ROSTER_ENDED : ROSTER_FAILED;
    }
    /* For a new viewer, another process's profile would be just as large again. */
    return nodes > out->nodes_max && !st.reader ? ROSTER_ANEW : ROSTER_GOES_ON;
}

void subject_finish(struct subject *s, const struct subject_out *out) {
    struct err e;
    /* Reads all samples to the end. We must not stop another process's session. */
    if (!fleet_looks_on(s->held.user))
        (void)session_stop(fleet_session(s->held.user), &e);
    subject_cut(s, out, clock_ns(CLOCK_MONOTONIC));
}

void subject_cut(struct subject *s, const struct subject_out *out, uint64_t now_ns) {
    struct session_status st;
    session_status(fleet_session(s->held.user), &st);
    if (!window_cut(&s->window, now_ns / NS))
        return;
    send_window(s, out, &st);
    window_next(&s->window, clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME));
}
