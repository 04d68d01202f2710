/*
 * SHA-256 (source: FIPS 180-4), of text in several pieces; in base64, as a policy for scripts names
 * it.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PAGE_PAGES_HASH_H
#define JTOP_HTTP_SERVE_PAGE_PAGES_HASH_H

#include <stddef.h>
#include <stdint.h>

#define PAGES_HASH_TEXT 45 /* bytes of the text, its NUL included */

struct pages_hash {
    uint32_t state[8];
    uint64_t len; /* bytes so far */
    unsigned char block[64];
};

void pages_hash_begin(struct pages_hash *h);
void pages_hash_add(struct pages_hash *h, const char *data, size_t n);
void pages_hash_end(struct pages_hash *h, char out[PAGES_HASH_TEXT]);

#endif
