#include "core/session/session_state.h"

#include "core/session/clean_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last mark has the counters and the engine. It is as hostile as the rest of the file. */
static void take_mark(struct session_status *st, const struct wire_mark *mark) {
    struct wire_engine_status engine;
    if (control_clean_engine(&mark->engine, &engine))
        session_show_engine(st, &engine);
    clean_field(st->walker, sizeof st->walker, mark->walker, sizeof mark->walker);
    st->dropped = mark->dropped;
    memcpy(st->failed, mark->failed, sizeof st->failed);
}

static void fill_status(struct session *s) {
    const struct decoder *d = s->drain.decoder;
    const struct decoder_counts *c = &d->counts;
    const struct decoder_notes *n = &d->notes;
    struct session_status *st = &s->status;
    st->phase = SESSION_REPLAYED;
    st->samples = c->samples;
    st->dropped = c->lost;
    memcpy(st->failed, c->failed, sizeof st->failed);
    st->elapsed_ns = c->last_ns - c->first_ns;
    if (n->marked) {
        take_mark(st, &n->mark);
        if (n->mark.time_ns - n->first_mark_ns < UINT64_MAX / 2 &&
            n->mark.time_ns - n->first_mark_ns > st->elapsed_ns)
            st->elapsed_ns = n->mark.time_ns - n->first_mark_ns;
    }
    snprintf(st->message, sizeof st->message, "%s", n->log);
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
    *out = NULL;
    int result = recording_open(path, &r, e);
    if (result != 0)
        return result;
    struct session *s = session_new(o);
    if (!s) {
        recording_free(r);
        return err_set(e, ENOMEM, "out of memory");
    }
    s->drain.decoder->replay = true;
    result = read_all(s, r, e);
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
