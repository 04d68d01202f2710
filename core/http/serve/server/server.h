/*
 * Files:
 *   guard          checks of each request: size, method, host, origin, token
 *   guard_token    access token: read from a file, compared in constant time
 *   listen         listening address and socket of the server
 *   listen_holder  which process listens on a port, as seen in /proc
 *   login          login of browsers: a checked token is exchanged for a cookie
 *   params         decoding and lookup of URL parameters
 *   peers          open connections with their limits, and counts of wrong tokens
 *   route          table of URL routes, and the request and answer structs
 *   server         HTTP server on libmicrohttpd: connections, requests, answers
 *   server_gzip    check of a request header for whether gzip may be sent
 *   stream         answers without an end (event streams), fed by one thread
 *   tls            TLS certificate and key of the server, and client certificates
 *   workers        thread pool with a bounded queue of jobs
 *
 * HTTP with sockets and libmicrohttpd. A thread of ours accepts connections (peers.h decides
 * which), and a thread of the library reads requests and sends answers. Handlers run in workers
 * and, for answers without an end, in the streams' thread.
 *
 *      acceptor ─▶ library's thread ─▶ guard ─▶ queue ─▶ worker: handler
 *                        ▲   ▲                              │
 *                        │   └────────── answer ◀───────────┘
 *                        └── bytes ── streams' thread
 *
 * Context: frontend, main thread; for handlers see route.h.
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
    const struct tls *tls; /* cert NULL: no TLS */
    int listen_fd;         /* owned by the caller, as everything here */
};

struct server;

int server_new(const struct server_options *o, struct server **out, struct err *e);
/* Accepts no more connections, answers pending requests, ends streams and connections. NULL is
 * fine. */
void server_free(struct server *s);

#endif
