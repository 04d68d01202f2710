/*
 * Files:
 *   serve  HTTP server for profiles: options, start-up and shutdown
 *
 * Profiles by URL: an HTTP server for /prof, /live, /metrics, /api/v1. All of its routes are in
 * server/route.c.
 *
 *     socket ─▶ server (libmicrohttpd, one thread) ─▶ guard ─▶ route ─▶ worker ─▶ handler ─▶ answer
 *
 * Requests are treated as hostile: sizes are limited before anything is read, each parameter is
 * checked by name, and no text of a request becomes a path of the file system or part of a command.
 * Text from a JVM is escaped in answers.
 *
 * Context: frontend; serve_run blocks the calling thread until it is told to stop.
 */
#ifndef JTOP_HTTP_SERVE_SERVE_H
#define JTOP_HTTP_SERVE_SERVE_H

#include "core/session/session.h"

#include <stdbool.h>
#include <stdint.h>

#define SERVE_LISTEN_DEFAULT "127.0.0.1:8071"

struct serve_options {
    const char *listen; /* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT", "PORT"; port 0: any free one;
                           NULL: SERVE_LISTEN_DEFAULT */
    const char *token_file;         /* 0600; its first line lets a client in. NULL: none */
    const char *tls_cert, *tls_key; /* PEM files; both or none */
    const char *tls_client_ca;      /* PEM; its certificates let a client in. NULL: none */
    bool all_jvms;                  /* every JVM is profiled all the time */
    const char
        *source_path; /* directories and jars with sources, with ':' between them; NULL: none */
    struct session_options session; /* of each profile; a request's URL may override it */
};

/* Serves until `stop_fd` is readable, then ends what is going on within some seconds. `ready` gets
 * the URL as soon as connections are accepted. 0, or -errno with a message about the address (one
 * beyond loopback needs a token or a client CA), the files or the port. */
int serve_run(const struct serve_options *o, int stop_fd, void (*ready)(void *arg, const char *url),
              void *arg, struct err *e);

#endif
