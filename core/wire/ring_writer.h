/*
 * The writing end of the ring: many writers, and none ever waits.
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
        bytes; /* power of two; the writer has its own copy and never reads it from the mapping */
};

void ring_writer_init(struct ring_writer *w, struct wire_mapping *mapping, uint64_t ring_bytes);

/* Reserves room for a record of `length` bytes (rounded up to 8). NULL: the ring is full, or the
 * record is larger than half the ring. The caller owns the room until ring_commit. */
void *ring_reserve(struct ring_writer *w, enum wire_type type, uint32_t length);

/* Makes the record visible, with this type. The reader skips a WIRE_PAD. */
void ring_commit(void *record, enum wire_type type);

#endif
