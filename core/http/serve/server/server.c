#include "core/http/serve/server/server.h"

#include "core/base/clock.h"
#include "core/base/gzip.h"
#include "core/export/svg_text.h"
#include "core/http/serve/server/server_gzip.h"
#include "core/http/serve/server/stream.h"
#include "core/http/serve/server/workers.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct server {
    struct server_options o;
    struct MHD_Daemon *daemon;
    struct workers *workers;
    struct streams *streams;
    pthread_t acceptor;
    bool accepts;
    int end_fd; /* an eventfd that ends the acceptor */
    atomic_bool ending;
};

enum call_state {
    CALL_NEW,   /* its headers are not checked yet */
    CALL_BODY,  /* its headers are good */
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

/* The library's context of a connection. It has the call, so that the call is freed even if the
 * library does not report its end. */
struct call_place {
    struct call *call;
};

/* Called by the library. */
static enum MHD_Result call_go_on(void *server, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **call);

/* Gives the library the answer of a call; the answer is empty then. */
static enum MHD_Result answer_queue(struct call *c);

/* From a handler's answer to one of the library. */

#define STRICT "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
#define PAGE                                                                                       \
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "     \
    "form-action 'none'"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define PAGE_TYPE "text/html; charset=utf-8"
#define STREAM_BLOCK 32768
#define GZIP_LEAST 1024 /* bytes; less is not worth the time */
#define GZIP_LEVEL 5

static const char *const always[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
};

/* Makes a page of a refusal's text. */
static void make_page(struct serve_answer *a) {
    struct text page = {0};
    text_add(&page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<title>jtop-prof</title>\n<style>:root { color-scheme: light dark }\n"
                    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 8vh "
                    "auto; padding: 0 1rem }\npre { font: inherit; white-space: pre-wrap; "
                    "overflow-wrap: anywhere }</style></head><body><main>\n");
    text_addf(&page, "<h1>%u</h1>\n<pre>", a->status);
    for (char *rest = a->body.data, *line; rest && (line = strsep(&rest, "\n"));) {
        svg_text_add(&page, line); /* it would not keep the ends of lines */
        text_add(&page, rest ? "\n" : "");
    }
    text_add(&page, "</pre>\n<p><a href=\"/\">The JVMs of this machine</a></p>\n"
                    "</main></body></html>\n");
    text_free(&a->body);
    a->body = page;
    a->type = PAGE_TYPE;
    a->policy = PAGE;
}

static bool is_text(const char *type) {
    return strncmp(type, "text/", 5) == 0 || strncmp(type, "application/json", 16) == 0 ||
           strncmp(type, "image/svg+xml", 13) == 0;
}

static bool has_header(const struct serve_answer *a, const char *name) {
    for (int i = 0; i < a->headers; i++)
        if (strcasecmp(a->header[i].name, name) == 0)
            return true;
    return false;
}

static void add_headers(struct MHD_Response *r, const struct serve_answer *a) {
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (!has_header(a, always[i][0]))
            MHD_add_response_header(r, always[i][0], always[i][1]);
    if (!has_header(a, "Cache-Control"))
        MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(r, "Content-Security-Policy", a->policy ? a->policy : STRICT);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type ? a->type : TEXT_TYPE);
    for (int i = 0; i < a->headers; i++)
        MHD_add_response_header(r, a->header[i].name, a->header[i].value);
}

/* ---- answers without an end ---- */

static void let_sleep(void *who) {
    MHD_suspend_connection(who);
}

static void wake(void *who) {
    MHD_resume_connection(who);
}

static ssize_t read_stream(void *stream, uint64_t at, char *out, size_t max) {
    (void)at;
    ssize_t n = stream_take(stream, out, max, let_sleep);
    return n == STREAM_BROKEN ? MHD_CONTENT_READER_END_WITH_ERROR
           : n < 0            ? MHD_CONTENT_READER_END_OF_STREAM
                              : n;
}

static void leave_stream(void *stream) {
    stream_leave(stream);
}

/* NULL: the answer is a refusal now. */
static struct MHD_Response *open_stream(struct call *c) {
    struct serve_answer *a = &c->answer;
    struct stream *stream;
    int r = stream_new(c->server->streams, a, wake, c->connection, &stream);
    a->next = NULL;
    a->end = NULL;
    if (r < 0) {
        serve_refuse(a, 503,
                     "too many streams are open: try again later, or when one of them has ended");
        serve_header(a, "Retry-After", "10");
        return NULL;
    }
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, stream, leave_stream);
    if (!response)
        stream_leave(stream);
    c->streams = response != NULL;
    return response;
}

