/* One request: read, checked, given to a worker, answered. */
#include "core/http/serve/server/server_gzip.h"
#include "core/http/serve/server/server_state.h"

#include "core/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct call_place *place_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void *call_begin(void *server, const char *url, struct MHD_Connection *connection) {
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

/* A certificate of the other side that was checked. */
static bool is_certified(const struct call *c) {
    if (!c->server->o.guard->certificates)
        return false;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info && info->tls_session && tls_is_certified(info->tls_session);
}

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

/* The headers are there: may it be answered? */
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

void call_work(void *call) {
    struct call *c = call;
    struct serve *s = c->server->o.serve;
    if (atomic_load(&c->server->ending)) {
        serve_refuse(&c->answer, 503, "the server ends");
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

/* All of it is there. */
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
        serve_refuse(&c->answer, 503, "too much to do just now");
        serve_header(&c->answer, "Retry-After", "2");
        c->state = CALL_DONE;
        MHD_resume_connection(c->connection);
    }
    return MHD_YES;
}

enum MHD_Result call_go_on(void *server, struct MHD_Connection *connection, const char *url,
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
            return MHD_NO; /* more than it said */
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

void call_free(struct call *c) {
    if (!c)
        return;
    if (c->answer.end) /* it was never begun to send */
        c->answer.end(c->answer.arg);
    text_free(&c->answer.body);
    explicit_bzero(c->form, sizeof c->form);
    free(c);
}

void call_end(void *server, struct MHD_Connection *connection, void **call,
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
