/*
 * Copies of records, by a key, that a recording needs when it begins later: names of threads, and
 * samples that may be repeated. Their number and bytes are limited: the copy that was added first
 * is dropped first.
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
    uint32_t bytes;   /* its size */
    uint32_t written; /* for the owner's use */
};

struct kept_records {
    struct id_map index; /* key → slot */
    struct kept_record *slot;
    uint32_t count, capacity; /* slots that were ever used; room for them */
    uint32_t oldest;          /* the next slot to empty when room is needed */
    size_t bytes, bytes_max;
};

void kept_records_init(struct kept_records *k, uint32_t records_max, size_t bytes_max);
void kept_records_free(struct kept_records *k);
void kept_records_clear(struct kept_records *k);

/* Stores a copy of a whole record, which replaces one with the same key. `key` is not 0. NULL: no
 * memory, or the record is larger than bytes_max; there is then no copy with this key. Valid until
 * the next put. */
struct kept_record *kept_records_put(struct kept_records *k, uint64_t key, const void *record);
struct kept_record *kept_records_get(const struct kept_records *k, uint64_t key);
void kept_records_remove(struct kept_records *k, uint64_t key);

#endif
