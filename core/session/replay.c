#include "core/session/session_state.h"

#include "core/session/clean_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The marks have the counters and the engines. They are as hostile as the rest of the file. */
static void take_marks(struct session_status *st, const struct decoder_marks *m) {
    struct wire_engine_status engine;
    uint32_t first = WIRE_EVENTS;
    for (uint32_t event = WIRE_EVENTS; event-- > 0;) {
        if (!(m->known & 1u << event) || !control_clean_engine(&m->engine[event], &engine))
            continue;
        session_show_engine(st, &engine, "", m->asked & 1u << event, false);
        st->engine[event].dropped = engine.dropped;
        if (m->asked & 1u << event)
            first = event;
    }
    session_show_first(st, first);
    clean_field(st->walker, sizeof st->walker, m->last.walker, sizeof m->last.walker);
    st->dropped = m->last.dropped;
    memcpy(st->failed, m->last.failed, sizeof st->failed);
    if (m->sampled_ns > st->elapsed_ns)
        st->elapsed_ns = m->sampled_ns;
}

static void fill_status(struct session *s) {
    const struct decoder *d = s->drain.decoder;
    const struct decoder_counts *c = &d->counts;
    const struct decoder_notes *n = &d->notes;
    struct session_status *st = &s->status;
    st->phase = SESSION_REPLAYED;
    st->dropped = c->lost;
    memcpy(st->failed, c->failed, sizeof st->failed);
    st->elapsed_ns = c->last_ns - c->first_ns;
    for (int event = 0; event < SESSION_EVENTS; event++)
        st->engine[event].coverage = -1;
    if (d->marks.any)
        take_marks(st, &d->marks);
    session_show_counts(s, WIRE_ENGINE_NO_FREE);
    snprintf(st->message, sizeof st->message, "%s", n->log);
    snprintf(st->news, sizeof st->news, "%s", n->latest);
    s->jvm.pid = (pid_t)(n->pid & 0x7fffffff);
    s->jvm.inner_pid = s->jvm.pid;
    snprintf(s->jvm.name, sizeof s->jvm.name, "%s", n->jvm_name[0] ? n->jvm_name : "(recording)");
    snprintf(s->jvm.version, sizeof s->jvm.version, "%s", n->jvm_version);
}

static int read_all(struct session *s, struct recording_reader *r, struct err *e) {
    uint64_t *record = malloc(WIRE_RECORD_BYTES_MAX);
    if (!record)
        return err_set(e, ENOMEM, "out of memory");
    while (recording_read(r, record))
        decoder_decode(s->drain.decoder, record);
    decoder_flush(s->drain.decoder);
    free(record);
    return 0;
}

int session_replay(const char *path, const struct session_options *o, struct session **out,
                   struct err *e) {
    struct recording_reader *r = NULL;
    struct session *s = NULL;
    *out = NULL;
    int result = recording_open(path, &r, e);
    if (result == 0)
        result = session_new(o, &s, e);
    if (result == 0) {
        s->drain.decoder->replay = true;
        result = read_all(s, r, e);
    }
    if (result == 0) {
        fill_status(s);
        if (recording_damage(r))
            session_set_message(s,
                                "the recording is cut or damaged after %llu bytes: what is "
                                "before that is shown",
                                (unsigned long long)recording_damage(r));
        session_wake_reader(s);
        *out = s;
    } else {
        session_free(s);
    }
    recording_free(r);
    return result;
}
