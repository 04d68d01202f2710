/*
 * Writes the bytes of a JFR chunk, version 2. Both halves of the writer use it.
 *
 *      header     68 bytes, big endian
 *      events     size, type, fields
 *      metadata   an event that describes the types (jfr_types.c)
 *      checkpoint an event with the constants that other events refer to by number
 *
 * Numbers are little endian base 128; the ninth byte holds eight bits. source: the reader in
 * jdk.jfr.internal.consumer, JDK 11–25.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_JFR_JFR_WRITE_H
#define JTOP_EXPORT_JFR_JFR_WRITE_H

#include "core/base/text.h"
#include "core/profile/table/index.h"

#include <stdint.h>

#define JFR_SIZE_BYTES 5 /* of a size that is written later */
#define JFR_EVENT_METADATA 0
#define JFR_EVENT_CHECKPOINT 1

#define JFR_NUMBER_BYTES 9 /* at most */

/* Writes a number to a buffer; returns its size in bytes. */
static inline size_t jfr_put(char *to, uint64_t n) {
    size_t len = 0;
    while (n > 0x7f && len < JFR_NUMBER_BYTES - 1) {
        to[len++] = (char)(n | 0x80);
        n >>= 7;
    }
    to[len++] = (char)n;
    return len;
}

/* The number of bytes that jfr_put writes. */
static inline size_t jfr_put_size(uint64_t n) {
    size_t len = 1;
    for (; n > 0x7f && len < JFR_NUMBER_BYTES; n >>= 7)
        len++;
    return len;
}

#define JFR_FRAME_BYTES 12 /* at most: method, line, bytecode index, type */

/* Writes a frame of a stack; returns its size in bytes. */
static inline size_t jfr_put_frame(char *to, uint32_t method, uint16_t line, char type) {
    size_t len = jfr_put(to, (uint64_t)method + 1);
    len += jfr_put(to + len, line);
    to[len++] = 0; /* bytecode index */
    to[len++] = type;
    return len;
}

static inline size_t jfr_frame_size(uint32_t method, uint16_t line) {
    return jfr_put_size((uint64_t)method + 1) + jfr_put_size(line) + 2;
}

void jfr_number(struct text *out, uint64_t n);
/* Writes UTF-8; NULL is written as null. */
void jfr_string(struct text *out, const char *s);
/* Does the same for a symbol. HotSpot never writes a symbol as the empty string: async-profiler's
 * reader always expects a length. */
void jfr_symbol(struct text *out, const char *s);

/* Begins something that starts with its size, which includes the size field. Returns its position,
 * for jfr_end. */
size_t jfr_begin(struct text *out);
void jfr_end(struct text *out, size_t at);
/* Does the same before the last `more` bytes of it are appended. */
void jfr_end_before(struct text *out, size_t at, size_t more);

/* Appends a complete event and its size in front. `out` may have a sink. */
void jfr_event(struct text *out, const struct text *event);

void jfr_big_endian(char *to, uint64_t n, int bytes);

/* The first type's number. It is far from the numbers that the JDK uses for its constants, so that
 * one file can contain chunks of both: the JDK's reader does not separate their constant pools. */
#define JFR_TYPES_BEGIN 10000u

/* Writes the metadata event. Its id is made from `ticks`: pass a different value for each chunk of
 * a file. jfr_type returns the number of a type by its name; 0: unknown. */
void jfr_metadata(struct text *out, uint64_t ticks);
uint32_t jfr_type(const char *name);

/* Distinct strings, numbered from 1. */
struct jfr_names {
    struct text bytes; /* each followed by a NUL */
    size_t *at;
    uint32_t count, cap;
    struct index index;
};

/* Returns the number of a string. 0 if there is no memory; bytes.failed is then set as well. */
uint32_t jfr_name(struct jfr_names *n, const char *s, size_t len);
static inline const char *jfr_name_text(const struct jfr_names *n, uint32_t id) {
    return n->bytes.data + n->at[id - 1];
}
void jfr_names_free(struct jfr_names *n);

#define JFR_HEADER_BYTES 68

/* The contents of a chunk's header; source: JfrChunkHeader, JDK 11-26. */
struct jfr_header {
    uint64_t bytes, checkpoint, metadata; /* offsets and size in bytes, from the chunk's
                                             beginning */
    uint64_t start_ns, duration_ns;       /* on the samples' clock */
    int64_t day;                          /* added to the samples' clock it gives the time of day */
    bool last;
};
void jfr_header_write(char to[JFR_HEADER_BYTES], const struct jfr_header *h);

#endif
