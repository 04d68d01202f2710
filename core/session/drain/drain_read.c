#include "core/session/session_state.h"

#include "core/base/clock.h"

#include <stdlib.h>

/* Records decoded in one go, with the lock held: a few milliseconds' worth. */
#define BATCH_BYTES (256u << 10)
/* How often the JVM's maps are read because it says so. One that says it all the time gets names
 * that may be a second old. */
#define LOOKS_PER_SECOND 100
#define CALM_PART 8
#define SECOND_NS UINT64_C(1000000000)

/* How much is taken out of the ring at a time. What is recorded stays in it until it is in the file,
 * so that must leave the writers room. */
static size_t batch_limit(const struct drain *d) {
    uint64_t share = d->ring.bytes / 4;
    return d->recording && share < BATCH_BYTES ? (size_t)share : BATCH_BYTES;
}

/* Reads records until the batch is full, nothing is left, or libraries changed: addresses behind
 * that mean something else. */
static size_t fill_batch(struct session *s, bool writers_gone, bool *libraries) {
    struct drain *d = &s->drain;
    if (!d->batch)
        d->batch = malloc(BATCH_BYTES + WIRE_RECORD_BYTES_MAX);
    size_t used = 0, limit = batch_limit(d);
    *libraries = false;
    while (d->batch && used < limit && !*libraries) {
        uint64_t *record = d->batch + used / 8;
        uint32_t length = ring_peek(&d->ring, record, WIRE_RECORD_BYTES_MAX, writers_gone);
        if (!d->recording)
            ring_release(&d->ring);
        if (length == 0)
            break;
        used += length;
        *libraries = wire_header_type(*record) == WIRE_LIBRARY;
    }
    return used;
}

/* What is recorded leaves the ring only when the kernel has it: whoever kills us finds each record
 * in the file or still in the ring. A failed write is told by the next mark. */
static void decode_batch(struct session *s, size_t used) {
    struct drain *d = &s->drain;
    size_t words = used / 8;
    for (size_t i = 0; i < words; i += wire_header_length(d->batch[i]) / 8)
        decoder_prepare(d->decoder, d->batch + i);
    if (d->recording)
        (void)recording_flush(d->recording, NULL);
    ring_release(&d->ring);
    session_lock(s);
    for (size_t i = 0; i < words; i += wire_header_length(d->batch[i]) / 8)
        decoder_decode(d->decoder, d->batch + i);
    session_unlock(s);
}

/* Addresses mean something else from here on. */
static void libraries_changed(struct drain *d) {
    if (d->unwind)
        unwind_refresh(d->unwind);
    if (d->looks >= LOOKS_PER_SECOND) {
        d->look_due = true;
        return;
    }
    d->looks++;
    decoder_libraries_changed(d->decoder);
}

static void look_later(struct drain *d) {
    if (d->decoder->now_ns - d->looks_ns < SECOND_NS)
        return;
    d->looks_ns = d->decoder->now_ns;
    d->looks = 0;
    if (!d->look_due)
        return;
    d->look_due = false;
    decoder_libraries_changed(d->decoder);
}

bool drain_read(struct session *s, bool writers_gone) {
    struct drain *d = &s->drain;
    uint64_t begin = d->ring.tail;
    /* A writer faster than us must not keep us from everything else. */
    while (d->ring.bytes && d->ring.tail - begin < d->ring.bytes) {
        bool libraries;
        uint64_t before = d->ring.tail;
        d->decoder->now_ns = clock_now_ns();
        look_later(d);
        size_t used = fill_batch(s, writers_gone, &libraries);
        if (used)
            decode_batch(s, used);
        else
            ring_release(&d->ring);
        drain_tell_filters(s);
        if (libraries)
            libraries_changed(d);
        if (d->ring.tail == before)
            break;
    }
    if (d->decoder->held.first) {
        session_lock(s);
        decoder_expire(d->decoder);
        session_unlock(s);
    }
    /* At that pace it would be an eighth full when it is looked at next. */
    d->calm = d->ring.tail - begin < d->ring.bytes / CALM_PART;
    return !d->ring.bytes ||
           atomic_load_explicit(&d->ring.positions->head, memory_order_relaxed) == d->ring.tail;
}
