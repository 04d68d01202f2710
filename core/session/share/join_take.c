/* What comes from the process that samples. It may be believed, and is checked all the same. */
#include "core/session/share/join.h"

#include "core/base/clean_text.h"
#include "core/base/clock.h"
#include "core/wire/wire_names.h"

#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define GAP_NS (2 * SECOND_NS) /* the status comes each second */

/* Strings are terminated and printable. */
static void clean(char *field, size_t size) {
    char copy[512];
    size = size < sizeof copy ? size : sizeof copy;
    memcpy(copy, field, size);
    clean_field(field, size, copy, size);
}

static void clean_status(struct session_status *st) {
    clean(st->event, sizeof st->event);
    clean(st->mechanism, sizeof st->mechanism);
    clean(st->reason, sizeof st->reason);
    clean(st->walker, sizeof st->walker);
    clean(st->message, sizeof st->message);
    clean(st->budget.text, sizeof st->budget.text);
    clean(st->news, sizeof st->news);
    for (uint32_t i = 0; i < EVENT_KINDS; i++) {
        struct session_engine *one = &st->engine[i];
        clean(one->name, sizeof one->name);
        clean(one->mechanism, sizeof one->mechanism);
        clean(one->reason, sizeof one->reason);
        if (!(one->coverage >= 0 && one->coverage <= 1))
            one->coverage = -1;
    }
}

static bool is_bool(const bool *b) {
    uint8_t byte;
    memcpy(&byte, b, 1);
    return byte < 2;
}

static bool is_sound(const struct share_status *t) {
    bool sound = t->engines <= WIRE_EVENTS && (uint32_t)t->walk < WIRE_WALKS &&
                 (uint32_t)t->status.phase <= SESSION_FAILED &&
                 t->status.phase != SESSION_REPLAYED && t->depth <= WIRE_FRAMES_MAX &&
                 is_bool(&t->restricted) && is_bool(&t->status.unrecorded) &&
                 is_bool(&t->precise) && is_bool(&t->tag_cpu) && is_bool(&t->tag_sched);
    for (uint32_t i = 0; i < EVENT_KINDS && sound; i++)
        sound = is_bool(&t->status.engine[i].asked) && is_bool(&t->status.engine[i].runs) &&
                is_bool(&t->status.engine[i].biased);
    for (uint32_t i = 0; i < t->engines && sound; i++)
        sound = t->engine[i].event < WIRE_EVENTS;
    return sound;
}

static enum wire_mechanism mechanism_of(const char *name) {
    for (uint32_t i = 0; i < WIRE_MECHANISMS; i++)
        if (strcmp(name, wire_mechanism_name[i]) == 0)
            return (enum wire_mechanism)i;
    return WIRE_MECHANISM_AUTO;
}

/* For the marks of a recording of our own. */
static void know_engines(struct drain *d, const struct session_status *st) {
    for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
        const struct session_engine *one = &st->engine[i];
        struct wire_engine_status *known = &d->known[i];
        *known = (struct wire_engine_status){.event = i,
                                             .mechanism = mechanism_of(one->mechanism),
                                             .interval = one->interval,
                                             .threads = one->threads,
                                             .biased = one->biased,
                                             .error = one->error};
        static_assert(sizeof known->name == sizeof one->name, "a name is a name");
        memcpy(known->name, one->name, sizeof known->name);
        known->name[sizeof known->name - 1] = '\0';
    }
}

/* Where another event took this one's place, the samples there are would pass for its own. */
static void forget_replaced(struct session *s, const struct session_status *now) {
    for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
        const struct session_engine *before = &s->status.engine[i];
        if (now->engine[i].runs && before->mechanism[0] &&
            strcmp(before->name, now->engine[i].name) != 0)
            profile_forget(s->profile, i);
    }
}

