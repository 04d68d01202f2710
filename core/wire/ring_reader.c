#include "core/wire/ring_reader.h"

#include <string.h>

/* Zeroes what was read and gives the room back to the writers. It is zeroed first, because a stale
 * word could later pass for a header. `wiping` records how far: if this reader is killed here, the
 * next one would otherwise wait forever for a header that stays zero. */
void ring_release(struct ring_reader *r) {
    uint64_t length = r->next - r->tail, offset = r->tail & (r->bytes - 1);
    uint64_t to_end = r->bytes - offset < length ? r->bytes - offset : length;
    if (!length)
        return;
    atomic_store_explicit(&r->positions->wiping, r->next, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* a kill comes between two stores: keep the order */
    memset(r->data + offset, 0, to_end);
    memset(r->data, 0, length - to_end);
    r->tail = r->next;
    atomic_store_explicit(&r->positions->tail, r->tail, memory_order_release);
}

void ring_reader_init(struct ring_reader *r, struct wire_mapping *mapping, uint64_t ring_bytes) {
    *r = (struct ring_reader){
        .positions = &mapping->control.positions,
        .data = mapping->ring,
        .bytes = ring_bytes,
    };
    r->tail = atomic_load_explicit(&r->positions->tail, memory_order_acquire) & ~UINT64_C(7);
    uint64_t unfinished =
        atomic_load_explicit(&r->positions->wiping, memory_order_relaxed) - r->tail;
    r->next = r->tail;
    if (unfinished && unfinished <= ring_bytes && unfinished % 8 == 0)
        r->next += unfinished;
    ring_release(r);
}

/* Skips everything up to `head`. It wipes no byte behind `head`, where writers may be. Where read
 * records are not released yet, it does nothing: the caller releases them, and the next ring_peek
 * comes here again. */
static void resynchronise(struct ring_reader *r, uint64_t head) {
    if (r->next != r->tail)
        return;
    r->corrupt++;
    r->next += head - r->tail < r->bytes ? head - r->tail : r->bytes;
    ring_release(r);
    r->tail = r->next = head;
    atomic_store_explicit(&r->positions->tail, r->tail, memory_order_release);
}

static uint64_t word_at(const struct ring_reader *r, uint64_t position) {
    return atomic_load_explicit((_Atomic uint64_t *)(void *)(r->data + (position & (r->bytes - 1))),
                                memory_order_acquire);
}

/* Skips the room of a writer that died between its compare-and-swap and its first store. That room
 * is all zeroes, so the next record begins at the first word that is not zero. */
static void skip_zeroes(struct ring_reader *r, uint64_t head) {
    r->next += 8;
    while (r->next != head && word_at(r, r->next) == 0)
        r->next += 8;
    r->abandoned++;
}

uint32_t ring_peek(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone) {
    /* A hostile writer could write pads forever: one call skips at most one ring full of them. */
    for (uint64_t begin = r->next; r->next - begin < r->bytes;) {
        uint64_t head = atomic_load_explicit(&r->positions->head, memory_order_relaxed);
        if (head == r->next)
            return 0;
        if (head - r->tail > r->bytes || head - r->next > r->bytes || head % 8) {
            resynchronise(r, head & ~UINT64_C(7));
            return 0;
        }
        uint64_t offset = r->next & (r->bytes - 1);
        uint64_t word = word_at(r, r->next);
        uint32_t length = wire_header_length(word);
        if (word == 0) {
            if (!writers_gone)
                return 0;
            skip_zeroes(r, head);
            continue;
        }
        if (length < 8 || length % 8 || length > head - r->next || length > r->bytes - offset) {
            resynchronise(r, head);
            return 0;
        }
        if (word & WIRE_HEADER_BUSY) {
            if (!writers_gone)
                return 0;
            r->abandoned++;
            r->next += length;
            continue;
        }
        bool wanted = wire_header_type(word) != WIRE_PAD && length <= capacity;
        if (wanted) {
            memcpy(out, r->data + offset, length);
            memcpy(out, &word, sizeof word); /* the checked word: the shared one may have changed */
        }
        r->next += length;
        if (!wanted)
            continue;
        r->records++;
        return length;
    }
    return 0;
}

uint32_t ring_read(struct ring_reader *r, void *out, uint32_t capacity, bool writers_gone) {
    uint32_t length = ring_peek(r, out, capacity, writers_gone);
    ring_release(r);
    return length;
}
