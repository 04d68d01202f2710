/*
 * Reads numbers from hostile bytes. Nothing is read beyond the end; once something was missing,
 * `bad` stays set and every further number is 0.
 *
 * Context: any.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_BYTES_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct unwind_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline size_t unwind_bytes_left(const struct unwind_bytes *b) {
    return (size_t)(b->end - b->at);
}

/* The next `n` bytes, or NULL. */
static inline const uint8_t *unwind_bytes_skip(struct unwind_bytes *b, uint64_t n) {
    if (b->bad || n > unwind_bytes_left(b)) {
        b->bad = true;
        return NULL;
    }
    const uint8_t *at = b->at;
    b->at += n;
    return at;
}

/* A number of 1 to 8 bytes, little endian as on all machines that we support. */
static inline uint64_t unwind_bytes_number(struct unwind_bytes *b, size_t n) {
    uint64_t value = 0;
    const uint8_t *at = unwind_bytes_skip(b, n);
    if (at)
        memcpy(&value, at, n);
    return value;
}

enum { LEB_BYTES = 16 }; /* a longer number is invalid: reading one must not take long */

/* LEB128 (source: DWARF 5, 7.6); bits beyond the 64th are dropped. */
static inline uint64_t unwind_bytes_leb(struct unwind_bytes *b, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        const uint8_t *at = unwind_bytes_skip(b, 1);
        b->bad |= shift >= 7 * LEB_BYTES;
        if (b->bad)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*at & 0x7f) << shift;
        shift += 7;
        if (*at & 0x80)
            continue;
        if (is_signed && (*at & 0x40) && shift < 64)
            value |= UINT64_MAX << shift;
        return value;
    }
}

static inline uint64_t unwind_bytes_uleb(struct unwind_bytes *b) {
    return unwind_bytes_leb(b, false);
}

static inline int64_t unwind_bytes_sleb(struct unwind_bytes *b) {
    return (int64_t)unwind_bytes_leb(b, true);
}

#endif
