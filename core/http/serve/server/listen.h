/*
 * Where the server listens: the address on a command line, the socket, and, if the port is taken,
 * the process that has it.
 *
 * Context: frontend, any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_LISTEN_H
#define JTOP_HTTP_SERVE_SERVER_LISTEN_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct listen_at {
    struct sockaddr_storage address;
    socklen_t length;
    uint16_t port; /* in the host's byte order; 0: any free one */
    bool loopback; /* only this machine can reach it */
    bool any;      /* every address of this machine */
};

/* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT" and "PORT" (both on 127.0.0.1); "localhost" is
 * 127.0.0.1 too. No name is looked up. -EINVAL with a message. */
int listen_parse(const char *text, struct listen_at *out, struct err *e);

/* Opens a non-blocking socket that listens there; at->port becomes the actual port. Or -errno with
 * a message that names the process that has the port, as far as that is visible. */
int listen_open(struct listen_at *at, struct err *e);

/* "http://127.0.0.1:8071/"; if it listens on every address, the machine's name is in its place. */
void listen_url(const struct listen_at *at, bool secure, char *out, size_t size);

/* Whether an address is a loopback address of this machine; "::ffff:127.0.0.1" is one, too. */
bool listen_is_loopback(const struct sockaddr *address);

#endif
