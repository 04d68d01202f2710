/*
 * Hostile records through the decoder into a profile, and the views a person would look at.
 *
 * Input: one byte of flags (1: as a recording, where WIRE_SYMBOL and the like are believed; 2: some
 * threads only; 4: with tags), then records. Lengths that lead nowhere are mended, so that what follows them is reached as well;
 * each record lies in a block of its own size, so that ASan sees every step beyond it.
 */
#include "core/decode/decoder.h"
#include "core/decode/thread_filter.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"

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
    for (int event = 0; event < EVENT_KINDS; event++) {
        struct query q = {.event = event,
                          .tree = true,
                          .by_thread = event & 1,
                          .carriers = event & 2,
                          .tiers = event & 4,
                          .locks = event == WIRE_EVENT_LOCK};
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

static int policy(void *arg, uint32_t tid) {
    (void)arg;
    return tid % 16 < 8 ? (int)(tid % 8) : -1;
}

static void look_at_seconds(struct profile *p) {
    static struct profile_second second[64];
    uint64_t first, last, kept;
    profile_span(p, &first, &last, &kept);
    profile_timeline(p, WIRE_EVENT_CPU, first, 64, second);
    profile_timeline(p, WIRE_EVENT_CPU, last, 64, second);
}

/* What is counted as alive was allocated, and all of it may go. */
static void check_counts(struct profile *p, struct decoder *d) {
    uint64_t samples = 0;
    for (int event = 0; event < WIRE_EVENTS; event++) {
        check(profile_samples(p, event) == d->counts.event[event]);
        check(profile_weight(p, event) <= DECODER_WEIGHTS_MAX);
        samples += profile_samples(p, event);
    }
    check(samples == d->counts.samples && d->held.count == 0 && d->held.bytes == 0);
    check(profile_weight(p, EVENT_LIVE) <= profile_weight(p, WIRE_EVENT_ALLOC));
    check(profile_samples(p, EVENT_LEAK) <= profile_samples(p, WIRE_EVENT_NATIVEMEM));
    check(profile_weight(p, EVENT_ACTIVE) <= profile_weight(p, WIRE_EVENT_WALL));
    check(profile_samples(p, EVENT_ACTIVE) <= profile_samples(p, WIRE_EVENT_WALL));
    check(d->live.count == d->live.index.count && d->repeats.count == d->repeats.index.count);
}

static void free_everything(struct profile *p, struct decoder *d) {
    while (d->live.count > 0) {
        struct wire_free w = {.header = wire_header_word(WIRE_FREE, sizeof w),
                              .live_id = d->live.place[0].key};
        uint32_t before = d->live.count;
        if (d->live.place[0].state == PLACE_GONE)
            place_map_remove(&d->live, w.live_id);
        else
            decoder_decode(d, &w);
        check(d->live.count < before);
    }
    check(profile_weight(p, EVENT_LIVE) == 0 && profile_weight(p, EVENT_LEAK) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct tid_range tids[] = {{0, 7}};
    uint8_t flags = size > 0 ? data[0] : 0;
    struct thread_filter f;
    struct profile *p = profile_new(60);
    struct decoder *d = decoder_new(p, NULL);
    check(d != NULL &&
          thread_filter_init(&f, flags & 2 ? "a|#1" : NULL, tids, (flags & 2) / 2, NULL) == 0);
    d->filter = f.on ? &f : NULL;
    _Atomic uint8_t *bits = f.on ? calloc(1, WIRE_THREADS_BYTES) : NULL;
    thread_filter_use_bits(&f, bits);
    d->tag_cpu = d->tag_sched = (flags & 4) != 0;
    d->policy = policy;
    d->replay = flags & 1;
    d->now_ns = d->replay ? 0 : UINT64_C(1000000000000);
    for (size_t at = 1; at + 8 <= size;)
        at += feed(d, data + at, size - at);
    decoder_flush(d);
    check_counts(p, d);
    look(p);
    look_at_seconds(p);
    free_everything(p, d);
    decoder_free(d);
    profile_free(p);
    thread_filter_free(&f);
    free((void *)bits);
    return 0;
}
