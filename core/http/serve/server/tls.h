/*
 * TLS of the server: its certificate and key, and the authorities of who may ask.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_TLS_H
#define JTOP_HTTP_SERVE_SERVER_TLS_H

#include "core/base/err.h"

#include <stdbool.h>

/* PEM texts, each NUL-terminated; NULL where there is none. */
struct tls {
    char *cert, *key, *client_ca;
};

/* Reads the files (NULL: none) and makes sure that they are what they should be and go together.
 * -errno with a message that names the file. */
int tls_read(const char *cert, const char *key, const char *client_ca, struct tls *out,
             struct err *e);
void tls_free(struct tls *t);

/* Whether who is at the other end of this session (a gnutls_session_t) showed a certificate of the
 * authorities that it was set up with, which is valid now. */
bool tls_is_certified(void *session);

#endif
