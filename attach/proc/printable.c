#include "attach/proc/printable.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the valid, harmless UTF-8 character at s; 0 if there is none. */
static size_t character(const unsigned char *s) {
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7f;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    uint32_t c = s[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) /* the terminating NUL stops here, too */
            return 0;
        c = c << 6 | (s[i] & 0x3fU);
    }
    static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    /* Ends of lines, and what shows the rest of one from right to left. */
    if ((c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
        return 0;
    return n;
}

void printable(char *s) {
    while (*s) {
        size_t n = character((const unsigned char *)s);
        if (n == 0) {
            *s = '?';
            n = 1;
        }
        s += n;
    }
}
