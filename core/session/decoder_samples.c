#include "core/session/decoder_parts.h"

#include <stdlib.h>

static const struct {
    uint8_t source;
    uint8_t tier;
} frame_type[WIRE_FRAME_TYPES] = {
    [WIRE_FRAME_INTERPRETED] = {SOURCE_METHOD, TIER_INTERPRETED},
    [WIRE_FRAME_C1] = {SOURCE_METHOD, TIER_C1},
    [WIRE_FRAME_C2] = {SOURCE_METHOD, TIER_C2},
    [WIRE_FRAME_INLINED] = {SOURCE_METHOD, TIER_INLINED},
    [WIRE_FRAME_NATIVE_METHOD] = {SOURCE_METHOD, TIER_NONE},
    [WIRE_FRAME_NATIVE] = {SOURCE_NATIVE, TIER_NONE},
    [WIRE_FRAME_KERNEL] = {SOURCE_KERNEL, TIER_NONE},
    [WIRE_FRAME_STUB] = {SOURCE_STUB, TIER_NONE},
    [WIRE_FRAME_CLASS] = {SOURCE_CLASS, TIER_NONE},
    [WIRE_FRAME_ERROR] = {SOURCE_ERROR, TIER_NONE},
    [WIRE_FRAME_COMPILING] = {SOURCE_COMPILING, TIER_NONE},
};

static void deliver(struct decoder *d, struct profile_sample *s) {
    if (s->frames == 0) {
        d->frame[0] = (struct profile_frame){.method = d->unknown[SOURCE_ERROR]};
        s->failed = 1;
        s->frames = 1;
        s->frame = d->frame;
    }
    if (profile_add(d->profile, s) == 0)
        d->counts.samples++;
    else
        d->counts.refused++;
}

static uint32_t compiling_method(struct decoder *d, struct known_name *n) {
    if (n->compiling == METHOD_NONE) {
        const struct method m = *method_table_get(profile_methods(d->profile), n->method);
        n->compiling = m.kind == METHOD_JAVA ? decoder_intern(d, SOURCE_COMPILING, METHOD_COMPILING,
                                                              m.class_name, m.name, m.signature, "")
                                             : d->unknown[SOURCE_COMPILING];
    }
    return n->compiling;
}

/* Names a frame by its key. False: there is no name yet. */
static bool name_frame(struct decoder *d, uint64_t key, struct profile_frame *f) {
    struct known_name *n = name_table_get(&d->names, decoder_name_key(key));
    if (!n)
        return false;
    if (key >> 56 == SOURCE_COMPILING) {
        f->method = compiling_method(d, n);
        return true;
    }
    f->method = n->method;
    if (n->lines && wire_frame_bci(key) != WIRE_BCI_NONE)
        f->line = line_table_find(n->lines, wire_frame_bci(key));
    return true;
}

/* Fills in what has a name by now. Returns the name the first frame that still has none waits for,
 * or 0. */
static uint64_t fill_in(struct decoder *d, struct profile_frame *frame, uint64_t *key,
                        uint32_t frames) {
    uint64_t missing = 0;
    for (uint32_t i = 0; i < frames; i++) {
        if (!key[i])
            continue;
        if (name_frame(d, key[i], &frame[i]))
            key[i] = 0;
        else if (!missing)
            missing = decoder_name_key(key[i]);
    }
    return missing;
}

void decoder_release(struct decoder *d, uint64_t key) {
    for (struct held_sample **link = &d->held.first; *link;) {
        struct held_sample *s = *link;
        if (s->awaited == key)
            s->awaited = fill_in(d, held_sample_frames(s), s->key, s->sample.frames);
        if (s->awaited) {
            link = &s->next;
            continue;
        }
        held_samples_take(&d->held, link);
        deliver(d, &s->sample);
        free(s);
    }
}

static void deliver_first_held(struct decoder *d) {
    struct held_sample *s = held_samples_take(&d->held, &d->held.first);
    deliver(d, &s->sample);
    free(s);
}

void decoder_expire(struct decoder *d) {
    while (d->held.first && d->now_ns - d->held.first->arrived_ns > DECODER_HOLD_NS)
        deliver_first_held(d);
}

void decoder_flush(struct decoder *d) {
    while (d->held.first)
        deliver_first_held(d);
}

void decoder_new_stream(struct decoder *d) {
    decoder_flush(d);
    name_table_clear(&d->names);
}

