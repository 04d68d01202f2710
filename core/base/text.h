/*
 * A text that grows. `data` is always NUL-terminated once anything was added. `failed` is set (and
 * stays set) when there is no memory, so one check after many appends is enough.
 *
 * With a sink, a text need not fit into memory: when about TEXT_GATHERED bytes have gathered, they
 * are passed to the sink, and the next bytes begin at the start of `data` again. The caller takes
 * what is left at the end. Code that appends must not look back at what it has appended.
 *
 * Context: frontend only, any thread; one writer per struct.
 */
#ifndef JTOP_BASE_TEXT_H
#define JTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_GATHERED (128u << 10) /* bytes */

struct text {
    char *data; /* owned; NULL until the first append */
    size_t len; /* bytes without the NUL */
    size_t cap;
    bool failed; /* no memory, or the sink has failed; the sink knows which */
    /* Takes all these bytes and returns 0. After any other result it is not called again. NULL: no
     * sink. */
    int (*sink)(void *arg, const char *data, size_t len);
    void *sink_arg;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Empties the text; keeps the memory and the sink. */
void text_clear(struct text *t);
/* Frees the memory and zeroes the struct. */
void text_free(struct text *t);

/* Adds a character as UTF-8. */
void text_add_wide(struct text *t, wchar_t c);

#endif
