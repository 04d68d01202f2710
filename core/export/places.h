/*
 * Places in code, each once: what formats that know lines call a location. And what of the samples
 * of a reading is one sample to a format without time.
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
    uint8_t tier; /* TIER_NONE where it makes no difference */
};

/* All zeroes are none. */
struct places {
    struct place *place; /* owned */
    uint32_t count, cap;
    struct index index;
};

/* The place's number, from 0 on; *is_new: it was not there yet. INDEX_NONE: no memory. */
uint32_t places_number(struct places *p, struct place at, bool *is_new);
void places_free(struct places *p);

/* "java/util/Map$Entry" → "java/util/Map.java": where javac would have found it. "" where nothing
 * is known. */
void places_source(const struct method *m, char *out, size_t size);

/* A thread's samples of one stack become one, whatever their seconds; sorted by stack. */
void places_merge_seconds(struct history_reading *r);

#endif
