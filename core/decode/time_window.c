#include "core/decode/time_window.h"

#include "core/wire/record.h"

#include <string.h>

#define LAST_MAX 65536u
#define LAST_BYTES_MAX (32u << 20)

void time_window_init(struct time_window *w) {
    kept_records_init(&w->last, LAST_MAX, LAST_BYTES_MAX);
}

void time_window_free(struct time_window *w) {
    kept_records_free(&w->last);
}

static bool is_sample(const void *record, uint64_t *word) {
    memcpy(word, record, sizeof *word);
    return wire_header_type(*word) == WIRE_SAMPLE &&
           wire_header_length(*word) >= sizeof(struct wire_sample);
}

void time_window_begin(struct time_window *w, const void *record) {
    const struct wire_sample *sample = record;
    uint64_t word;
    if (is_sample(record, &word) && time_window_is_open(w, sample->time_ns) &&
        (!w->first_ns || sample->time_ns < w->first_ns))
        w->first_ns = sample->time_ns;
}

static bool has(const struct time_window *w, uint64_t time_ns) {
    uint64_t at = time_ns > w->first_ns ? time_ns - w->first_ns : 0;
    return time_window_is_open(w, time_ns) && at >= w->from_ns && (!w->to_ns || at < w->to_ns);
}

uint64_t time_window_clamp(const struct time_window *w, uint64_t time_ns) {
    uint64_t at = time_ns > w->first_ns ? time_ns - w->first_ns : 0;
    if (!time_window_is_on(w))
        return time_ns;
    at = at < w->from_ns ? w->from_ns : at;
    return w->first_ns + (w->to_ns && at > w->to_ns ? w->to_ns : at);
}

/* A map's key is never 0. */
static uint64_t key(uint32_t tid, uint32_t event) {
    return UINT64_C(1) << 40 | (uint64_t)event << 32 | tid;
}

static const void *pass_sample(struct time_window *w, const struct wire_sample *sample) {
    if (has(w, sample->time_ns)) {
        kept_records_remove(&w->last, key(sample->tid, sample->event));
        return sample;
    }
    if (sample->event != WIRE_EVENT_WALL) /* nothing else repeats */
        return NULL;
    struct kept_record *last = kept_records_put(&w->last, key(sample->tid, sample->event), sample);
    if (last)
        last->written = 0;
    return NULL;
}

static const void *pass_repeat(struct time_window *w, const struct wire_repeat *repeat) {
    if (!has(w, repeat->time_ns))
        return NULL;
    struct kept_record *last = kept_records_get(&w->last, key(repeat->tid, repeat->event));
    if (!last || last->written)
        return repeat;
    struct wire_sample *sample = (struct wire_sample *)last->record;
    last->written = 1;
    sample->time_ns = repeat->time_ns;
    sample->weight = repeat->weight;
    sample->count = repeat->count;
    sample->state = repeat->state;
    return sample;
}

const void *time_window_pass(struct time_window *w, const void *record) {
    uint64_t word;
    if (is_sample(record, &word)) {
        if (!w->first_ns)
            time_window_begin(w, record);
        return pass_sample(w, record);
    }
    uint32_t length = wire_header_length(word);
    switch (wire_header_type(word)) {
    case WIRE_REPEAT:
        return length < sizeof(struct wire_repeat) ? record : pass_repeat(w, record);
    case WIRE_LOCK:
        return length < sizeof(struct wire_lock) ||
                       has(w, ((const struct wire_lock *)record)->time_ns)
                   ? record
                   : NULL;
    case WIRE_PAUSE:
        return length < sizeof(struct wire_pause) ||
                       has(w, ((const struct wire_pause *)record)->end_ns)
                   ? record
                   : NULL;
    case WIRE_WINDOW:
        return length < sizeof(struct wire_window) ||
                       has(w, ((const struct wire_window *)record)->end_ns)
                   ? record
                   : NULL;
    default:
        return record;
    }
}

uint64_t time_window_length(const struct time_window *w, uint64_t elapsed_ns) {
    uint64_t end = w->to_ns && w->to_ns < elapsed_ns ? w->to_ns : elapsed_ns;
    return end > w->from_ns ? end - w->from_ns : 0;
}