uint64_t decoder_looked_up(const struct wire_sample *w, uint32_t i) {
    uint64_t pc = wire_frame_pc(w->frame[i]);
    bool exact = i == 0 || (wire_frame_type(w->frame[i]) == WIRE_FRAME_NATIVE &&
                            wire_frame_type(w->frame[i - 1]) == WIRE_FRAME_KERNEL);
    return exact || pc == 0 ? pc : pc - 1;
}

static uint32_t address_method(struct decoder *d, enum source source, uint64_t address) {
    struct address_name *a = address_names_get(&d->addresses, address);
    if (!a)
        return d->unknown[source];
    if (a->method == METHOD_NONE)
        a->method = decoder_intern(d, source, a->kind, "", a->name, "", a->module);
    return a->method;
}

#define METHOD_AND_BCI ((UINT64_C(1) << 48) - 1)

/* Translates frame i; its key is set where the name is not known yet. True: the walk failed. */
static bool translate(struct decoder *d, const struct wire_sample *w, uint32_t i) {
    uint64_t word = w->frame[i];
    uint32_t type = wire_frame_type(word);
    enum source source = type < WIRE_FRAME_TYPES ? frame_type[type].source : SOURCE_NONE;
    struct profile_frame *f = &d->frame[i];
    *f = (struct profile_frame){.method = d->unknown[source]};
    d->key[i] = 0;
    uint64_t key = 0;
    switch (source) {
    case SOURCE_METHOD:
        f->tier = frame_type[type].tier;
        key = decoder_key(source, word & METHOD_AND_BCI);
        break;
    case SOURCE_CLASS:
    case SOURCE_COMPILING:
        key = decoder_key(source, wire_frame_method(word));
        break;
    case SOURCE_STUB:
        key = decoder_key(source, word);
        break;
    case SOURCE_NATIVE:
    case SOURCE_KERNEL:
        f->method = address_method(d, source, decoder_looked_up(w, i));
        return false;
    case SOURCE_ERROR: {
        uint64_t failure = word & WIRE_FRAME_ADDRESS_MASK;
        if (failure >= WIRE_FAILURES)
            failure = WIRE_FAILURE_NONE;
        f->method = d->failure_method[failure];
        d->counts.failed[failure]++;
        return wire_failure_is_error((uint32_t)failure);
    }
    case SOURCE_NONE:
    case SOURCES:
        return false;
    }
    if (!name_frame(d, key, f))
        d->key[i] = key;
    return false;
}

const struct wire_sample *decoder_as_sample(const void *record, uint32_t length) {
    const struct wire_sample *w = record;
    if (length < sizeof *w || w->frames > WIRE_FRAMES_MAX || w->event >= WIRE_EVENTS ||
        w->frames > (length - sizeof *w) / sizeof w->frame[0])
        return NULL;
    return w;
}

static uint64_t plausible_time(const struct decoder *d, uint64_t time_ns) {
    if (!d->now_ns)
        return time_ns;
    if (time_ns > d->now_ns)
        return d->now_ns;
    return time_ns < d->since_ns ? d->since_ns : time_ns;
}

bool decoder_decode_sample(struct decoder *d, const void *record, uint32_t length) {
    const struct wire_sample *w = decoder_as_sample(record, length);
    if (!w)
        return false;
    uint64_t awaited = 0;
    bool failed = false;
    for (uint32_t i = 0; i < w->frames; i++) {
        failed |= translate(d, w, i);
        if (d->key[i] && !awaited)
            awaited = decoder_name_key(d->key[i]);
    }
    struct profile_sample s = {
        .time_ns = plausible_time(d, w->time_ns),
        /* a hostile weight must not make sums overflow */
        .weight = w->weight < UINT64_C(1) << 48 ? w->weight : UINT64_C(1) << 48,
        .count = 1,
        .tid = w->tid,
        .virtual_id = w->virtual_id,
        .event = w->event,
        .failed = failed,
        .frames = w->frames,
        .frame = d->frame,
    };
    if (!d->counts.first_ns || s.time_ns < d->counts.first_ns)
        d->counts.first_ns = s.time_ns;
    if (s.time_ns > d->counts.last_ns)
        d->counts.last_ns = s.time_ns;
    decoder_see_thread(d, w->tid);
    if (awaited) {
        if (d->held.count >= HELD_SAMPLES_MAX || d->held.bytes >= HELD_BYTES_MAX)
            deliver_first_held(d);
        if (held_samples_add(&d->held, &s, d->key, awaited, d->now_ns))
            return true;
    }
    deliver(d, &s);
    return true;
}
