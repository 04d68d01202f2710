#include "core/export/text/markdown_text.h"

#include "core/export/svg_text.h"

#include <string.h>

void markdown_text_words(struct text *out, const char *s) {
    const unsigned char *p = (const unsigned char *)s;
    while (*p) {
        const unsigned char *from = p;
        uint32_t c = svg_text_next(&p);
        if (c == SVG_TEXT_NONE) {
            text_add_n(out, "?", 1);
        } else if (c == '@') {
            text_add(out, "&#64;"); /* '@' before a user name would notify that user */
        } else {
            if (c < 0x80 && strchr("\\`*_{}[]<>#|~&!", (int)c))
                text_add_n(out, "\\", 1);
            text_add_n(out, (const char *)from, (size_t)(p - from));
        }
    }
}

static size_t longest_run_of_ticks(const char *s) {
    size_t longest = 0;
    while (*s) {
        size_t run = strspn(s, "`");
        longest = run > longest ? run : longest;
        s += run + (run == 0);
    }
    return longest;
}

void markdown_text_code(struct text *out, const char *s) {
    size_t fence = longest_run_of_ticks(s) + 1;
    const char *space = fence > 1 || !*s || *s == ' ' ? " " : "";
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < fence; i++)
        text_add_n(out, "`", 1);
    text_add(out, space);
    while (*p) {
        const unsigned char *from = p;
        uint32_t c = svg_text_next(&p);
        if (c == '|')
            text_add(out, "\\"); /* in a table, the '|' must be escaped even inside code */
        if (c == SVG_TEXT_NONE)
            text_add_n(out, "?", 1);
        else
            text_add_n(out, (const char *)from, (size_t)(p - from));
    }
    text_add(out, space);
    for (size_t i = 0; i < fence; i++)
        text_add_n(out, "`", 1);
}
