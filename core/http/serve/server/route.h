/*
 * The interface between the server and its handlers: a checked request, an answer to fill, and the
 * table of handlers.
 *
 * Context: handlers run in worker threads, several at a time; they may wait for a JVM for some
 * seconds, not for a profile's whole duration.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_ROUTE_H
#define JTOP_HTTP_SERVE_SERVER_ROUTE_H

#include "core/base/text.h"
#include "core/http/fleet/fleet.h"
#include "core/http/serve/serve.h"
#include "core/http/serve/server/params.h"

struct login;
struct sockaddr;

/* The server's state that handlers may use. */
struct serve {
    const struct serve_options *options;
    struct fleet *fleet;
    struct login *login;         /* logged-in browsers (login.h) */
    struct api_feeds *feeds;     /* shared by streams (api_feeds.h); NULL: nothing is */
    struct api_sources *sources; /* of classes (api_sources.h); NULL: none */
    struct prof_table *profs;    /* of /prof: running profiles, and results (prof_table.h) */
    uint64_t begun_ns;           /* CLOCK_MONOTONIC */
};

struct serve_request {
    const char *method;    /* "GET" (also for a HEAD, whose body is not sent) or "POST" */
    const char *path;      /* as it came, without the query: printable ASCII */
    const char *rest;      /* after the route's own path: "123/events" of "/live/123/events" */
    struct params *params; /* of the query; for a POST also of its form */
    const char *host;      /* our name as the browser has it, "127.0.0.1:8071"; checked */
    bool secure;           /* TLS */
    bool head;             /* nobody reads the body: nothing must be begun for it */
    const struct sockaddr *peer; /* the client's address; NULL: not known */
};

enum { SERVE_HEADERS_MAX = 6 };

/* An answer; all zero is a 200 without a body. Security headers and Cache-Control: no-store are
 * sent with each one. */
struct serve_answer {
    unsigned status;  /* 0: 200 */
    const char *type; /* "text/html; charset=utf-8"; NULL: text/plain; charset=utf-8 */
    struct text body;
    struct {
        char name[32], value[512]; /* values: printable ASCII */
    } header[SERVE_HEADERS_MAX];
    int headers;
    bool refused;       /* by serve_refuse: a browser gets the text line as a page */
    const char *policy; /* Content-Security-Policy; NULL: the strict one */
    /* A body without an end: `next` is called every period_ms, in a thread that all such answers
     * share. It appends what is to be sent; it must not wait. 1: that was the last; negative: it
     * failed, and the connection is broken off, because the status was sent already. `end` is
     * called once, whatever happened. `next` NULL: `body` is the whole body. */
    int (*next)(void *arg, struct text *out);
    void (*end)(void *arg);
    void *arg;
    uint32_t period_ms;
};

typedef void serve_handler(struct serve *s, const struct serve_request *q, struct serve_answer *a);

/* Fills the answer with a status and one line of text; a browser that prefers a page gets one. */
void serve_refuse(struct serve_answer *a, unsigned status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same by an error's code, with its message: 404 no such JVM, 403, 409, 503, 504, 400, 500. */
void serve_refuse_err(struct serve_answer *a, const struct err *e);
/* A header whose value is not printable ASCII is left out. */
void serve_header(struct serve_answer *a, const char *name, const char *value);

/* A route: the handler of a path, or of all paths that begin with it. */
struct route {
    const char *path; /* "/live/": all paths below it, too */
    serve_handler *handler;
    const char *help; /* shown to a client that asked for an unknown path */
    bool open;        /* needs no token */
    bool post;        /* accepts POST, too */
    bool at_once;     /* never waits: runs without a worker */
};

/* The route of a path; `*rest` is what follows the route's own path. NULL: there is none. */
const struct route *route_find(const char *path, const char **rest);
/* Answers with a 404 that lists the routes. */
void route_refuse(const char *path, struct serve_answer *a);

/* Parses a piece of a path as a process number ("123", up to the '/'); `*rest` follows it. 0:
 * none. */
pid_t serve_pid(const char *piece, const char **rest);

serve_handler serve_index;   /* pages.c: "/" */
serve_handler serve_live;    /* pages.c: "/live/PID" */
serve_handler serve_prof;    /* prof.c: "/prof", "/prof/ID" */
serve_handler serve_metrics; /* api_metrics.c: "/metrics" */
serve_handler serve_api;     /* api.c: "/api/v1/…" */
serve_handler serve_events;  /* stream of views: "/api/v1/jvms/PID/events" (api.c) */
serve_handler serve_login;   /* login_page.c: "/login" */

/* prof_table.c: made when the server begins, freed when it ends. */
struct prof_table *prof_table_new(struct serve *s, struct err *e);
void prof_table_free(struct prof_table *t); /* ends running profiles */

#endif
