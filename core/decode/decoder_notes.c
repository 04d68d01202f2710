#include "core/decode/decoder_parts.h"

#include "core/base/clean_text.h"
#include "core/decode/tap.h"

#include <string.h>

#define REPLACED_MAX 100u                           /* events by others */
#define PAUSE_MAX_NS (UINT64_C(3600) * 1000000000u) /* longer ones are nobody's */

bool decoder_decode_lost(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_lost *w = record;
    d->counts.lost += w->samples;
    return true;
}

static void add_news(struct decoder_notes *n, const struct wire_log *w) {
    clean_text(n->latest, sizeof n->latest, w->bytes, w->text_bytes);
    size_t length = strlen(n->latest);
    if (length + 2 > sizeof n->news - n->news_bytes) {
        n->news_left_out++;
        return;
    }
    memcpy(n->news + n->news_bytes, n->latest, length);
    memcpy(n->news + n->news_bytes + length, "\n", 2);
    n->news_bytes += length + 1;
}

bool decoder_decode_log(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_log *w = record;
    if (w->text_bytes > length - sizeof *w)
        return false;
    if (w->level > 1) {
        add_news(&d->notes, w);
        return true;
    }
    clean_text(d->notes.log, sizeof d->notes.log, w->bytes, w->text_bytes);
    d->notes.logs++;
    return true;
}

/* Begin and end of a time that is over, made plausible. False: it ends before it begins. */
static bool plausible_span(const struct decoder *d, uint64_t *begin_ns, uint64_t *end_ns) {
    if (*end_ns < *begin_ns)
        return false;
    *begin_ns = decoder_plausible_time(d, *begin_ns);
    *end_ns = decoder_plausible_time(d, *end_ns);
    return true;
}

bool decoder_decode_pause(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_pause *w = record;
    uint64_t begin = w->begin_ns, end = w->end_ns;
    if (!plausible_span(d, &begin, &end))
        return false;
    if (end - begin > PAUSE_MAX_NS)
        begin = end - PAUSE_MAX_NS;
    profile_pause(d->profile, begin, end, w->kind == WIRE_PAUSE_GC ? 0 : 1);
    return true;
}

bool decoder_decode_window(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    const struct wire_window *w = record;
    uint64_t begin = w->begin_ns, end = w->end_ns;
    if (!plausible_span(d, &begin, &end))
        return false;
    d->counts.windows++;
    decoder_bounded(&d->counts.window_ns, end - begin);
    if (d->tap)
        d->tap->window(d->tap->arg, begin, end);
    return true;
}

bool decoder_decode_jvm(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_jvm *w = record;
    size_t left = length - sizeof *w;
    if (!d->replay || w->name_bytes > left || w->version_bytes > left - w->name_bytes)
        return false;
    d->notes.pid = w->pid;
    clean_text(d->notes.jvm_name, sizeof d->notes.jvm_name, w->bytes, w->name_bytes);
    clean_text(d->notes.jvm_version, sizeof d->notes.jvm_version, w->bytes + w->name_bytes,
               w->version_bytes);
    d->notes.undated = w->start_ns == 0;
    d->notes.day_ns = w->start_ns >= w->clock_ns && w->start_ns <= INT64_MAX / 2
                          ? (int64_t)(w->start_ns - w->clock_ns)
                          : 0;
    return true;
}

bool decoder_decode_environment(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_environment *w = record;
    if (!d->replay || w->text_bytes > length - sizeof *w)
        return false;
    environment_clean(d->notes.environment, sizeof d->notes.environment, w->bytes, w->text_bytes);
    return true;
}

static void next_moment(struct decoder_marks *m, uint64_t time_ns) {
    uint64_t gap = m->any && time_ns > m->moment_ns ? time_ns - m->moment_ns : 0;
    if (m->running)
        decoder_bounded(&m->sampled_ns, gap);
    m->any = true;
    m->moment_ns = time_ns;
    m->running = false;
    m->asked = 0;
}

/* Where another event took this one's place, the samples there are would pass for its own. It costs
 * a pass over the profile, and nobody switches that often. */
static void replace_event(struct decoder *d, const struct wire_engine_status *now) {
    const struct wire_engine_status *before = &d->marks.engine[now->event];
    if (before->mechanism == WIRE_MECHANISM_AUTO || d->marks.replaced >= REPLACED_MAX ||
        !profile_samples(d->profile, (int)now->event) ||
        strncmp(now->name, before->name, sizeof now->name) == 0)
        return;
    profile_forget(d->profile, now->event);
    d->marks.replaced++;
}

bool decoder_decode_mark(struct decoder *d, const void *record, uint32_t length) {
    (void)length;
    struct decoder_marks *m = &d->marks;
    const struct wire_mark *w = record;
    uint32_t event = w->engine.event;
    if (!d->replay || event >= WIRE_EVENTS)
        return false;
    if (!m->any || w->time_ns != m->moment_ns)
        next_moment(m, w->time_ns);
    m->last = *w;
    m->asked |= 1u << event;
    bool runs = w->engine.mechanism != WIRE_MECHANISM_AUTO;
    m->running |= runs;
    if (runs && m->known & 1u << event)
        replace_event(d, &w->engine);
    /* One that has just been stopped says no more how it ran. */
    if (runs || w->engine.error || !(m->known & 1u << event))
        m->engine[event] = w->engine;
    m->known |= 1u << event;
    return true;
}
