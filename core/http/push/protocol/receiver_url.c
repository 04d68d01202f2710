#include "core/http/push/protocol/receiver_url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int wrong(const char *text, const char *what, struct err *e) {
    return err_set(e, EINVAL,
                   "--to %.200s: %s; it is like http://127.0.0.1:4318 or https://HOST/PATH", text,
                   what);
}

/* Printable, without space and what no URL has: nothing that could end a line or a header. */
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

/* Copies the host to `out`; returns what is behind it, or NULL. */
static const char *take_host(const char *at, char *out, size_t size) {
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    bool six = *at == '[';
    at += six;
    size_t n = strspn(at, six ? "0123456789abcdefABCDEF:." : name);
    struct in6_addr address;
    if (n == 0 || n >= size)
        return NULL;
    memcpy(out, at, n);
    out[n] = '\0';
    if (!six)
        return at + n;
    return at[n] == ']' && inet_pton(AF_INET6, out, &address) == 1 ? at + n + 1 : NULL;
}

/* Skips ":PORT"; NULL where that is no port. */
static const char *skip_port(const char *at) {
    if (*at != ':')
        return at;
    size_t n = strspn(++at, "0123456789");
    long port = n > 0 && n < 6 ? strtol(at, NULL, 10) : 0;
    return port >= 1 && port <= 65535 ? at + n : NULL;
}

int receiver_url_parse(const char *text, struct receiver_url *out, struct err *e) {
    *out = (struct receiver_url){0};
    const char *at = text;
    if (strncasecmp(at, "https://", 8) == 0)
        at += 8, out->tls = true;
    else if (strncasecmp(at, "http://", 7) == 0)
        at += 7;
    else
        return wrong(text, "not a http:// or https:// URL", e);
    if (strlen(text) >= sizeof out->base)
        return wrong(text, "longer than 1 KB", e);
    if (!clean(text))
        return wrong("URL", "it has a space or another character that belongs in no URL", e);
    if (memchr(at, '@', strcspn(at, "/?#")))
        return wrong("URL",
                     "user and password do not go into it, where others see them: "
                     "--token-file has a secret",
                     e);
    if (strpbrk(at, "?#"))
        return wrong(text, "it has a '?' or '#'", e);
    at = take_host(at, out->host, sizeof out->host);
    if (!at)
        return wrong(text, "no host in it, or none that can be", e);
    at = skip_port(at);
    if (!at || (*at && *at != '/'))
        return wrong(text, "what follows the host is neither a port nor a path", e);
    size_t n = strlen(text);
    out->own_path = *at && text[n - 1] != '/';
    if (*at && !out->own_path)
        n--;
    memcpy(out->base, text, n);
    out->base[n] = '\0';
    out->loopback = host_is_loopback(out->host);
    return 0;
}

int receiver_url_make(const struct receiver_url *u, const char *path, const char *query, char *out,
                      size_t size) {
    int n =
        snprintf(out, size, "%s%s%s%s", u->base, u->own_path ? "" : path, *query ? "?" : "", query);
    return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}
