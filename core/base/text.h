/*
 * A growing piece of text. `data` is always NUL-terminated once anything was added; `failed` is
 * set (and stays) when memory ran out, so a long run of appends needs one check at its end.
 *
 * With a sink a text need not fit into memory: what has gathered is handed over when it is about
 * TEXT_GATHERED, and what comes after it begins at the start of `data` again. What is there at the
 * end is the caller's to take. Whoever appends must then not look back at what was appended.
 *
 * Context: frontend only, any thread; one writer per struct.
 */
#ifndef JTOP_BASE_TEXT_H
#define JTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_GATHERED (1u << 20) /* bytes */

struct text {
    char *data; /* owned; NULL until the first append */
    size_t len; /* bytes without the NUL */
    size_t cap;
    bool failed; /* no memory, or the sink would not take it: the sink knows which */
    /* Takes the bytes, all of them: 0. Anything else and it is not called again. NULL: no sink. */
    int (*sink)(void *arg, const char *data, size_t len);
    void *sink_arg;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Empties it and keeps the memory and the sink. */
void text_clear(struct text *t);
/* Frees the memory and zeroes the struct. */
void text_free(struct text *t);

/* A character, as UTF-8. */
void text_add_wide(struct text *t, wchar_t c);

#endif
