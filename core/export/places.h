/*
 * A table of places in code, each place once. Formats that have line numbers call them locations.
 * Also merges the samples of a reading for formats that have no time.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_EXPORT_PLACES_H
#define JTOP_EXPORT_PLACES_H

#include "core/profile/snapshot/history_read.h"
#include "core/profile/table/index.h"
#include "core/profile/table/method_table.h"

#include <stdbool.h>

struct place {
    uint32_t method;
    uint16_t line;
    uint8_t tier; /* TIER_NONE if the tier makes no difference */
};

/* All zeroes: an empty table. */
struct places {
    struct place *place; /* owned */
    uint32_t count, cap;
    struct index index;
};

/* Returns the number of a place, counted from 0. *is_new: the place was added by this call.
 * INDEX_NONE: no memory. */
uint32_t places_number(struct places *p, struct place at, bool *is_new);
void places_free(struct places *p);

/* "java/util/Map$Entry" → "java/util/Map.java": where javac would have found the source. "" if the
 * source is unknown. */
void places_source(const struct method *m, char *out, size_t size);

/* Merges a thread's samples of one stack into one, regardless of their seconds. The result is
 * sorted by stack. */
void places_merge_seconds(struct history_reading *r);

#endif
