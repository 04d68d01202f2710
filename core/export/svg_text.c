#include "core/export/svg_text.h"

#include "core/base/utf8.h"

#include <string.h>

#define REPLACED SVG_TEXT_NONE
#define SHORTEST 5 /* columns with an ellipsis; a shorter label would be useless */

uint32_t svg_text_next(const unsigned char **s) {
    uint32_t code;
    size_t bytes = utf8_decode((const char *)*s, SIZE_MAX, &code);
    *s += bytes ? bytes : 1;
    return bytes && utf8_is_shown(code) ? code : REPLACED;
}

/* Appends the text before `end`, which lies between two characters. */
static void add_until(struct text *out, const char *s, const char *end) {
    const unsigned char *p = (const unsigned char *)s;
    while ((const char *)p < end) {
        const unsigned char *from = p;
        uint32_t c = svg_text_next(&p);
        switch (c) {
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '&':
            text_add(out, "&amp;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        case '\'':
            text_add(out, "&#39;");
            break;
        case REPLACED:
            text_add(out, "?");
            break;
        default:
            text_add_n(out, (const char *)from, (size_t)(p - from));
        }
    }
}

void svg_text_add(struct text *out, const char *s) {
    add_until(out, s, s + strlen(s));
}

/* A good approximation of wcwidth(): characters from the first Hangul on take two columns. */
static unsigned columns_of(uint32_t c) {
    return c != REPLACED && c >= 0x1100 && c != 0x2026 ? 2 : 1;
}

/* Returns the end of the part that fits; the end of the text if all of it fits. */
static const char *fit(const char *s, unsigned columns) {
    const unsigned char *p = (const unsigned char *)s;
    while (*p) {
        const unsigned char *q = p;
        unsigned need = columns_of(svg_text_next(&q));
        if (need > columns)
            break;
        columns -= need;
        p = q;
    }
    return (const char *)p;
}

/* Returns what follows the package: for java/lang/Thread.run(Ljava/lang/String;)V a pointer to
 * Thread. A slash followed by a digit does not end the package: the address of a hidden class
 * follows, as in Main$$Lambda/0x00007f12.run. */
static const char *behind_package(const char *name) {
    const char *end = name + strcspn(name, "(");
    const char *at = name;
    for (const char *p = name; p < end; p++) {
        if (*p == '/' && !(p[1] >= '0' && p[1] <= '9'))
            at = p + 1;
    }
    return at < end ? at : name;
}

void svg_text_add_label(struct text *out, const char *name, bool java, unsigned columns) {
    const char *end = fit(name, columns);
    if (*end && java) {
        name = behind_package(name);
        end = fit(name, columns);
    }
    if (!*end) {
        add_until(out, name, end);
    } else if (columns >= SHORTEST) {
        add_until(out, name, fit(name, columns - 1));
        text_add(out, "\xe2\x80\xa6");
    }
}
