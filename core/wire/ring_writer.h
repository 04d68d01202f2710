/*
 * The writing end of the ring: many writers, none ever waits.
 *
 *      reserve: compare-and-swap on head, then the header word with the busy bit
 *      fill:    plain stores into the reserved bytes
 *      commit:  release store of the header word without the busy bit
 *
 * A record never wraps: when it does not fit before the end of the ring, the rest of the ring
 * becomes a WIRE_PAD record and the record starts at the beginning.
 *
 * Context: signal-safe, any thread, any number of writers at once.
 */
#ifndef JTOP_WIRE_RING_WRITER_H
#define JTOP_WIRE_RING_WRITER_H

#include "core/wire/record.h"

struct ring_writer {
    struct wire_positions *positions;
    uint8_t *data;
    uint64_t
        bytes; /* power of two, of the writer's own knowledge: never re-read from the mapping */
};

void ring_writer_init(struct ring_writer *w, struct wire_mapping *mapping, uint64_t ring_bytes);

/* Room for a record of `length` bytes (rounded up to 8), or NULL where the ring is full or the
 * record larger than half the ring. The room is owned by the caller until ring_commit. */
void *ring_reserve(struct ring_writer *w, enum wire_type type, uint32_t length);

/* Makes the record visible, as `type`: WIRE_PAD makes the reader skip it. */
void ring_commit(void *record, enum wire_type type);

#endif
