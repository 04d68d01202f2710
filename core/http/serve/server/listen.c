#include "core/http/serve/server/listen.h"
#include "core/http/serve/server/listen_holder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 128

static bool is_number(const char *text) {
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Splits "ADDRESS:PORT" in two. 0, or -EINVAL. */
static int split(const char *text, char *host, size_t size, const char **port) {
    const char *begin = text, *end, *colon = strrchr(text, ':');
    *port = colon ? colon + 1 : text;
    if (!colon) { /* only a port */
        begin = end = text;
        if (!is_number(text))
            return -EINVAL;
    } else if (*text == '[') {
        begin++;
        end = strchr(text, ']');
        if (!end || end + 1 != colon)
            return -EINVAL;
    } else {
        end = colon;
        if (memchr(text, ':', (size_t)(colon - text))) /* an IPv6 address without its brackets */
            return -EINVAL;
    }
    size_t length = (size_t)(end - begin);
    if (length >= size)
        return -EINVAL;
    memcpy(host, begin, length);
    host[length] = '\0';
    return 0;
}

bool listen_is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6)
        return false;
    const struct sockaddr_in6 *in6 = (const void *)address;
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) && in6->sin6_addr.s6_addr[12] == 127);
}

/* Parses a numeric address. 0, or -EINVAL. */
static int fill(struct listen_at *at, const char *host) {
    if (!*host || strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    struct sockaddr_in *in = (void *)&at->address;
    struct sockaddr_in6 *in6 = (void *)&at->address;
    if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons(at->port);
        at->length = sizeof *in;
        at->any = in->sin_addr.s_addr == htonl(INADDR_ANY);
    } else if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(at->port);
        at->length = sizeof *in6;
        at->any = IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
    } else {
        return -EINVAL;
    }
    at->loopback = listen_is_loopback((const struct sockaddr *)&at->address);
    return 0;
}

int listen_parse(const char *text, struct listen_at *out, struct err *e) {
    char host[64];
    const char *port = NULL;
    memset(out, 0, sizeof *out);
    if (split(text, host, sizeof host, &port) < 0 || !is_number(port) || strlen(port) > 5 ||
        strtoul(port, NULL, 10) > UINT16_MAX)
        return err_set(e, EINVAL,
                       "--listen %.100s: not an address and a port, as in 127.0.0.1:8071, "
                       "[::1]:8071 or :8071",
                       text);
    out->port = (uint16_t)strtoul(port, NULL, 10);
    if (fill(out, host) < 0)
        return err_set(e, EINVAL,
                       "--listen %.100s: \"%.60s\" is not a numeric address: names are not looked "
                       "up. 127.0.0.1 is this machine only, 0.0.0.0 all its addresses",
                       text, host);
    return 0;
}

static void figures(const struct listen_at *at, char out[INET6_ADDRSTRLEN]) {
    const struct sockaddr_in *in = (const void *)&at->address;
    const struct sockaddr_in6 *in6 = (const void *)&at->address;
    const void *bytes = in->sin_family == AF_INET ? (const void *)&in->sin_addr : &in6->sin6_addr;
    if (!inet_ntop(in->sin_family, bytes, out, INET6_ADDRSTRLEN))
        out[0] = '\0';
}

static int refuse(const struct listen_at *at, int code, struct err *e) {
    char host[INET6_ADDRSTRLEN], holder[128];
    figures(at, host);
    if (code == EADDRINUSE && listen_holder(at->port, holder, sizeof holder))
        return err_set(e, code,
                       "port %u of %s is taken by %s: use --listen with another port, or with port "
                       "0 for any free one",
                       at->port, host, holder);
    if (code == EADDRINUSE)
        return err_set(e, code,
                       "port %u of %s is taken (ss -ltnp as root shows who): use --listen with "
                       "another port, or with port 0 for any free one",
                       at->port, host);
    if (code == EADDRNOTAVAIL)
        return err_set(e, code, "%s is not an address of this machine (ip address lists them)",
                       host);
    if (code == EACCES)
        return err_set(e, code,
                       "port %u may not be used by uid %u: use one above 1023, or run with "
                       "CAP_NET_BIND_SERVICE",
                       at->port, (unsigned)geteuid());
    return err_set(e, code, "cannot listen on port %u of %s: %s", at->port, host, strerror(code));
}

int listen_open(struct listen_at *at, struct err *e) {
    struct sockaddr *address = (struct sockaddr *)&at->address;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    if (fd < 0)
        return refuse(at, errno, e);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, address, at->length) < 0 || listen(fd, BACKLOG) < 0) {
        int code = errno;
        close(fd);
        return refuse(at, code, e);
    }
    socklen_t length = sizeof at->address;
    if (getsockname(fd, address, &length) == 0) /* the port is at the same offset in both */
        at->port = ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
    return fd;
}

void listen_url(const struct listen_at *at, bool secure, char *out, size_t size) {
    char host[INET6_ADDRSTRLEN + 64];
    figures(at, host);
    if (at->any && gethostname(host, sizeof host - 1) < 0)
        figures(at, host);
    host[sizeof host - 1] = '\0';
    bool brackets = strchr(host, ':') != NULL;
    snprintf(out, size, "%s://%s%s%s:%u/", secure ? "https" : "http", brackets ? "[" : "", host,
             brackets ? "]" : "", at->port);
}