/* ---- answers that are complete ---- */

static struct MHD_Response *whole(struct call *c) {
    struct serve_answer *a = &c->answer;
    if (a->body.failed) {
        text_free(&a->body);
        serve_refuse(a, 503, "no memory for the answer");
    }
    if (a->refused && c->html)
        make_page(a);
    bool zipped = c->gzip && a->body.len >= GZIP_LEAST && is_text(a->type ? a->type : TEXT_TYPE) &&
                  !has_header(a, "Content-Encoding") && gzip_text(&a->body, GZIP_LEVEL) == 0;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(a->body.len, a->body.data, MHD_RESPMEM_MUST_FREE);
    if (!r)
        return NULL;
    memset(&a->body, 0, sizeof a->body); /* the response owns it */
    if (zipped)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, "Accept-Encoding, Accept, Cookie");
    return r;
}

static int connection_fd(struct MHD_Connection *connection);

static enum MHD_Result answer_queue(struct call *c) {
    struct serve_answer *a = &c->answer;
    if (a->next && c->head) { /* nobody will read it */
        if (a->end)
            a->end(a->arg);
        a->next = NULL;
        a->end = NULL;
    }
    struct MHD_Response *r = a->next ? open_stream(c) : NULL;
    if (!r)
        r = whole(c);
    if (!r)
        return MHD_NO;
    add_headers(r, a);
    peers_note(c->server->o.guard->peers, connection_fd(c->connection),
               c->streams ? PEERS_BUSY : PEERS_SENDING, clock_now_ns());
    enum MHD_Result result = MHD_queue_response(c->connection, a->status ? a->status : 200, r);
    MHD_destroy_response(r);
    return result;
}

/* One request: read, checked, passed to a worker, answered. */

static struct call_place *place_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* NULL is fine */
static void call_free(struct call *c);

/* Called by the library. */
static void *call_begin(void *server, const char *url, struct MHD_Connection *connection) {
    struct call_place *place = place_of(connection);
    struct call *c = place ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    call_free(place->call);
    place->call = c;
    c->server = server;
    c->connection = connection;
    size_t length = strnlen(url, sizeof c->url);
    c->cut = length == sizeof c->url;
    memcpy(c->url, url, c->cut ? sizeof c->url - 1 : length);
    return c;
}

static const char *header(const struct call *c, const char *name) {
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result count_host(void *count, enum MHD_ValueKind kind, const char *name,
                                  const char *value) {
    (void)kind, (void)value;
    if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
        ++*(unsigned *)count;
    return MHD_YES;
}

/* Whether the client showed a valid certificate. */
static bool is_certified(const struct call *c) {
    if (!c->server->o.guard->certificates)
        return false;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info && info->tls_session && tls_is_certified(info->tls_session);
}

static const struct sockaddr *connection_peer(struct MHD_Connection *connection);

static void look(const struct call *c, struct guard_request *q) {
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    int headers = MHD_get_connection_values(c->connection, MHD_HEADER_KIND, NULL, NULL);
    *q = (struct guard_request){
        .method = c->method,
        .url = c->url,
        .cut = c->cut,
        .host = header(c, MHD_HTTP_HEADER_HOST),
        .origin = header(c, "Origin"),
        .fetch_site = header(c, "Sec-Fetch-Site"),
        .fetch_mode = header(c, "Sec-Fetch-Mode"),
        .authorization = header(c, MHD_HTTP_HEADER_AUTHORIZATION),
        .cookie = header(c, MHD_HTTP_HEADER_COOKIE),
        .length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH),
        .transfer = header(c, MHD_HTTP_HEADER_TRANSFER_ENCODING),
        .headers = headers > 0 ? (unsigned)headers : 0,
        .header_bytes = size ? size->header_size : 0,
        .html = c->html,
        .certified = is_certified(c),
        .peer = connection_peer(c->connection),
    };
    MHD_get_connection_values(c->connection, MHD_HEADER_KIND, count_host, &q->hosts);
}

/* The headers have arrived: checks whether the request may be answered. */
static bool begin(struct call *c, const char *method) {
    struct guard_request q;
    const char *accept = header(c, MHD_HTTP_HEADER_ACCEPT);
    snprintf(c->method, sizeof c->method, "%s", strlen(method) < sizeof c->method ? method : "?");
    c->head = strcmp(c->method, "HEAD") == 0;
    c->html = accept && strstr(accept, "text/html");
    c->gzip = server_gzip_taken(header(c, MHD_HTTP_HEADER_ACCEPT_ENCODING));
    size_t path = strcspn(c->url, "?");
    memcpy(c->path, c->url, path);
    if (c->url[path] == '?')
        memcpy(c->question, c->url + path + 1, strlen(c->url + path + 1));
    c->route = route_find(c->path, &c->rest);
    look(c, &q);
    if (!guard_passes(c->server->o.guard, &q, c->route, &c->answer))
        return false;
    snprintf(c->host, sizeof c->host, "%s", q.host);
    return true;
}

