#include "core/http/push/protocol/receiver_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int wrong(const char *text, const char *what, struct err *e) {
    return err_set(e, EINVAL,
                   "--to %.200s: %s; give a URL as http://127.0.0.1:4318 or https://HOST/PATH",
                   text, what);
}

/* Printable, without spaces and without characters that no URL has: nothing can end a line or a
 * header. */
static bool clean(const char *text) {
    for (const char *c = text; *c; c++)
        if (*c <= ' ' || *c > '~' || strchr("\"<>\\^`{|}", *c))
            return false;
    return true;
}

static bool host_is_loopback(const char *host) {
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &six) == 1)
        return IN6_IS_ADDR_LOOPBACK(&six);
    return strcasecmp(host, "localhost") == 0;
}

/* Takes host and port as libcurl understands them, because it connects to them. False: libcurl
 * rejects the URL, or there is a ':' without a port. */
static bool take_host(const char *text, size_t authority, char *out, size_t size) {
    CURLU *u = curl_url();
    char *host = NULL, *port = NULL;
    if (u && curl_url_set(u, CURLUPART_URL, text, 0) == CURLUE_OK) {
        (void)curl_url_get(u, CURLUPART_HOST, &host, 0);
        (void)curl_url_get(u, CURLUPART_PORT, &port, 0);
    }
    bool good = host && host[0] && text[authority - 1] != ':' && (!port || strtol(port, NULL, 10));
    size_t n = good ? strlen(host) : 0, six = good && host[0] == '[';
    if (good)
        snprintf(out, size, "%.*s", (int)(n - 2 * six), host + six);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(u);
    return good;
}

int receiver_url_parse(const char *text, struct receiver_url *out, struct err *e) {
    *out = (struct receiver_url){.tls = strncasecmp(text, "https://", 8) == 0};
    size_t n = strlen(text), begin = out->tls ? 8 : 7;
    if (!out->tls && strncasecmp(text, "http://", 7) != 0)
        return wrong(text, "not a http:// or https:// URL", e);
    if (n >= sizeof out->base)
        return wrong(text, "longer than 1 KB", e);
    if (!clean(text))
        return wrong("URL", "it has a space or another character that is not allowed in a URL", e);
    size_t path = begin + strcspn(text + begin, "/?#");
    if (memchr(text + begin, '@', path - begin))
        return wrong("URL",
                     "user and password are not allowed in it, as other users can see them: use "
                     "--token-file",
                     e);
    if (strpbrk(text, "?#"))
        return wrong(text, "it has a '?' or '#'", e);
    if (path == begin || !take_host(text, path, out->host, sizeof out->host))
        return wrong(text, "no host in it, or an invalid host or port", e);
    out->own_path = path < n && text[n - 1] != '/';
    memcpy(out->base, text, n - (path < n && !out->own_path));
    out->loopback = host_is_loopback(out->host);
    return 0;
}

int receiver_url_make(const struct receiver_url *u, const char *path, const char *query, char *out,
                      size_t size) {
    int n =
        snprintf(out, size, "%s%s%s%s", u->base, u->own_path ? "" : path, *query ? "?" : "", query);
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
