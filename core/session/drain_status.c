#include "core/session/session_state.h"

#include <stdio.h>
#include <string.h>

static void copy_text(char *out, size_t size, const char *in) {
    snprintf(out, size, "%s", in);
}

void session_show_engine(struct session_status *st, const struct wire_engine_status *engine) {
    copy_text(st->event, sizeof st->event, session_event_name[engine->event]);
    copy_text(st->mechanism, sizeof st->mechanism, session_mechanism_name[engine->mechanism]);
    copy_text(st->reason, sizeof st->reason, engine->reason);
    st->interval = engine->interval;
}

void drain_publish(struct session *s) {
    struct drain *d = &s->drain;
    if (s->mapping.wire) {
        enum wire_event event = s->adopted ? WIRE_EVENTS : s->options.event;
        control_report(&d->control, event, &d->report);
    }
    bool first = false;
    session_lock(s);
    struct session_status *st = &s->status;
    if (d->report.engine_runs)
        session_show_engine(st, &d->report.engine);
    if (d->report.walker[0])
        copy_text(st->walker, sizeof st->walker, d->report.walker);
    first = st->samples == 0 && d->decoder->counts.samples > 0;
    st->samples = d->decoder->counts.samples;
    st->dropped = d->before.dropped + d->report.dropped;
    st->agent_ns = d->before.agent_ns + d->report.agent_ns;
    st->recompiled = d->before.recompiled + d->report.recompiled;
    st->recompile_ns = d->before.recompile_ns + d->report.recompile_ns;
    st->armed_threads = d->report.threads;
    for (int i = 0; i < WIRE_FAILURES; i++)
        st->failed[i] = d->before.failed[i] + d->report.failed[i];
    if (d->decoder->notes.logs != d->logs_seen)
        copy_text(st->message, sizeof st->message, d->decoder->notes.log);
    copy_text(st->news, sizeof st->news, d->decoder->notes.latest);
    d->logs_seen = d->decoder->notes.logs;
    session_unlock(s);
    if (first)
        session_wake_reader(s);
}

void drain_mark(struct session *s) {
    struct drain *d = &s->drain;
    if (!d->recording)
        return;
    struct wire_mark mark = {
        .header = wire_header_word(WIRE_MARK, sizeof mark),
        .time_ns = session_clock_ns(),
        .dropped = s->status.dropped,
        .engine = d->report.engine,
    };
    memcpy(mark.failed, s->status.failed, sizeof s->status.failed);
    memcpy(mark.walker, s->status.walker, sizeof mark.walker);
    recording_write(d->recording, &mark);
    struct err e;
    if (recording_flush(d->recording, &e) != 0)
        session_set_message(s, "%s", e.message);
}
