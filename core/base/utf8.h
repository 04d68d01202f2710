/*
 * Reads text from outside character by character, and decides which characters may be shown.
 * Names come from JVMs, ELF files, /proc, sockets and files, whose owners may be hostile. All of
 * them pass through here before they are drawn or written: copies through clean_text.h, text that
 * stays in place through utf8_clean.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_BASE_UTF8_H
#define JTOP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* utf8_decode for characters of more than one byte. */
size_t utf8_decode_long(const char *s, size_t n, uint32_t *code);

/* Returns the length of the character at `s` in bytes, and its code point. 0: no complete character
 * begins there within `n` bytes (source: RFC 3629: nothing overlong, no surrogate). `n` may be
 * SIZE_MAX for text that ends with a NUL, which is a character of one byte. */
static inline size_t utf8_decode(const char *s, size_t n, uint32_t *code) {
    if ((uint8_t)*s >= 0x80)
        return utf8_decode_long(s, n, code);
    *code = (uint8_t)*s;
    return n > 0;
}

/* Writes the bytes of a code point up to 10FFFF, without a NUL. Returns how many there are. */
#define UTF8_BYTES 4
size_t utf8_encode(char out[UTF8_BYTES], uint32_t code);

/* False for a control character (C0, DEL, C1), one that ends a line or makes text run from right to
 * left (U+2028 to 202E, U+2066 to 2069), a surrogate, and a character that XML does not allow. */
bool utf8_is_shown(uint32_t code);

/* Replaces by '?' each byte that is not part of a character which may be shown. */
void utf8_clean(char *text);

#endif
