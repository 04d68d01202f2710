/*
 * Files:
 *   serve  HTTP server for profiles: options, start-up and shutdown
 *
 * Profiles by URL: an HTTP server for /prof, /live, /metrics, /api/v1; all of its routes are in
 * server/route.c.
 *
 *      socket ─▶ server (libmicrohttpd, one thread) ─▶ guard ─▶ route ─▶ worker ─▶ handler ─▶ answer
 *
 * What comes in is hostile: sizes are limited before anything is read, each parameter is checked by
 * name, no text of a request becomes a path of the file system or part of a command, and what a
 * JVM says is escaped in what goes out.
 *
 * Context: frontend; serve_run has the calling thread until it is told to stop.
 */
#ifndef JTOP_HTTP_SERVE_SERVE_H
#define JTOP_HTTP_SERVE_SERVE_H

#include "core/session/session.h"

#include <stdbool.h>
#include <stdint.h>

#define SERVE_LISTEN_DEFAULT "127.0.0.1:8071"

struct serve_options {
    const char *listen; /* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT", "PORT"; port 0: any that is
                               free; NULL: SERVE_LISTEN_DEFAULT */
    const char *token_file;         /* 0600; who shows its first line may ask. NULL: none */
    const char *tls_cert, *tls_key; /* PEM files; both or none */
    const char *tls_client_ca;      /* PEM: who shows a certificate of it may ask. NULL: none */
    bool all_jvms;                  /* every JVM is profiled all the time */
    struct session_options session; /* for each of them; and what is not said in a URL */
};

/* Serves until `stop_fd` is readable, then ends what goes on within some seconds. `ready` is told the
 * URL once connections are taken. 0, or -errno with a message: the address (beyond loopback needs a
 * token or a client CA), the files, the port. */
int serve_run(const struct serve_options *o, int stop_fd, void (*ready)(void *arg, const char *url),
              void *arg, struct err *e);

#endif
