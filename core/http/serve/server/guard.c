#include "core/http/serve/server/guard.h"

#include "core/http/serve/server/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX 255

static bool refuse(struct serve_answer *a, unsigned status, const char *why) {
    serve_refuse(a, status, "%s", why);
    return false;
}

static bool size_passes(const struct guard_request *q, struct serve_answer *a) {
    if (q->cut || strlen(q->url) > GUARD_URL_MAX)
        return refuse(a, 414, "a URL may have at most 4096 bytes");
    if (q->headers > GUARD_HEADERS_MAX || q->header_bytes > GUARD_HEADER_BYTES_MAX)
        return refuse(a, 431, "at most 64 headers with 16384 bytes together are allowed");
    for (const char *c = q->url; *c; c++)
        if (*c <= ' ' || *c > '~')
            return refuse(a, 400, "a URL must be printable ASCII");
    if (q->url[0] != '/')
        return refuse(a, 400, "a URL must begin with a /: this is not a proxy");
    return true;
}

static bool method_passes(const struct guard_request *q, const struct route *route,
                          struct serve_answer *a) {
    bool post = route && route->post;
    if (strcmp(q->method, "GET") == 0 || strcmp(q->method, "HEAD") == 0 ||
        (post && strcmp(q->method, "POST") == 0))
        return true;
    serve_header(a, "Allow", post ? "GET, HEAD, POST" : "GET, HEAD");
    return refuse(a, 405,
                  post ? "only GET, HEAD and POST are supported here"
                       : "only GET and HEAD are supported here");
}

static bool body_passes(const struct guard_request *q, struct serve_answer *a) {
    if (q->transfer)
        return refuse(a, 411, "a body needs a Content-Length");
    if (!q->length)
        return true;
    size_t digits = strspn(q->length, "0123456789");
    if (digits == 0 || q->length[digits])
        return refuse(a, 400, "Content-Length must be a number");
    if (digits > 9 || strtoul(q->length, NULL, 10) > GUARD_BODY_MAX)
        return refuse(a, 413, "a body may have at most 4096 bytes");
    return true;
}

static bool is_host(const char *host) {
    size_t length = strlen(host);
    return length > 0 && length <= HOST_MAX &&
           strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]") ==
               length;
}

/* A name or address that means this machine, and that nobody can redirect to another one. The port
 * does not matter: it may be forwarded. */
static bool means_loopback(const char *host) {
    char name[HOST_MAX + 1];
    const char *begin = host + (*host == '[');
    size_t length = *host == '[' ? strcspn(begin, "]") : strcspn(begin, ":");
    const char *behind = begin + length + (*host == '[' && begin[length]);
    if (*behind && *behind != ':')
        return false;
    memcpy(name, begin, length);
    name[length] = '\0';
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, name, &in.sin_addr) == 1)
        return listen_is_loopback((const struct sockaddr *)&in);
    if (inet_pton(AF_INET6, name, &in6.sin6_addr) == 1)
        return listen_is_loopback((const struct sockaddr *)&in6);
    return strcasecmp(name, "localhost") == 0;
}

/* An attacker can make a name point to 127.0.0.1; for a browser, we would be the same site as the
 * attacker's page. If a token or a certificate is required, this does not help the attacker: the
 * browser does not send it. */
static bool host_passes(const struct guard *g, const struct guard_request *q,
                        struct serve_answer *a) {
    if (q->hosts > 1 || !q->host || !is_host(q->host))
        return refuse(a, 400, "one Host header is required, with a name or an address");
    if (!g->token->length && !g->certificates && !means_loopback(q->host))
        return refuse(a, 421,
                      "without a token only localhost, 127.0.0.1 and [::1] are answered (Host has "
                      "another name): see --token-file");
    return true;
}

/* Links of other sites may lead to pages that do nothing by themselves. */
static bool may_be_led_to(const struct guard_request *q) {
    return q->fetch_mode && strcmp(q->fetch_mode, "navigate") == 0 &&
           strcmp(q->method, "POST") != 0 &&
           (strcmp(q->url, "/") == 0 || strncmp(q->url, "/live/", 6) == 0 ||
            strncmp(q->url, "/login", 6) == 0);
}

static bool site_passes(const struct guard_request *q, struct serve_answer *a) {
    if (q->origin) {
        const char *host = strstr(q->origin, "://");
        if (!host || strcasecmp(host + 3, q->host) != 0)
            return refuse(a, 403, "pages of another site may not send requests here (Origin)");
    }
    if (!q->fetch_site || strcmp(q->fetch_site, "same-origin") == 0 ||
        strcmp(q->fetch_site, "none") == 0 || may_be_led_to(q))
        return true;
    return refuse(a, 403, "pages of another site may not send requests here (Sec-Fetch-Site)");
}

/* The token after "Bearer "; NULL: something else. */
static const char *bearer(const char *authorization) {
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    return authorization + 7 + strspn(authorization + 7, " ");
}

/* Answers how a client can identify itself. */
static bool ask_who(struct serve_answer *a, const struct guard *g, const struct guard_request *q,
                    const char *wrong) {
    if (!g->token->length) {
        serve_refuse(a, 403, "a client certificate is required (--tls-ca of the server)");
        return false;
    }
    if (q->html)
        login_page(a, q->url, wrong);
    else
        serve_refuse(a, 401, "%s: \"Authorization: Bearer TOKEN\" is required%s",
                     wrong ? wrong : "no token",
                     g->certificates ? ", or a client certificate" : "");
    a->status = 401;
    serve_header(a, "WWW-Authenticate", "Bearer realm=\"jtop-prof\"");
    return false;
}

static bool who_passes(const struct guard *g, const struct guard_request *q,
                       struct serve_answer *a) {
    if ((!g->token->length && !g->certificates) || (g->certificates && q->certified))
        return true;
    const char *shown = bearer(q->authorization);
    if (!shown || !g->token->length)
        return (g->token->length && q->cookie && login_knows(g->login, q->cookie)) ||
               ask_who(a, g, q, NULL);
    switch (login_try(g->login, shown, q->peer)) {
    case LOGIN_RIGHT:
        return true;
    case LOGIN_TOO_OFTEN:
        login_refuse_often(a);
        return false;
    case LOGIN_WRONG:
        break;
    }
    return ask_who(a, g, q, "wrong token");
}

bool guard_passes(const struct guard *g, const struct guard_request *q, const struct route *route,
                  struct serve_answer *a) {
    return size_passes(q, a) && method_passes(q, route, a) && body_passes(q, a) &&
           host_passes(g, q, a) && site_passes(q, a) &&
           ((route && route->open) || who_passes(g, q, a));
}
