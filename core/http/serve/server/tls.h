/*
 * TLS of the server: its certificate and key, and the authorities for certificates of clients.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_TLS_H
#define JTOP_HTTP_SERVE_SERVER_TLS_H

#include "core/base/err.h"

#include <stdbool.h>

/* PEM texts, each NUL-terminated; NULL: none. */
struct tls {
    char *cert, *key, *client_ca;
};

/* Reads the files (NULL: none) and checks that they are valid and fit together. -errno with a
 * message that names the file. */
int tls_read(const char *cert, const char *key, const char *client_ca, struct tls *out,
             struct err *e);
void tls_free(struct tls *t);

/* Whether the client of this session (a gnutls_session_t) showed a certificate that is valid now
 * and comes from the authorities with which the session was set up. */
bool tls_is_certified(void *session);

#endif