/* Called by the workers with a struct call. */
static void call_work(void *call) {
    struct call *c = call;
    struct serve *s = c->server->o.serve;
    if (atomic_load(&c->server->ending)) {
        serve_refuse(&c->answer, 503, "the server is shutting down");
    } else {
        struct serve_request q = {.method = c->head ? "GET" : c->method,
                                  .path = c->path,
                                  .rest = c->rest,
                                  .params = &c->params,
                                  .host = c->host,
                                  .secure = c->server->o.tls->cert != NULL,
                                  .head = c->head,
                                  .peer = connection_peer(c->connection)};
        c->route->handler(s, &q, &c->answer);
    }
    if (c->state == CALL_WORKS) {
        c->state = CALL_DONE;
        MHD_resume_connection(c->connection);
    }
}

/* The whole request has arrived. */
static enum MHD_Result ask(struct call *c) {
    struct err e = {0};
    if (params_read(&c->params, c->question, &e) < 0 ||
        (strcmp(c->method, "POST") == 0 && params_read(&c->params, c->form, &e) < 0)) {
        serve_refuse(&c->answer, 400, "%s", e.message);
        return answer_queue(c);
    }
    if (!c->route) {
        route_refuse(c->path, &c->answer);
        return answer_queue(c);
    }
    if (c->route->at_once) {
        call_work(c);
        return answer_queue(c);
    }
    peers_note(c->server->o.guard->peers, connection_fd(c->connection), PEERS_BUSY, clock_now_ns());
    c->state = CALL_WORKS;
    MHD_suspend_connection(c->connection);
    if (workers_give(c->server->workers, c) < 0) {
        serve_refuse(&c->answer, 503, "the server is too busy now");
        serve_header(&c->answer, "Retry-After", "2");
        c->state = CALL_DONE;
        MHD_resume_connection(c->connection);
    }
    return MHD_YES;
}

static enum MHD_Result call_go_on(void *server, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **call) {
    (void)server, (void)connection, (void)url, (void)version;
    struct call *c = *call;
    if (!c)
        return MHD_NO;
    switch (c->state) {
    case CALL_NEW:
        c->state = CALL_BODY;
        return begin(c, method) ? MHD_YES : answer_queue(c);
    case CALL_BODY:
        if (*upload_size == 0)
            return ask(c);
        if (*upload_size > GUARD_BODY_MAX - c->form_length)
            return MHD_NO; /* more than its Content-Length */
        memcpy(c->form + c->form_length, upload, *upload_size);
        c->form_length += *upload_size;
        *upload_size = 0;
        return MHD_YES;
    case CALL_WORKS:
        return MHD_YES;
    case CALL_DONE:
        return answer_queue(c);
    }
    return MHD_NO;
}

static void call_free(struct call *c) {
    if (!c)
        return;
    if (c->answer.end) /* sending was never begun */
        c->answer.end(c->answer.arg);
    text_free(&c->answer.body);
    explicit_bzero(c->form, sizeof c->form);
    free(c);
}

static void call_end(void *server, struct MHD_Connection *connection, void **call,
                     enum MHD_RequestTerminationCode why) {
    (void)why;
    struct server *s = server;
    struct call_place *place = place_of(connection);
    peers_note(s->o.guard->peers, connection_fd(connection), PEERS_WAITING, clock_now_ns());
    if (place)
        place->call = NULL;
    call_free(*call);
    *call = NULL;
}

#define WORKERS 12
#define LIBRARY_CONNECTIONS (3 * PEERS_CONNECTIONS) /* with ended ones; peers.h has the limit */
#define CONNECTION_MEMORY 40960 /* a request's headers and a piece of its answer */
#define IDLE_S 30               /* without sending or receiving */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define SWEEP_MS 500
#define LAST_MS 1000 /* at the end, for answers that are being sent */
#define TIRED_MS 100 /* no descriptors: connections wait in the kernel's queue */

static int connection_fd(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static const struct sockaddr *connection_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/* The library reports the end before it closes the descriptor. */
static void on_connection(void *server, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what) {
    struct server *s = server;
    struct call_place *place = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = calloc(1, sizeof *place);
        return;
    }
    peers_forget(s->o.guard->peers, connection_fd(connection));
    if (place)
        call_free(place->call);
    free(place);
    *context = NULL;
}

