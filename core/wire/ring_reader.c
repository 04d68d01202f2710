#include "core/wire/ring_reader.h"

#include <string.h>

void ring_reader_init(struct ring_reader *r, struct wire_mapping *mapping, uint64_t ring_bytes) {
    *r = (struct ring_reader){
        .positions = &mapping->control.positions,
        .data = mapping->ring,
        .bytes = ring_bytes,
    };
    r->tail = atomic_load_explicit(&r->positions->tail, memory_order_relaxed);
}

/* Frees `length` bytes: zeroes first, because a stale word could pass for a header later. */
static void release(struct ring_reader *r, uint64_t length) {
    memset(r->data + (r->tail & (r->bytes - 1)), 0, length);
    r->tail += length;
    atomic_store_explicit(&r->positions->tail, r->tail, memory_order_release);
}

/* Gives up on everything up to `head`, and wipes no byte behind it: writers may be there. */
static void resynchronise(struct ring_reader *r, uint64_t head) {
    uint64_t length = head - r->tail < r->bytes ? head - r->tail : r->bytes;
    uint64_t offset = r->tail & (r->bytes - 1);
    uint64_t to_end = r->bytes - offset < length ? r->bytes - offset : length;
    r->corrupt++;
    memset(r->data + offset, 0, to_end);
    memset(r->data, 0, length - to_end);
    r->tail = head;
    atomic_store_explicit(&r->positions->tail, r->tail, memory_order_release);
}

uint32_t ring_read(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone) {
    for (;;) {
        uint64_t head = atomic_load_explicit(&r->positions->head, memory_order_relaxed);
        if (head == r->tail)
            return 0;
        if (head - r->tail > r->bytes || head % 8) {
            resynchronise(r, head & ~UINT64_C(7));
            return 0;
        }
        uint64_t offset = r->tail & (r->bytes - 1);
        uint64_t word = atomic_load_explicit((_Atomic uint64_t *)(void *)(r->data + offset),
                                             memory_order_acquire);
        uint32_t length = wire_header_length(word);
        if (word == 0) {
            if (!writers_gone)
                return 0;
            /* The writer died between its compare-and-swap and its first store: its room is all
             * zeroes, and the next record begins at the first word that is not. */
            release(r, 8);
            continue;
        }
        if (length < 8 || length % 8 || length > head - r->tail || length > r->bytes - offset) {
            resynchronise(r, head);
            return 0;
        }
        if (word & WIRE_HEADER_BUSY) {
            if (!writers_gone)
                return 0;
            r->abandoned++;
            release(r, length);
            continue;
        }
        bool wanted = wire_header_type(word) != WIRE_PAD && length <= capacity;
        if (wanted) {
            memcpy(out, r->data + offset, length);
            memcpy(out, &word, sizeof word); /* the word that was checked, not what it is by now */
        }
        release(r, length);
        if (!wanted)
            continue;
        r->records++;
        return length;
    }
}
