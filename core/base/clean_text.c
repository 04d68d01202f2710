#include "core/base/clean_text.h"

#include "core/base/utf8.h"

#include <string.h>

/* Reads one UTF-8 sequence: of up to three bytes, or a valid one of four. Returns its length and
 * the code point, which may be a surrogate; 0: there is no complete sequence. */
static size_t take(const uint8_t *in, size_t left, uint32_t *code) {
    uint8_t first = in[0];
    size_t bytes = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (bytes == 0 || bytes > left || first > 0xf4)
        return 0;
    uint32_t value = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((in[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (in[i] & 0x3fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[bytes] && !(bytes == 2 && value == 0))
        return 0;
    if (value > 0x10ffff)
        return 0;
    *code = value;
    return bytes;
}

size_t clean_text(char *out, size_t size, const void *in, size_t length) {
    const uint8_t *from = in;
    size_t at = 0;
    size_t written = 0;
    while (at < length) {
        uint32_t code = 0;
        size_t bytes = take(from + at, length - at, &code);
        if (code >= 0xd800 && code < 0xdc00 && length - at >= 6) {
            uint32_t low = 0;
            if (take(from + at + 3, length - at - 3, &low) == 3 && low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                bytes = 6;
            }
        }
        if (bytes == 0 || !utf8_is_shown(code))
            code = '?';
        char character[UTF8_BYTES];
        size_t more = utf8_encode(character, code);
        if (written + more >= size)
            break;
        memcpy(out + written, character, more);
        written += more;
        at += bytes ? bytes : 1;
    }
    out[written] = '\0';
    return written;
}

size_t clean_field(char *out, size_t size, const char *in, size_t field_bytes) {
    return clean_text(out, size, in, strnlen(in, field_bytes));
}
