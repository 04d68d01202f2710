/*
 * Reads the bytes of a JFR file from front to back. Missing bytes read as 0, and `bad` is set.
 *
 * Numbers are base 128, little endian, with eight bits in the ninth byte. In chunks whose header
 * has that flag, they have a fixed width and are big endian. source: the reader in
 * jdk.jfr.internal.consumer, JDK 11–25.
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
    bool bad;   /* too few bytes were left */
};

static inline size_t jfr_cursor_left(const struct jfr_cursor *c) {
    return (size_t)(c->end - c->at);
}

uint8_t jfr_cursor_byte(struct jfr_cursor *c);
/* Reads a number. `bytes`: its size if numbers have a fixed width. */
uint64_t jfr_cursor_number(struct jfr_cursor *c, unsigned bytes);
void jfr_cursor_skip(struct jfr_cursor *c, uint64_t bytes);
/* Always big endian. */
uint64_t jfr_cursor_big_endian(const uint8_t *at, unsigned bytes);

enum jfr_encoding {
    JFR_STRING_NULL,
    JFR_STRING_EMPTY,
    JFR_STRING_CONSTANT, /* a number in the pool of strings */
    JFR_STRING_UTF8,
    JFR_STRING_CHARS, /* UTF-16 units, one number each */
    JFR_STRING_LATIN1,
};

struct jfr_string {
    enum jfr_encoding encoding;
    uint64_t n;        /* number of bytes or chars; for JFR_STRING_CONSTANT, the number of the
                          constant */
    const uint8_t *at; /* the first byte of the text */
};

/* Reads a string and moves the cursor behind it. */
struct jfr_string jfr_cursor_string(struct jfr_cursor *c);

/* Does the same, but leaves the cursor where the text begins, so it does not step over each
 * character. */
struct jfr_string jfr_cursor_peek_string(struct jfr_cursor *c);

/* Copies the string as UTF-8, at most `size` bytes, cut between characters; returns the number of
 * bytes. JFR_STRING_UTF8 is copied unchanged. 0 for JFR_STRING_CONSTANT. */
size_t jfr_string_copy(const struct jfr_string *s, const struct jfr_cursor *of, char *to,
                       size_t size);

#endif
