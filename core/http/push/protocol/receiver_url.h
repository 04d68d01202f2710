/*
 * The URL of a receiver, checked once: http or https, a host, perhaps a port and a path.
 *
 *   http://127.0.0.1:4318              the protocol's own path is appended
 *   https://collector/prefix/          the same, after the prefix: it ends in '/'
 *   https://collector/v1/whatever      a path of its own: taken as it is
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_RECEIVER_URL_H
#define JTOP_HTTP_PUSH_PROTOCOL_RECEIVER_URL_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define RECEIVER_URL_MAX 1024

struct receiver_url {
    char base[RECEIVER_URL_MAX]; /* without a '/' at its end, unless that is in its own path */
    char host[256];              /* without the brackets of an IPv6 address */
    bool tls;                    /* https */
    bool loopback;               /* a name or address that never is another machine */
    bool own_path;               /* nothing is appended to it */
};

/* 0, or -EINVAL with a message that says what is wrong. */
int receiver_url_parse(const char *text, struct receiver_url *out, struct err *e);

/* Makes the URL of a message: `path` begins with '/', `query` may be empty. -ENAMETOOLONG: no
 * room. */
int receiver_url_make(const struct receiver_url *u, const char *path, const char *query, char *out,
                      size_t size);

#endif
