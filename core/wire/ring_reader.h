/*
 * The reading end of the ring: one reader, which never blocks a writer and believes nothing.
 *
 * A record is copied out of the shared memory before it is looked at, so a writer that changes it
 * later changes nothing. Lengths are checked before they are used; a ring whose words make no
 * sense is skipped to its head and counted as corrupt.
 *
 * What was read can be kept in the ring until it is safe elsewhere:
 *
 *      tail ──ring_peek──▶ next ──▶ head        ring_release: tail = next
 *
 * Context: reader only, one thread at a time.
 */
#ifndef JTOP_WIRE_RING_READER_H
#define JTOP_WIRE_RING_READER_H

#include "core/wire/record.h"

#include <stdbool.h>

struct ring_reader {
    struct wire_positions *positions;
    uint8_t *data;
    uint64_t bytes;
    uint64_t tail;      /* our own copy: the shared one is only written */
    uint64_t next;      /* read up to here; what is before it and behind the tail is still ours */
    uint64_t records;   /* read so far */
    uint64_t abandoned; /* records whose writer died between reserve and commit */
    uint64_t corrupt;   /* times the ring made no sense */
};

/* `ring_bytes` must have been checked against the size of the mapping. */
void ring_reader_init(struct ring_reader *r, struct wire_mapping *mapping, uint64_t ring_bytes);

/* Copies the next committed record into `out` (`capacity` bytes, 8-byte aligned, at least
 * WIRE_RECORD_BYTES_MAX). Its room stays the reader's, and another reader would read it again.
 * Returns its length; 0 when there is none now. Records longer than `capacity` and pads are
 * skipped. `writers_gone`: no writer lives any more, so a busy record is abandoned, not awaited. */
uint32_t ring_peek(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone);

/* Frees the room of all that was read so far. */
void ring_release(struct ring_reader *r);

/* Both at once. */
uint32_t ring_read(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone);

#endif
