/*
 * The bytes of a JFR chunk, version 2: what both halves of the writer are made of.
 *
 *      header     68 bytes, big endian
 *      events     size, type, fields
 *      metadata   an event that says what the types are (jfr_types.c)
 *      checkpoint an event with the constants that the others refer to by number
 *
 * Numbers are little endian base 128, eight bits in the ninth byte. source: the reader in
 * jdk.jfr.internal.consumer, JDK 11–25.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_JFR_JFR_WRITE_H
#define JTOP_EXPORT_JFR_JFR_WRITE_H

#include "core/base/text.h"
#include "core/profile/table/index.h"

#include <stdint.h>

#define JFR_SIZE_BYTES 5 /* of a size that is filled in later */
#define JFR_EVENT_METADATA 0
#define JFR_EVENT_CHECKPOINT 1

void jfr_number(struct text *out, uint64_t n);
/* UTF-8; NULL is null. */
void jfr_string(struct text *out, const char *s);
/* The same of a symbol, which HotSpot never writes as the empty string: async-profiler's reader wants
 * a length always. */
void jfr_symbol(struct text *out, const char *s);

/* Begins something whose size, the size included, is at its start. Returns where. */
size_t jfr_begin(struct text *out);
void jfr_end(struct text *out, size_t at);

/* An event that is whole, without its size. */
void jfr_event(struct text *out, const struct text *event);

void jfr_big_endian(char *to, uint64_t n, int bytes);

/* The first type's number. Far from those that the JDK has for its constants, so that chunks of both
 * may be in one file: its reader does not tell their pools apart. */
#define JFR_TYPES_BEGIN 10000u

/* The metadata event, whose number is made of the ticks: other ones in each chunk of a file; and the types in it by name: 0 where there is none. */
void jfr_metadata(struct text *out, uint64_t ticks);
uint32_t jfr_type(const char *name);

/* Different strings, numbered from 1. */
struct jfr_names {
    struct text bytes; /* NUL behind each */
    size_t *at;
    uint32_t count, cap;
    struct index index;
};

/* 0 without memory, which also sets bytes.failed. */
uint32_t jfr_name(struct jfr_names *n, const char *s, size_t len);
static inline const char *jfr_name_text(const struct jfr_names *n, uint32_t id) {
    return n->bytes.data + n->at[id - 1];
}
void jfr_names_free(struct jfr_names *n);

#endif
