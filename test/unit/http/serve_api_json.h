/*
 * Whether a text is JSON, strictly (source: RFC 8259), in ASCII or UTF-8 without control
 * characters, and without what a page's script element could end at.
 *
 * Context: tests.
 */
#ifndef JTOP_TEST_SERVE_API_JSON_H
#define JTOP_TEST_SERVE_API_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define JSON_DEPTH 16

static inline const char *json_value(const char *p, int depth);

static inline const char *json_text(const char *p) {
    if (!p || *p != '"')
        return NULL;
    for (p++; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20 || *p == '<' || *p == '>' || *p == '&')
            return NULL;
        if (*p != '\\')
            continue;
        p++;
        if (*p == 'u') {
            if (strspn(p + 1, "0123456789abcdefABCDEF") < 4)
                return NULL;
            p += 4;
        } else if (!*p || !strchr("\"\\/bfnrt", *p)) {
            return NULL;
        }
    }
    return p + 1;
}

static inline const char *json_digits(const char *p) {
    size_t n = p ? strspn(p, "0123456789") : 0;
    return n ? p + n : NULL;
}

static inline const char *json_figure(const char *p) {
    p += *p == '-';
    if (*p == '0' && p[1] >= '0' && p[1] <= '9')
        return NULL;
    p = json_digits(p);
    if (p && *p == '.')
        p = json_digits(p + 1);
    return p;
}

static inline const char *json_members(const char *p, char end, int depth) {
    if (*++p == end)
        return p + 1;
    for (;; p++) {
        if (end == '}') {
            p = json_text(p);
            if (!p || *p++ != ':')
                return NULL;
        }
        p = json_value(p, depth + 1);
        if (!p || (*p != ',' && *p != end))
            return NULL;
        if (*p == end)
            return p + 1;
    }
}

static inline const char *json_value(const char *p, int depth) {
    static const char *const words[] = {"true", "false", "null"};
    if (depth > JSON_DEPTH)
        return NULL;
    if (*p == '{' || *p == '[')
        return json_members(p, *p == '{' ? '}' : ']', depth);
    if (*p == '"')
        return json_text(p);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    return json_figure(p);
}

static inline bool json_is_good(const char *text) {
    const char *end = json_value(text, 0);
    return end && *end == '\0';
}

#endif
