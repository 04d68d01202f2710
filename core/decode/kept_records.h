/*
 * Copies of records that a recording which begins later will need, by a key: names of threads, and
 * the samples that may be repeated. Bounded by number and by bytes: what is there longest gives
 * way.
 *
 * Context: drain thread.
 */
#ifndef JTOP_DECODE_KEPT_RECORDS_H
#define JTOP_DECODE_KEPT_RECORDS_H

#include "core/base/id_map.h"

#include <stddef.h>
#include <stdint.h>

struct kept_record {
    uint64_t key;     /* 0: free */
    uint64_t *record; /* owned; header word first */
    uint32_t bytes;   /* room in it */
    uint32_t written; /* the owner's */
};

struct kept_records {
    struct id_map index; /* key → slot */
    struct kept_record *slot;
    uint32_t count, capacity; /* slots that were ever used */
    uint32_t oldest;          /* the slot where to look for room */
    size_t bytes, bytes_max;
};

void kept_records_init(struct kept_records *k, uint32_t records_max, size_t bytes_max);
void kept_records_free(struct kept_records *k);
void kept_records_clear(struct kept_records *k);

/* Copies a whole record; one with this key is replaced. `key` is not 0. NULL: no memory, or it is
 * larger than everything may be: none with this key is kept then. Valid until the next put. */
struct kept_record *kept_records_put(struct kept_records *k, uint64_t key, const void *record);
struct kept_record *kept_records_get(const struct kept_records *k, uint64_t key);
void kept_records_remove(struct kept_records *k, uint64_t key);

#endif
