/*
 * Hostile records through the decoder into a profile, and the views a person would look at.
 *
 * Input: one byte of flags (1: as a recording, where WIRE_SYMBOL and the like are believed), then
 * records. Lengths that lead nowhere are mended, so that what follows them is reached as well;
 * each record lies in a block of its own size, so that ASan sees every step beyond it.
 */
#include "core/profile/frame_name.h"
#include "core/profile/snapshot.h"
#include "core/session/decoder.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds)
        abort();
}

static size_t feed(struct decoder *d, const uint8_t *data, size_t left) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    size_t length = wire_header_length(word);
    if (length < 8 || length % 8 || length > left || length > WIRE_RECORD_BYTES_MAX) {
        length = left & ~(size_t)7;
        if (length > 256)
            length = 256;
        word = (word & ~UINT64_C(0xffffffff)) | length;
    }
    uint8_t *record = malloc(length);
    check(record != NULL);
    memcpy(record, data, length);
    memcpy(record, &word, sizeof word);
    decoder_prepare(d, record);
    decoder_decode(d, record);
    free(record);
    return length;
}

/* Lines make up their method. */
static void look_at_lines(struct profile *p, int event, const struct snapshot_method *m) {
    struct query q = {.event = event, .lines = true, .lines_of = m->method};
    struct snapshot *s = snapshot_take(p, &q);
    check(s != NULL && s->line_count > 0);
    uint64_t self = 0, total = 0;
    for (uint32_t i = 0; i < s->line_count; i++) {
        self += s->lines[i].self_samples;
        total += s->lines[i].total_samples;
    }
    check(self == m->self_samples && total >= m->total_samples);
    snapshot_free(s);
}

static void look(struct profile *p) {
    char text[4096];
    for (int event = 0; event < WIRE_EVENTS; event++) {
        struct query q = {.event = event,
                          .tree = true,
                          .by_thread = event & 1,
                          .carriers = event & 2,
                          .tiers = event & 4};
        struct snapshot *s = snapshot_take(p, &q);
        check(s != NULL);
        check(s->samples == profile_samples(p, event) && s->weight == profile_weight(p, event));
        for (uint32_t i = 0; i < s->method_count; i++)
            frame_name(method_table_get(profile_methods(p), s->methods[i].method),
                       NAME_DOTTED | NAME_SIGNATURE | NAME_NORMALIZE, text, sizeof text);
        uint64_t weight = 0;
        for (uint32_t i = 0; i < s->thread_count; i++)
            weight += s->threads[i].weight;
        for (uint32_t i = 0; i < s->thread_count; i++)
            check(strlen(s->threads[i].name) <= WIRE_STRING_MAX);
        check(weight == s->weight);
        if (s->method_count > 0)
            look_at_lines(p, event, &s->methods[0]);
        snapshot_free(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct profile *p = profile_new(60);
    struct decoder *d = decoder_new(p, NULL);
    check(d != NULL);
    size_t at = 1;
    d->replay = size > 0 && (data[0] & 1);
    d->now_ns = d->replay ? 0 : UINT64_C(1000000000000);
    while (at + 8 <= size)
        at += feed(d, data + at, size - at);
    decoder_flush(d);
    uint64_t samples = 0;
    for (int event = 0; event < WIRE_EVENTS; event++)
        samples += profile_samples(p, event);
    check(samples == d->counts.samples && d->held.count == 0 && d->held.bytes == 0);
    look(p);
    decoder_free(d);
    profile_free(p);
    return 0;
}
