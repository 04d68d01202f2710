#include "core/profile/history/packed_entries.h"

#include "core/profile/table/tally.h"

#include <stdlib.h>

#define STATE 15u
#define FAILED 16u
#define HAS_CARRIER 32u
#define SAME_WEIGHT 64u
#define HAS_COUNT 128u

enum { ENTRY_BYTES_MAX = 1 + 4 * 5 + 10 };

static uint8_t *put(uint8_t *at, uint64_t value) {
    for (; value > 127; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

static inline uint64_t take(const uint8_t **at) {
    uint64_t value = *(*at)++;
    if (value < 128)
        return value;
    value &= 127;
    for (uint32_t shift = 7;; shift += 7) {
        uint64_t byte = *(*at)++;
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

/* The difference of two numbers, wrapped around; small if they are close, in either direction. */
static uint32_t difference(uint32_t from, uint32_t to) {
    uint32_t by = to - from;
    return by >> 31 ? ~(by << 1) : by << 1;
}

static inline uint32_t follow(uint32_t from, uint32_t difference) {
    return from + (difference & 1 ? ~(difference >> 1) : difference >> 1);
}

static uint8_t *put_entry(uint8_t *at, const struct history_entry *last,
                          const struct history_entry *e) {
    bool carrier = e->carrier != (owner_thread(e->owner) & HISTORY_CARRIER_MASK);
    bool weight = e->weight != last->weight, count = e->count != 1;
    *at++ = (uint8_t)(e->state | (e->failed ? FAILED : 0u) | (carrier ? HAS_CARRIER : 0u) |
                      (weight ? 0u : SAME_WEIGHT) | (count ? HAS_COUNT : 0u));
    at = put(put(at, difference(last->node, e->node)), e->owner);
    if (carrier)
        at = put(at, e->carrier);
    if (weight)
        at = put(at, e->weight);
    return count ? put(at, e->count) : at;
}

uint8_t *packed_entries(const struct history_entry *e, uint32_t count, size_t *bytes) {
    uint8_t *packed = malloc((size_t)count * ENTRY_BYTES_MAX + 1), *at = packed;
    struct history_entry last = {.node = 0};
    for (uint32_t i = 0; packed && i < count; i++) {
        at = put_entry(at, &last, &e[i]);
        last = e[i];
    }
    if (!packed)
        return NULL;
    *bytes = (size_t)(at - packed) + 1;
    uint8_t *small = realloc(packed, *bytes);
    return small ? small : packed;
}

void packed_entries_read(const uint8_t **at, struct history_entry *last, struct history_entry *out,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t flags = *(*at)++;
        struct history_entry e = {.state = flags & STATE, .failed = (flags & FAILED) != 0};
        e.node = follow(last->node, (uint32_t)take(at));
        e.owner = (uint32_t)take(at);
        e.carrier = (flags & HAS_CARRIER ? (uint32_t)take(at) : owner_thread(e.owner)) &
                    HISTORY_CARRIER_MASK;
        e.weight = flags & SAME_WEIGHT ? last->weight : take(at);
        e.count = flags & HAS_COUNT ? (uint32_t)take(at) : 1;
        out[i] = *last = e;
    }
}
