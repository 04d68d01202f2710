/*
 * Which requests get further: sizes, method, who is meant (a page of another site must not get at
 * us through its reader's browser), and who asks.
 *
 * Pure but for what it keeps of wrong tokens.
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

/* A request as it came. Headers that were not: NULL. */
struct guard_request {
    const char *method, *url; /* url: with its question */
    bool cut;                 /* the URL was longer than it could be kept */
    const char *host, *origin, *fetch_site, *fetch_mode, *authorization, *cookie;
    const char *length, *transfer; /* of a body */
    unsigned hosts, headers;       /* how many */
    size_t header_bytes;
    bool html;      /* a browser that would rather see a page */
    bool certified; /* showed a certificate that was checked */
    const struct sockaddr *peer;
};

struct guard {
    const struct guard_token *token;
    bool certificates; /* one of them lets in, as a token does */
    struct login *login;
    struct peers *peers;
};

/* Whether a request of `route` (NULL: none there) may be answered; else `a` says why not. */
bool guard_passes(const struct guard *g, const struct guard_request *q, const struct route *route,
                  struct serve_answer *a);

#endif
