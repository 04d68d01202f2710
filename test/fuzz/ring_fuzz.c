/*
 * Hostile bytes as the shared mapping: whatever stands in positions and ring, the reader comes
 * back from every call, never leaves the mapping, and hands out records of the length they say.
 *
 * Input: head, tail and wiping (8 bytes each), one byte of flags (1: writers are gone), then the
 * ring's contents from the tail on. After each read the last words of the input are written over
 * the place the reader looks at next, as a writer that changes its mind would.
 */
#include "core/wire/ring_reader.h"

#include <stdlib.h>
#include <string.h>

#define RING ((uint64_t)WIRE_RING_BYTES_MIN)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds)
        abort();
}

static void write_around(struct wire_mapping *m, uint64_t position, const uint8_t *from,
                         size_t size) {
    for (size_t i = 0; i < size && i < RING; i++)
        m->ring[(position + i) & (RING - 1)] = from[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t position[3];
    static _Alignas(8) uint8_t record[WIRE_RECORD_BYTES_MAX];
    if (size < sizeof position + 1)
        return 0;
    struct wire_mapping *m = aligned_alloc(4096, WIRE_RING_OFFSET + RING);
    check(m != NULL);
    memset(m, 0, WIRE_RING_OFFSET + RING);
    memcpy(position, data, sizeof position);
    bool gone = data[sizeof position] & 1;
    data += sizeof position + 1;
    size -= sizeof position + 1;
    atomic_store(&m->control.positions.head, position[0]);
    atomic_store(&m->control.positions.tail, position[1]);
    atomic_store(&m->control.positions.wiping, position[2]);
    write_around(m, position[1] & ~UINT64_C(7), data, size);
    struct ring_reader r;
    ring_reader_init(&r, m, RING);
    for (size_t turn = 0; turn < 64; turn++) {
        uint64_t before = r.tail;
        uint32_t length = ring_read(&r, record, sizeof record, gone);
        check(length <= sizeof record && length % 8 == 0 && r.tail % 8 == 0);
        check(r.tail == before || r.tail == atomic_load(&m->control.positions.tail));
        if (length == 0)
            continue;
        uint64_t word;
        memcpy(&word, record, sizeof word);
        check(wire_header_length(word) == length && wire_header_type(word) != WIRE_PAD);
        check(r.tail - before >= length);
        if (size >= 8 * (turn + 1))
            write_around(m, r.tail, data + size - 8 * (turn + 1), 8);
    }
    free(m);
    return 0;
}
