/*
 * The entries of a second in about a third of their room. An entry's node is stored as the difference
 * from the entry before it. The weight is left out if it is that entry's, the carrier if it is the
 * owner's thread, and the count if it is 1.
 *
 *      flags   1 byte: 4 bits state, failed, HAS_CARRIER, SAME_WEIGHT, HAS_COUNT
 *      node    variable length; the sign is the lowest bit of the difference
 *      owner   variable length
 *      carrier, weight, count: variable length, only with these flags
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_HISTORY_PACKED_ENTRIES_H
#define JTOP_PROFILE_HISTORY_PACKED_ENTRIES_H

#include "core/profile/history/history.h"

/* Returns a new array with these entries, which the caller frees, and its size. NULL: no memory. */
uint8_t *packed_entries(const struct history_entry *e, uint32_t count, size_t *bytes);
/* Reads the next `count` entries; there are at least that many. `at` starts at the array, and
 * `last` as all zeroes; both are advanced. */
void packed_entries_read(const uint8_t **at, struct history_entry *last, struct history_entry *out,
                         uint32_t count);

#endif
