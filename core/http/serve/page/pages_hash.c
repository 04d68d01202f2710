#include "core/http/serve/page/pages_hash.h"

#include <gnutls/gnutls.h>
#include <gnutls/crypto.h>
#include <string.h>

void pages_hash_begin(struct pages_hash *h) {
    gnutls_hash_hd_t handle;
    h->handle = gnutls_hash_init(&handle, GNUTLS_DIG_SHA256) == 0 ? handle : NULL;
}

void pages_hash_add(struct pages_hash *h, const char *data, size_t n) {
    if (h->handle && n)
        gnutls_hash(h->handle, data, n);
}

void pages_hash_end(struct pages_hash *h, char out[PAGES_HASH_TEXT]) {
    unsigned char sum[32];
    gnutls_datum_t in = {.data = sum, .size = sizeof sum}, text = {0};
    out[0] = '\0';
    if (!h->handle)
        return;
    gnutls_hash_deinit(h->handle, sum);
    if (gnutls_base64_encode2(&in, &text) == 0 && text.size < PAGES_HASH_TEXT) {
        memcpy(out, text.data, text.size);
        out[text.size] = '\0';
    }
    gnutls_free(text.data);
}
