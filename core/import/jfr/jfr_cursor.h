/*
 * The bytes of a JFR file, front to back. What is not there reads as 0 and is remembered.
 *
 * Numbers are base 128, little endian, eight bits in the ninth byte; or, in chunks that say so, of
 * fixed width and big endian. source: the reader in jdk.jfr.internal.consumer, JDK 11–25.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_CURSOR_H
#define JTOP_IMPORT_JFR_JFR_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jfr_cursor {
    const uint8_t *at, *end;
    bool fixed; /* numbers are not compressed */
    bool bad;   /* there was too little */
};

static inline size_t jfr_cursor_left(const struct jfr_cursor *c) {
    return (size_t)(c->end - c->at);
}

uint8_t jfr_cursor_byte(struct jfr_cursor *c);
/* A number that has `bytes` bytes where numbers are of fixed width. */
uint64_t jfr_cursor_number(struct jfr_cursor *c, unsigned bytes);
void jfr_cursor_skip(struct jfr_cursor *c, uint64_t bytes);
/* Big endian, always. */
uint64_t jfr_cursor_big_endian(const uint8_t *at, unsigned bytes);

enum jfr_encoding {
    JFR_STRING_NULL,
    JFR_STRING_EMPTY,
    JFR_STRING_CONSTANT, /* a number of the pool of strings */
    JFR_STRING_UTF8,
    JFR_STRING_CHARS, /* UTF-16 units, a number each */
    JFR_STRING_LATIN1,
};

struct jfr_string {
    enum jfr_encoding encoding;
    uint64_t n;        /* bytes or chars; of JFR_STRING_CONSTANT the number */
    const uint8_t *at; /* the first of them */
};

/* And leaves the cursor behind it. */
struct jfr_string jfr_cursor_string(struct jfr_cursor *c);

/* The same, and leaves the cursor where the text begins: not a step for each of its characters. */
struct jfr_string jfr_cursor_peek_string(struct jfr_cursor *c);

/* As UTF-8, at most `size` bytes, cut between characters; returns how many. Of JFR_STRING_UTF8 as
 * it is. 0 for JFR_STRING_CONSTANT. */
size_t jfr_string_copy(const struct jfr_string *s, const struct jfr_cursor *of, char *to,
                       size_t size);

#endif
