#include "core/import/jfr/jfr_cursor.h"

#include "core/base/utf8.h"

#include <string.h>

uint8_t jfr_cursor_byte(struct jfr_cursor *c) {
    if (c->at == c->end) {
        c->bad = true;
        return 0;
    }
    return *c->at++;
}

uint64_t jfr_cursor_big_endian(const uint8_t *at, unsigned bytes) {
    uint64_t n = 0;
    for (unsigned i = 0; i < bytes; i++)
        n = n << 8 | at[i];
    return n;
}

uint64_t jfr_cursor_number(struct jfr_cursor *c, unsigned bytes) {
    if (c->fixed) {
        if (jfr_cursor_left(c) < bytes) {
            jfr_cursor_skip(c, bytes);
            return 0;
        }
        c->at += bytes;
        return jfr_cursor_big_endian(c->at - bytes, bytes);
    }
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
        uint8_t b = jfr_cursor_byte(c);
        n |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return n;
    }
    return n | (uint64_t)jfr_cursor_byte(c) << 56;
}

void jfr_cursor_skip(struct jfr_cursor *c, uint64_t bytes) {
    if (bytes > jfr_cursor_left(c)) {
        c->bad = true;
        c->at = c->end;
    } else {
        c->at += bytes;
    }
}

/* A string that is longer than the rest of the data is damaged. */
struct jfr_string jfr_cursor_peek_string(struct jfr_cursor *c) {
    struct jfr_string s = {.encoding = JFR_STRING_NULL};
    uint8_t encoding = jfr_cursor_byte(c);
    switch (encoding) {
    case JFR_STRING_NULL:
        break;
    case JFR_STRING_EMPTY:
        s.encoding = JFR_STRING_EMPTY;
        break;
    case JFR_STRING_CONSTANT:
        s.encoding = JFR_STRING_CONSTANT;
        s.n = jfr_cursor_number(c, 8);
        break;
    case JFR_STRING_UTF8:
    case JFR_STRING_CHARS:
    case JFR_STRING_LATIN1:
        s.encoding = (enum jfr_encoding)encoding;
        s.n = jfr_cursor_number(c, 4);
        s.at = c->at;
        c->bad |= s.n > jfr_cursor_left(c);
        break;
    default:
        c->bad = true;
    }
    if (c->bad)
        s = (struct jfr_string){.encoding = JFR_STRING_NULL};
    return s;
}

struct jfr_string jfr_cursor_string(struct jfr_cursor *c) {
    struct jfr_string s = jfr_cursor_peek_string(c);
    if (s.encoding == JFR_STRING_CHARS)
        for (uint64_t i = 0; i < s.n && !c->bad; i++)
            jfr_cursor_number(c, 2);
    else if (s.encoding == JFR_STRING_UTF8 || s.encoding == JFR_STRING_LATIN1)
        jfr_cursor_skip(c, s.n);
    if (c->bad)
        s = (struct jfr_string){.encoding = JFR_STRING_NULL};
    return s;
}

static size_t put_character(uint32_t ch, char *to, size_t room) {
    char bytes[UTF8_BYTES];
    size_t n = utf8_encode(bytes, ch);
    if (n > room)
        return 0;
    memcpy(to, bytes, n);
    return n;
}

/* A surrogate without its other half becomes '?', as in the VM's own UTF-8. */
static uint32_t next_character(struct jfr_cursor *c, uint64_t *left) {
    uint32_t ch = (uint32_t)(jfr_cursor_number(c, 2) & 0xffff);
    --*left;
    if (ch < 0xd800 || ch > 0xdfff)
        return ch;
    if (ch > 0xdbff || *left == 0)
        return '?';
    struct jfr_cursor ahead = *c;
    uint32_t low = (uint32_t)(jfr_cursor_number(&ahead, 2) & 0xffff);
    if (low < 0xdc00 || low > 0xdfff)
        return '?';
    *c = ahead;
    --*left;
    return 0x10000 + ((ch - 0xd800) << 10) + (low - 0xdc00);
}

size_t jfr_string_copy(const struct jfr_string *s, const struct jfr_cursor *of, char *to,
                       size_t size) {
    size_t len = 0, put = 1;
    struct jfr_cursor c = {.at = s->at, .end = of->end, .fixed = of->fixed};
    if (s->encoding == JFR_STRING_UTF8) {
        len = s->n < size ? (size_t)s->n : size;
        while (len < s->n && len > 0 && (s->at[len] & 0xc0) == 0x80)
            len--;
        if (len > 0)
            memcpy(to, s->at, len);
    } else if (s->encoding == JFR_STRING_LATIN1) {
        for (uint64_t i = 0; i < s->n && put; len += put, i++)
            put = put_character(s->at[i], to + len, size - len);
    } else if (s->encoding == JFR_STRING_CHARS) {
        for (uint64_t left = s->n; left > 0 && put; len += put)
            put = put_character(next_character(&c, &left), to + len, size - len);
    }
    return len;
}
