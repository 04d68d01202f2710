/*
 * Where the server listens: the address out of a command line, the socket, and who has the port
 * where it cannot be had.
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
    uint16_t port; /* in the host's order; 0: any that is free */
    bool loopback; /* only this machine can reach it */
    bool any;      /* every address of this machine */
};

/* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT" and "PORT" (both on 127.0.0.1); "localhost" is one.
 * No name is looked up. -EINVAL with a message. */
int listen_parse(const char *text, struct listen_at *out, struct err *e);

/* A socket that listens there, non-blocking; at->port becomes the one that was got. Or -errno with a
 * message that says who has the port, as far as that can be seen. */
int listen_open(struct listen_at *at, struct err *e);

/* "http://127.0.0.1:8071/"; with every address, the machine's name in its place. */
void listen_url(const struct listen_at *at, bool secure, char *out, size_t size);

/* Whether an address is one of this machine's own loopback; "::ffff:127.0.0.1", too. */
bool listen_is_loopback(const struct sockaddr *address);

#endif
