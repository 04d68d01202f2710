#include "core/base/text.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool hand_over(struct text *t) {
    t->failed = t->sink(t->sink_arg, t->data, t->len) != 0;
    text_clear(t);
    return !t->failed;
}

static bool reserve(struct text *t, size_t more) {
    if (t->failed)
        return false;
    if (t->cap - t->len > more)
        return true;
    if (t->sink && t->len && t->cap >= TEXT_GATHERED) {
        if (!hand_over(t))
            return false;
        if (t->cap > more)
            return true;
    }
    size_t cap = t->cap ? t->cap * 2 : 256;
    while (cap - t->len <= more)
        cap *= 2;
    char *data = realloc(t->data, cap);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->cap = cap;
    return true;
}

void text_add_n(struct text *t, const char *s, size_t n) {
    if (!reserve(t, n))
        return;
    memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = '\0';
}

void text_add(struct text *t, const char *s) {
    text_add_n(t, s, strlen(s));
}

void text_addf(struct text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !reserve(t, (size_t)n))
        return;
    va_start(ap, fmt);
    vsnprintf(t->data + t->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->len += (size_t)n;
}

void text_clear(struct text *t) {
    t->len = 0;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(struct text *t) {
    free(t->data);
    *t = (struct text){0};
}

void text_add_wide(struct text *t, wchar_t c) {
    char bytes[UTF8_BYTES] = {0};
    size_t n = utf8_encode(bytes, (uint32_t)c);
    text_add_n(t, bytes, n);
}
