/*
 * The inside of server.h: one request on its way (server_call.c), and what becomes of its answer
 * (server_answer.c).
 *
 * Context: the library's thread, but for what workers do with a call that was given to them.
 */
#ifndef JTOP_SERVE_SERVER_STATE_H
#define JTOP_SERVE_SERVER_STATE_H

#include "core/http/serve/server/server.h"
#include "core/http/serve/server/stream.h"
#include "core/http/serve/server/workers.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

struct server {
    struct server_options o;
    struct MHD_Daemon *daemon;
    struct workers *workers;
    struct streams *streams;
    pthread_t acceptor;
    bool accepts;
    int end_fd; /* an eventfd: the acceptor ends */
    atomic_bool ending;
};

enum call_state {
    CALL_NEW,   /* headers are not looked at yet */
    CALL_BODY,  /* they are good */
    CALL_WORKS, /* a worker has it; the connection is suspended */
    CALL_DONE,  /* there is an answer */
};

struct call {
    struct server *server;
    struct MHD_Connection *connection;
    enum call_state state;
    bool cut, html, gzip, head, streams;
    char method[8];
    char host[256];
    char url[GUARD_URL_MAX + 2]; /* as it came */
    char path[GUARD_URL_MAX + 2];
    char question[GUARD_URL_MAX + 2]; /* decoded in place */
    char form[GUARD_BODY_MAX + 1];
    size_t form_length;
    struct params params;
    const struct route *route;
    const char *rest;
    struct serve_answer answer;
};

/* The library's context of a connection: its call, to be freed also where the library forgets to
 * tell of its end. */
struct call_place {
    struct call *call;
};

/* For the library. */
void *call_begin(void *server, const char *url, struct MHD_Connection *connection);
enum MHD_Result call_go_on(void *server, struct MHD_Connection *connection, const char *url,
                           const char *method, const char *version, const char *upload,
                           size_t *upload_size, void **call);
void call_end(void *server, struct MHD_Connection *connection, void **call,
              enum MHD_RequestTerminationCode why);
void call_free(struct call *c); /* NULL is fine */
/* For the workers: a struct call. */
void call_work(void *call);

/* Gives the library the answer of a call, which is empty then. */
enum MHD_Result answer_queue(struct call *c);

int connection_fd(struct MHD_Connection *connection);
const struct sockaddr *connection_peer(struct MHD_Connection *connection);
#endif
