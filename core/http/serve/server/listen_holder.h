/*
 * Which process listens on a port.
 *
 * Context: frontend, any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_LISTEN_HOLDER_H
#define JTOP_HTTP_SERVE_SERVER_LISTEN_HOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "process 123 (java)", printable. False: not visible (another user's, another namespace's). */
bool listen_holder(uint16_t port, char *out, size_t size);

#endif
