/* A request as the guard and the table of routes see it: lines of method, URL, host, origin, site,
 * mode, authorization, cookie, Content-Length, Transfer-Encoding, Accept-Encoding. Without a token
 * nobody gets in but by it, and nothing leads out of this site. */
#include "core/http/serve/server/guard.h"
#include "core/http/serve/server/listen.h"
#include "core/http/serve/server/server_gzip.h"

#include <stdlib.h>
#include <string.h>

#define LINES 11
#define TOKEN "0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct guard_token none, token = {.length = 16, .bytes = TOKEN};

static void split(char *text, const char *line[LINES]) {
    for (int i = 0; i < LINES; i++) {
        char *end = text ? strchr(text, '\n') : NULL;
        line[i] = text && *text && *text != '\n' ? text : NULL;
        if (end)
            *end++ = '\0';
        text = end;
    }
}

static const char *header(const struct serve_answer *a, const char *name) {
    for (int i = 0; i < a->headers; i++)
        if (strcmp(a->header[i].name, name) == 0)
            return a->header[i].value;
    return NULL;
}

static void try_guard(const struct guard *g, const struct guard_request *q) {
    const char *rest = NULL;
    struct serve_answer a = {0};
    const struct route *route = q->url[0] == '/' ? route_find(q->url, &rest) : NULL;
    if (guard_passes(g, q, route, &a)) {
        if (a.status || a.body.len || (route && !rest))
            abort();
        if (g->token->length && !(route && route->open) &&
            (!q->authorization || !strstr(q->authorization, TOKEN)))
            abort();
        if (!route) {
            route_refuse(q->url, &a);
            if (a.status != 404)
                abort();
        }
    } else if (a.status < 400 || a.body.len == 0) {
        abort();
    }
    for (int i = 0; i < a.headers; i++)
        if (strpbrk(a.header[i].value, "\r\n"))
            abort();
    text_free(&a.body);
}

static void try_login(const char *next) {
    struct serve_options o = {.token_file = NULL};
    struct serve s = {.options = &o};
    struct params p = {.item = {{.name = "next", .value = next}}, .count = 1};
    struct serve_request q = {.method = "GET", .params = &p};
    struct serve_answer a = {0};
    serve_login(&s, &q, &a);
    const char *where = header(&a, "Location");
    if (a.status != 303 || !where || where[0] != '/' || where[1] == '/' || where[1] == '\\')
        abort();
    text_clear(&a.body);
    login_page(&a, next, next);
    if (strstr(a.body.data, "<script"))
        abort();
    text_free(&a.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct peers *peers;
    static struct login *login;
    const char *line[LINES];
    char *text = malloc(size + 1);
    if (!peers) {
        peers = peers_new();
        login = login_new(&token, peers, 8071);
    }
    if (!text || !peers || !login)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    split(text, line);
    struct guard_request q = {.method = line[0] ? line[0] : "GET",
                              .url = line[1] ? line[1] : "/",
                              .host = line[2],
                              .hosts = line[2] != NULL,
                              .origin = line[3],
                              .fetch_site = line[4],
                              .fetch_mode = line[5],
                              .authorization = line[6],
                              .cookie = line[7],
                              .length = line[8],
                              .transfer = line[9]};
    struct guard open = {.token = &none, .login = login, .peers = peers};
    struct guard closed = {.token = &token, .login = login, .peers = peers};
    try_guard(&open, &q);
    q.html = true;
    try_guard(&closed, &q);
    try_login(q.url);
    server_gzip_taken(line[10]);
    struct listen_at at;
    struct err e = {0};
    if (line[2] && listen_parse(line[2], &at, &e) < 0 && !e.message[0])
        abort();
    free(text);
    return 0;
}
