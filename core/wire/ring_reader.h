/*
 * The reading end of the ring: one reader, which never blocks a writer and trusts no data.
 *
 * A record is copied out of the shared memory before it is used, so a writer that changes it later
 * changes nothing. Lengths are checked before they are used. Where a word of the ring is invalid,
 * the reader skips to the head and counts the ring as corrupt.
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
    uint64_t tail;      /* the reader's own copy: the shared one is only written */
    uint64_t next;      /* read up to here; what lies between tail and next is not released yet */
    uint64_t records;   /* read so far */
    uint64_t abandoned; /* records whose writer died between reserve and commit */
    uint64_t corrupt;   /* times a word of the ring was invalid */
};

/* `ring_bytes` must have been checked against the size of the mapping. */
void ring_reader_init(struct ring_reader *r, struct wire_mapping *mapping, uint64_t ring_bytes);

/* Copies the next committed record into `out` (`capacity` bytes, 8-byte aligned, at least
 * WIRE_RECORD_BYTES_MAX). Its room is not released, and another reader would read it again. Returns
 * its length; 0 when there is none now. Records longer than `capacity` and pads are skipped.
 * `writers_gone`: no writer is alive any more, so the reader abandons a busy record instead of
 * waiting for it. */
uint32_t ring_peek(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone);

/* Releases the room of all records read so far. */
void ring_release(struct ring_reader *r);

/* ring_peek and ring_release in one call. */
uint32_t ring_read(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone);

#endif
