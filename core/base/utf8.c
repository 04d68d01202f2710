#include "core/base/utf8.h"

size_t utf8_decode_long(const char *s, size_t n, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)s;
    size_t bytes = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || bytes > n)
        return 0;
    uint32_t c = p[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *code = c;
    return bytes;
}

size_t utf8_encode(char out[UTF8_BYTES], uint32_t code) {
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[more] | code);
    return more + 1;
}

bool utf8_is_shown(uint32_t c) {
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069) && !(c >= 0xd800 && c < 0xe000) &&
           (c & 0xfffe) != 0xfffe && c <= 0x10ffff;
}

void utf8_clean(char *text) {
    uint32_t code;
    while (*text) {
        size_t bytes = utf8_decode(text, SIZE_MAX, &code);
        if (bytes == 0 || !utf8_is_shown(code)) {
            for (bytes += bytes == 0; bytes > 0; bytes--)
                *text++ = '?';
        } else {
            text += bytes;
        }
    }
}