/* The path is not decoded by the library: we interpret it ourselves. */
static size_t leave_as_is(void *arg, struct MHD_Connection *connection, char *text) {
    (void)arg, (void)connection;
    return strlen(text);
}

/* There is no room for a connection: tells the client, as far as that is possible. */
static void turn_away(const struct server *s, int fd) {
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
                               "Content-Type: text/plain\r\nContent-Length: 21\r\n"
                               "Connection: close\r\n\r\ntoo many connections\n";
    if (!s->o.tls->cert) {
        ssize_t ignored = send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)ignored;
    }
    close(fd);
}

static void take(struct server *s, int fd, struct sockaddr *address, socklen_t length) {
    if (peers_admit(s->o.guard->peers, fd, address, clock_now_ns()) < 0) {
        turn_away(s, fd);
        return;
    }
    /* Even if this fails, the library owns the descriptor from here on. */
    if (MHD_add_connection(s->daemon, fd, address, length) != MHD_YES)
        peers_forget(s->o.guard->peers, fd);
}

static void *accept_main(void *server) {
    struct server *s = server;
    struct pollfd p[2] = {{.fd = s->o.listen_fd, .events = POLLIN},
                          {.fd = s->end_fd, .events = POLLIN}};
    uint64_t swept = 0;
    while (!(p[1].revents & POLLIN)) {
        uint64_t now = clock_now_ns();
        if (now - swept > SWEEP_MS * 1000000ull) {
            peers_sweep(s->o.guard->peers, now);
            swept = now;
        }
        if (poll(p, 2, SWEEP_MS) <= 0 || !(p[0].revents & POLLIN))
            continue;
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd = accept4(s->o.listen_fd, (struct sockaddr *)&address, &length,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            take(s, fd, (struct sockaddr *)&address, length);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            poll(&p[1], 1, TIRED_MS);
    }
    return NULL;
}

static struct MHD_Daemon *start_daemon(struct server *s) {
    struct MHD_OptionItem more[5];
    int n = 0;
    const struct tls *tls = s->o.tls;
    if (tls->cert) {
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, tls->cert};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                            (void *)(uintptr_t)TLS_PRIORITIES};
    }
    if (tls->cert && tls->client_ca)
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, tls->client_ca};
    more[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_NO_LISTEN_SOCKET | (tls->cert ? MHD_USE_TLS : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, call_go_on, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)LIBRARY_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK,
        call_begin, s, MHD_OPTION_NOTIFY_COMPLETED, call_end, s, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_as_is, s,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
}

int server_new(const struct server_options *o, struct server **out, struct err *e) {
    struct server *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return err_set(e, ENOMEM, "no memory for a server");
    s->o = *o;
    s->end_fd = eventfd(0, EFD_CLOEXEC);
    int r = s->end_fd < 0 ? err_set(e, errno, "no eventfd: %s", strerror(errno))
                          : streams_new(&s->streams, e);
    if (r == 0)
        r = workers_new(WORKERS, call_work, &s->workers, e);
    if (r == 0) {
        s->daemon = start_daemon(s);
        if (!s->daemon)
            r = err_set(e, EINVAL, "libmicrohttpd %s cannot be started%s", MHD_get_version(),
                        o->tls->cert ? ": is it built with TLS?" : "");
    }
    if (r == 0) {
        r = -pthread_create(&s->acceptor, NULL, accept_main, s);
        s->accepts = r == 0;
        if (r < 0)
            err_set(e, -r, "cannot start a thread: %s", strerror(-r));
    }
    if (r < 0)
        server_free(s);
    else
        *out = s;
    return r;
}

/* Waits so that answers can still be sent, and streams can end properly. */
static void see_off(const struct server *s) {
    for (int ms = 0; ms < LAST_MS && peers_answering(s->o.guard->peers) > 0; ms += 10)
        poll(NULL, 0, 10);
}

void server_free(struct server *s) {
    if (!s)
        return;
    atomic_store(&s->ending, true);
    if (s->accepts) {
        uint64_t one = 1;
        ssize_t ignored = write(s->end_fd, &one, sizeof one);
        (void)ignored;
        pthread_join(s->acceptor, NULL);
    }
    /* No connection may be suspended when the library is stopped: workers and streams resume
     * theirs, and get no new ones. */
    if (s->workers)
        workers_end(s->workers);
    if (s->streams)
        streams_end(s->streams);
    if (s->accepts)
        see_off(s);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    workers_free(s->workers);
    streams_free(s->streams);
    if (s->end_fd >= 0)
        close(s->end_fd);
    free(s);
}
