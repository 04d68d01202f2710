#include "core/export/json_text.h"

#include "core/export/svg_text.h"

#include <string.h>

/* Counts the bytes at the beginning that need no escaping. */
static size_t plain_length(const unsigned char *s) {
    size_t n = 0;
    while (s[n] >= 0x20 && s[n] < 0x7f && !strchr("\"\\<>&", s[n]))
        n++;
    return n;
}

void json_text_string(struct text *out, const char *s) {
    const unsigned char *p = (const unsigned char *)s;
    text_add_n(out, "\"", 1);
    while (*p) {
        size_t plain = plain_length(p);
        text_add_n(out, (const char *)p, plain);
        p += plain;
        if (!*p)
            break;
        if (*p < 0x80) {
            text_addf(out, "\\u%04x", (unsigned)*p++);
            continue;
        }
        const unsigned char *from = p;
        if (svg_text_next(&p) == SVG_TEXT_NONE)
            text_add_n(out, "?", 1);
        else
            text_add_n(out, (const char *)from, (size_t)(p - from));
    }
    text_add_n(out, "\"", 1);
}

unsigned json_text_digits(uint64_t n, char to[JSON_TEXT_DIGITS]) {
    char digits[JSON_TEXT_DIGITS];
    unsigned first = JSON_TEXT_DIGITS;
    do {
        digits[--first] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    memcpy(to, digits + first, JSON_TEXT_DIGITS - first);
    return JSON_TEXT_DIGITS - first;
}

void json_text_number(struct text *out, uint64_t n) {
    char digits[JSON_TEXT_DIGITS];
    text_add_n(out, digits, json_text_digits(n, digits));
}
