/*
 * SHA-256 of a text in several pieces, in base64, as a policy writes the hash of a script.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_PAGE_PAGES_HASH_H
#define JTOP_HTTP_SERVE_PAGE_PAGES_HASH_H

#include <stddef.h>

#define PAGES_HASH_TEXT 45 /* bytes of the base64 text, including its NUL */

struct pages_hash {
    void *handle; /* gnutls's; NULL: no memory; the hash is "" then, which matches no script */
};

void pages_hash_begin(struct pages_hash *h);
void pages_hash_add(struct pages_hash *h, const char *data, size_t n);
void pages_hash_end(struct pages_hash *h, char out[PAGES_HASH_TEXT]);

#endif
