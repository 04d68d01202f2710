/*
 * SHA-256 of text in several pieces; in base64, as a policy for scripts names it.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PAGE_PAGES_HASH_H
#define JTOP_HTTP_SERVE_PAGE_PAGES_HASH_H

#include <stddef.h>

#define PAGES_HASH_TEXT 45 /* bytes of the text, its NUL included */

struct pages_hash {
    void *handle; /* gnutls's; NULL: no memory, and the hash is "", which fits no script */
};

void pages_hash_begin(struct pages_hash *h);
void pages_hash_add(struct pages_hash *h, const char *data, size_t n);
void pages_hash_end(struct pages_hash *h, char out[PAGES_HASH_TEXT]);

#endif
