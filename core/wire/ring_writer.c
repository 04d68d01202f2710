#include "core/wire/ring_writer.h"

#define TRIES_MAX 10000

void ring_writer_init(struct ring_writer *w, struct wire_mapping *mapping, uint64_t ring_bytes) {
    w->positions = &mapping->control.positions;
    w->data = mapping->ring;
    w->bytes = ring_bytes;
}

static _Atomic uint64_t *header_at(const struct ring_writer *w, uint64_t position) {
    return (_Atomic uint64_t *)(void *)(w->data + (position & (w->bytes - 1)));
}

void *ring_reserve(struct ring_writer *w, enum wire_type type, uint32_t length) {
    uint64_t need = ((uint64_t)length + 7) & ~UINT64_C(7);
    if (need < 8 || need > w->bytes / 2)
        return NULL;
    uint64_t head = atomic_load_explicit(&w->positions->head, memory_order_relaxed);
    uint64_t at;
    uint64_t pad;
    for (uint32_t tries = 0;; tries++) {
        /* A head that is no multiple of 8, or never stays the same, comes from a broken reader. */
        if (head % 8 || tries == TRIES_MAX)
            return NULL;
        uint64_t room = w->bytes - (head & (w->bytes - 1));
        pad = room < need ? room : 0;
        at = head + pad;
        /* acquire: this writer must see the reader's zeroes before it writes to the room again */
        uint64_t tail = atomic_load_explicit(&w->positions->tail, memory_order_acquire);
        if (at + need - tail > w->bytes) {
            /* Either the ring is full, or `head` is so old that the reader has passed it: try again
             * as long as other writers move the head. A hostile tail only makes the ring look
             * full. */
            uint64_t seen = atomic_load_explicit(&w->positions->head, memory_order_relaxed);
            if (seen == head)
                return NULL;
            head = seen;
            continue;
        }
        if (atomic_compare_exchange_weak_explicit(&w->positions->head, &head, at + need,
                                                  memory_order_relaxed, memory_order_relaxed))
            break;
    }
    if (pad)
        atomic_store_explicit(header_at(w, head), wire_header_word(WIRE_PAD, (uint32_t)pad),
                              memory_order_release);
    _Atomic uint64_t *header = header_at(w, at);
    /* The header comes before any other byte of the record, so that a reader can skip the record by
     * its length if this writer dies. A process dies between two of its stores, and the reader
     * waits for its death. So it is enough that the compiler does not move stores; no CPU fence is
     * needed. */
    atomic_store_explicit(header, wire_header_word(type, (uint32_t)need) | WIRE_HEADER_BUSY,
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return (void *)header;
}

void ring_commit(void *record, enum wire_type type) {
    _Atomic uint64_t *header = record;
    uint64_t word = atomic_load_explicit(header, memory_order_relaxed);
    atomic_store_explicit(header, wire_header_word(type, wire_header_length(word)),
                          memory_order_release);
}
