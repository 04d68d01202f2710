/*
 * HTTP: sockets and libmicrohttpd. Connections are taken by a thread of ours (peers.h says whether),
 * requests are read and answers sent by one of the library's, and what answers them runs in workers
 * and, for answers without an end, in the streams' thread.
 *
 *      acceptor ─▶ library's thread ─▶ guard ─▶ queue ─▶ worker: handler
 *                        ▲   ▲                              │
 *                        │   └────────── answer ◀───────────┘
 *                        └── bytes ── streams' thread
 *
 * Context: frontend, main thread; see the handlers' in route.h.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_SERVER_H
#define JTOP_HTTP_SERVE_SERVER_SERVER_H

#include "core/base/err.h"
#include "core/http/serve/server/guard.h"
#include "core/http/serve/server/route.h"
#include "core/http/serve/server/tls.h"

struct server_options {
    struct serve *serve;
    const struct guard *guard;
    const struct tls *tls; /* cert NULL: none */
    int listen_fd;         /* the caller's, as all here */
};

struct server;

int server_new(const struct server_options *o, struct server **out, struct err *e);
/* Takes no more connections, answers what was asked, ends streams and connections. NULL is fine. */
void server_free(struct server *s);

#endif