/* What was sampled while it looked on at nobody is missing here. */
static void note_gap(struct session *s, struct join *j, const struct share_status *t) {
    uint64_t now = clock_now_ns(), said = t->time_ns < now ? t->time_ns : now;
    if (!j->told && j->was_told && j->told_ns && said > j->told_ns + GAP_NS && s->running_ns)
        j->missed_ns += said - j->told_ns;
    j->told_ns = said;
}

static void show_gap(const struct join *j, struct session_status *st) {
    st->missed_ns += j->missed_ns;
    if (j->missed_ns && !st->message[0])
        snprintf(st->message, sizeof st->message,
                 "about %llu s are missing: this process looked on at nobody",
                 (unsigned long long)((j->missed_ns + SECOND_NS / 2) / SECOND_NS));
}

static bool take_status(struct session *s, struct join *j, const void *data, size_t bytes) {
    struct share_status *t = &j->last;
    if (bytes != sizeof *t)
        return false;
    memcpy(t, data, sizeof *t);
    if (!is_sound(t))
        return false;
    clean_status(&t->status);
    for (uint32_t i = 0; i < t->engines; i++)
        t->engine[i].name[sizeof t->engine[i].name - 1] = '\0';
    know_engines(&s->drain, &t->status);
    session_lock(s);
    struct session_status *st = &s->status;
    bool news = st->phase != t->status.phase || (!st->samples && t->status.samples);
    if (j->told)
        forget_replaced(s, &t->status);
    memcpy(t->status.recording, st->recording, sizeof st->recording);
    note_gap(s, j, t);
    *st = t->status;
    st->reader = (int32_t)j->reader;
    s->sampled_ns = st->elapsed_ns + st->missed_ns;
    show_gap(j, st);
    s->running_ns = st->phase == SESSION_RUNNING && t->engines ? clock_now_ns() : 0;
    if (!s->wanted || s->done || !j->told) { /* else they are being changed */
        memcpy(s->options.engine, t->engine, sizeof t->engine);
        s->options.engines = t->engines;
    }
    s->drain.decoder->tag_cpu = t->tag_cpu;
    s->drain.decoder->tag_sched = t->tag_sched;
    session_unlock(s);
    if (news)
        session_wake_reader(s);
    if (!j->told)
        session_finish(s, WIRE_COMMAND_START, 0, NULL);
    j->told = j->was_told = true;
    j->tries = 0;
    return true;
}

static bool take_records(struct session *s, const uint64_t *data, size_t bytes) {
    struct decoder *d = s->drain.decoder;
    size_t at = 0;
    for (size_t length; at < bytes; at += length) {
        length = wire_header_length(data[at / 8]);
        if (length < 8 || length % 8 || length > bytes - at || length > WIRE_RECORD_BYTES_MAX)
            return false;
    }
    for (at = 0; at < bytes; at += wire_header_length(data[at / 8]))
        decoder_prepare(d, data + at / 8);
    session_lock(s);
    for (at = 0; at < bytes; at += wire_header_length(data[at / 8]))
        decoder_decode(d, data + at / 8);
    session_unlock(s);
    return true;
}

static bool take_answer(struct session *s, struct join *j, const void *data, size_t bytes,
                        bool refused) {
    struct share_exit x;
    struct err e = {0};
    if (bytes != sizeof x)
        return false;
    memcpy(&x, data, sizeof x);
    share_exit_to_err(&x, &e);
    if (refused && x.result == 0)
        return false;
    if (j->asked || refused)
        session_finish(s, WIRE_COMMAND_START, x.result, &e);
    j->asked = false;
    return !refused;
}

bool join_take(struct session *s, struct join *j, uint32_t kind, const void *data, size_t bytes) {
    switch (kind) {
    case SHARE_RECORDS:
        return bytes % 8 == 0 && take_records(s, data, bytes);
    case SHARE_STATUS:
        return take_status(s, j, data, bytes);
    case SHARE_ANSWER:
        return take_answer(s, j, data, bytes, false);
    case SHARE_EXIT:
        return take_answer(s, j, data, bytes, true);
    default:
        return true;
    }
}
