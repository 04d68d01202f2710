/*
 * A growing piece of text. `data` is always NUL-terminated once anything was added; `failed` is
 * set (and stays) when memory ran out, so a long run of appends needs one check at its end.
 *
 * Context: frontend only, any thread; one writer per struct.
 */
#ifndef JTOP_BASE_TEXT_H
#define JTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* owned; NULL until the first append */
    size_t len; /* bytes without the NUL */
    size_t cap;
    bool failed;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Empties it and keeps the memory. */
void text_clear(struct text *t);
/* Frees the memory and zeroes the struct. */
void text_free(struct text *t);

#endif
