/*
 * What the server asks of whoever answers: a request that is checked, an answer to fill, and the
 * table of who answers what.
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
    struct login *login;      /* who logged in (login.h) */
    struct api_feeds *feeds;  /* what streams share (api_feeds.h); NULL: nothing */
    struct prof_table *profs; /* of /prof: what runs, and results (prof.c) */
    uint64_t begun_ns;        /* CLOCK_MONOTONIC */
};

struct serve_request {
    const char *method;    /* "GET" (a HEAD is one, without its body going out) or "POST" */
    const char *path;      /* as it came, without the question: printable ASCII */
    const char *rest;      /* behind the route's own path: "123/events" of "/live/123/events" */
    struct params *params; /* of the question; of a POST also those of its form */
    const char *host;      /* as the browser calls us, "127.0.0.1:8071"; checked */
    bool secure;           /* TLS */
    bool head;             /* nobody reads the body: nothing is to be begun for it */
    const struct sockaddr *peer; /* who asks; NULL: not known */
};

enum { SERVE_HEADERS_MAX = 6 };

/* An answer; all zero is a 200 without a body. Security headers and Cache-Control: no-store go along
 * with each. */
struct serve_answer {
    unsigned status;  /* 0: 200 */
    const char *type; /* "text/html; charset=utf-8"; NULL: text/plain; charset=utf-8 */
    struct text body;
    struct {
        char name[32], value[512]; /* values: printable ASCII */
    } header[SERVE_HEADERS_MAX];
    int headers;
    bool refused;       /* by serve_refuse: a browser gets the line of text as a page */
    const char *policy; /* Content-Security-Policy in place of the strict one; NULL: that */
    /* A body without an end: `next` is called each period_ms, on a thread that all such answers
     * share, and appends what is to go out; it must not wait. 1: that was the last; negative: it
     * went wrong, and the connection is broken off, since the status is out. `end` is called once,
     * whatever happened. NULL `next`: `body` is all. */
    int (*next)(void *arg, struct text *out);
    void (*end)(void *arg);
    void *arg;
    uint32_t period_ms;
};

typedef void serve_handler(struct serve *s, const struct serve_request *q, struct serve_answer *a);

/* Fills it with a status and one line of text, as page where the browser wants one. */
void serve_refuse(struct serve_answer *a, unsigned status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* By an error's code, with its message: 404 no such JVM, 403, 409, 503, 504, 400, 500. */
void serve_refuse_err(struct serve_answer *a, const struct err *e);
/* Values that are no printable ASCII are left out. */
void serve_header(struct serve_answer *a, const char *name, const char *value);

/* A route: who answers for a path, or for all that begin with it. */
struct route {
    const char *path; /* "/live/": all below it, too */
    serve_handler *handler;
    const char *help; /* for who asked for what there is not */
    bool open;        /* without a token */
    bool post;        /* POST, too */
    bool at_once;     /* never waits: answered without a worker */
};

/* Whose path that is; `*rest` is behind the route's own. NULL: nobody's. */
const struct route *route_find(const char *path, const char **rest);
/* A 404 that lists what there is. */
void route_refuse(const char *path, struct serve_answer *a);

/* The process number that a path's piece is ("123", up to the '/'); `*rest` is behind it. 0: none. */
pid_t serve_pid(const char *piece, const char **rest);

serve_handler serve_index;   /* pages.c: "/" */
serve_handler serve_live;    /* pages.c: "/live/PID" */
serve_handler serve_prof;    /* prof.c: "/prof", "/prof/ID" */
serve_handler serve_metrics; /* api_metrics.c: "/metrics" */
serve_handler serve_api;     /* api.c: "/api/v1/…" */
serve_handler serve_events;  /* stream of views: "/api/v1/jvms/PID/events" (api.c) */
serve_handler serve_login;   /* login.c: "/login" */

/* prof.c: what the server begins and ends with. */
struct prof_table *prof_table_new(struct serve *s, struct err *e);
void prof_table_free(struct prof_table *t); /* ends profiles that run */

#endif
