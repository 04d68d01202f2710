/*
 * Decides which requests are handled, by their size, their method, the site they are meant for (a
 * page of another site must not reach us through its reader's browser), and the client.
 *
 * It is pure, except for the counts of wrong tokens.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_GUARD_H
#define JTOP_HTTP_SERVE_SERVER_GUARD_H

#include "core/http/serve/server/guard_token.h"
#include "core/http/serve/server/login.h"
#include "core/http/serve/server/peers.h"
#include "core/http/serve/server/route.h"

#include <stdbool.h>
#include <stddef.h>

#define GUARD_URL_MAX 4096
#define GUARD_HEADERS_MAX 64
#define GUARD_HEADER_BYTES_MAX 16384
#define GUARD_BODY_MAX 4096

/* A request as it arrived. A header that it does not have is NULL. */
struct guard_request {
    const char *method, *url; /* url: including its query */
    bool cut;                 /* the URL was too long to be kept */
    const char *host, *origin, *fetch_site, *fetch_mode, *authorization, *cookie;
    const char *length, *transfer; /* headers about a body */
    unsigned hosts, headers;       /* how many there are */
    size_t header_bytes;
    bool html;      /* a browser that prefers a page */
    bool certified; /* the client showed a valid certificate */
    const struct sockaddr *peer;
};

struct guard {
    const struct guard_token *token;
    bool certificates; /* a client certificate is accepted, as a token is */
    struct login *login;
    struct peers *peers;
};

/* Whether a request of `route` (NULL: no such route) may be answered; if not, `a` says why. */
bool guard_passes(const struct guard *g, const struct guard_request *q, const struct route *route,
                  struct serve_answer *a);

#endif
