#include "core/session/replay.h"

#include "core/base/clean_text.h"
#include "core/session/session_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes counters and engines from the marks. The marks are as hostile as the rest of the file. */
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
    memcpy(st->failed, c->failed, sizeof st->failed);
    st->elapsed_ns = c->last_ns - c->first_ns;
    for (int event = 0; event < EVENT_KINDS; event++)
        st->engine[event].coverage = -1;
    if (d->marks.any)
        take_marks(st, &d->marks);
    st->elapsed_ns = time_window_length(&d->window, st->elapsed_ns);
    session_show_counts(s, WIRE_ENGINE_NO_FREE);
    snprintf(st->message, sizeof st->message, "%s", n->log);
    snprintf(st->news, sizeof st->news, "%s", n->latest);
    st->day_ns = n->day_ns;
    st->undated = n->undated;
    s->jvm.pid = (pid_t)(n->pid & 0x7fffffff);
    s->jvm.inner_pid = s->jvm.pid;
    snprintf(s->jvm.name, sizeof s->jvm.name, "%s", n->jvm_name[0] ? n->jvm_name : "(recording)");
    snprintf(s->jvm.version, sizeof s->jvm.version, "%s", n->jvm_version);
}

/* Reads files as streams of records. */

static bool is_recording(const char *path) {
    uint64_t magic = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool yes = fd >= 0 && read(fd, &magic, sizeof magic) == (ssize_t)sizeof magic &&
               magic == WIRE_FILE_MAGIC;
    if (fd >= 0)
        close(fd);
    return yes;
}

static int read_records(struct recording_reader *r, import_record *each, void *arg, struct err *e) {
    uint64_t *record = malloc(WIRE_RECORD_BYTES_MAX);
    if (!record)
        return err_set(e, ENOMEM, "out of memory");
    int result = 0;
    while (result == 0 && recording_read(r, record))
        result = each(arg, record);
    free(record);
    return result;
}

static void tell_damage(const struct recording_reader *r, struct replay_result *result) {
    if (recording_damage(r))
        snprintf(result->damage, sizeof result->damage,
                 "the recording is cut or damaged after %llu bytes: the part before that is shown",
                 (unsigned long long)recording_damage(r));
    else if (recording_is_unfinished(r))
        snprintf(result->damage, sizeof result->damage,
                 "the recording has no end: its writer was killed or is still writing; the part so "
                 "far is shown");
}

int replay_records(const char *path, import_record *each, void *arg, struct replay_result *result,
                   struct err *e) {
    struct recording_reader *r = NULL;
    struct import_result import;
    *result = (struct replay_result){0};
    if (!is_recording(path)) {
        int got = import_file(path, each, arg, &import, e);
        if (import.damage[0])
            snprintf(result->damage, sizeof result->damage, "the file is cut or damaged: %s",
                     import.damage);
        else if (import.note[0])
            snprintf(result->damage, sizeof result->damage, "%s", import.note);
        return got;
    }
    int got = recording_open(path, &r, e);
    if (got == 0)
        got = read_records(r, each, arg, e);
    if (r)
        tell_damage(r, result);
    recording_free(r);
    return got;
}

/* Reads a file into a session. */

static int begin_window(void *window, const void *record) {
    time_window_begin(window, record);
    return 0;
}

static int decode(void *decoder, const void *record) {
    decoder_decode(decoder, record);
    return 0;
}

static int read_all(struct session *s, const char *path, struct replay_result *result,
                    struct err *e) {
    struct decoder *d = s->drain.decoder;
    int r = 0;
    d->replay = true;
    /* A time window is relative to the earliest sample, which need not be the first in the file. */
    if (time_window_is_on(&d->window))
        r = replay_records(path, begin_window, &d->window, result, e);
    if (r == 0)
        r = replay_records(path, decode, d, result, e);
    decoder_flush(d);
    return r;
}

/* Different perf events, or methods, share one event number, so they are compared by name. */
static bool has_event(const struct session_status *st, const struct wire_engine_request *q) {
    const struct session_engine *engine = &st->engine[q->event];
    bool named = q->event == WIRE_EVENT_PERF || q->event == WIRE_EVENT_METHOD;
    if (!engine->samples && !engine->asked && !engine->mechanism[0])
        return false;
    const char *in = strstr(engine->name, q->name); /* several methods: "A.b, C.d" */
    size_t n = strlen(q->name);
    return !named || !engine->name[0] ||
           (in && (in == engine->name || in[-1] == ' ') && (!in[n] || in[n] == ','));
}

static int check_events(const struct session *s, const char *path, struct err *e) {
    const struct session_options *o = &s->options;
    const struct session_status *st = &s->status;
    char list[400] = "";
    size_t used = 0;
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (st->engine[i].samples && used < sizeof list)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                 st->engine[i].name[0] ? st->engine[i].name : event_kind_name[i]);
    for (uint32_t i = 0; o->events_given && i < o->engines; i++)
        if (!has_event(st, &o->engine[i]))
            return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT,
                               "%.200s has no samples of %s; it has %s", path, o->engine[i].name,
                               used ? list : "no samples at all");
    return 0;
}

int session_replay(const char *path, const struct session_options *o, struct session **out,
                   struct err *e) {
    struct session *s = NULL;
    struct replay_result result;
    const char *trouble;
    *out = NULL;
    int r = session_new(o, &s, e);
    if (r == 0)
        r = read_all(s, path, &result, e);
    if (r == 0) {
        fill_status(s);
        if (result.damage[0])
            session_set_message(s, "%s", result.damage);
        else if ((trouble = thread_filter_trouble(&s->filter)))
            session_set_message(s, "%s", trouble);
        r = check_events(s, path, e);
    }
    if (r < 0) {
        session_free(s);
        return r;
    }
    session_wake_reader(s);
    *out = s;
    return 0;
}
