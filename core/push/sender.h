/*
 * Sends messages to one receiver, in order, in a thread of its own: tries again with backoff, keeps
 * what waits within bounds, in memory and on disk, and says what goes wrong, once each.
 *
 * Of the answers: 2xx taken; 429, 502, 503, 504 and no connection: tried again, Retry-After is
 * honoured; other 4xx and 5xx: given up and said; a redirect is an error (a token must not follow
 * it); a certificate that is not trusted is one.
 *
 * Context: sender_put from any thread; it does not wait for the receiver.
 */
#ifndef JTOP_PUSH_SENDER_H
#define JTOP_PUSH_SENDER_H

#include "core/base/err.h"
#include "core/push/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct sender;

struct sender_options {
    const char *to;                       /* http:// or https:// URL, with or without a path */
    const struct push_protocol *protocol; /* NULL: by the URL, else otlp */
    const char
        *token_file; /* its first line goes out as "Authorization: Bearer …"; read again when it
                               changes; not over http:// but to loopback. NULL: none */
    const char *ca;  /* PEM file of authorities; NULL: the system's */
    const char *tls_cert, *tls_key; /* our own certificate; NULL: none */
    const char *spool;              /* a directory of ours; NULL: in memory only */
    uint64_t spool_bytes;           /* at most, on disk (and in memory without one); 0: 64 MiB */
    uint32_t timeout_ms;            /* of one try; 0: 10 s */
    void (*say)(void *arg, const char *line); /* for people; from the sender's thread */
    void *say_arg;
};

struct sender_status {
    uint64_t sent, sent_bytes; /* messages taken by the receiver */
    uint64_t refused;          /* given up because the receiver does not want them */
    uint64_t lost;             /* given up because there was no room */
    uint64_t retries;
    uint64_t waiting, waiting_bytes;
    char trouble[256]; /* what is wrong now; empty: nothing */
};

/* Checks the URL and the files, takes up what the spool has from earlier. */
int sender_new(const struct sender_options *o, struct sender **out, struct err *e);
/* Takes over the body; 0, or -ENOMEM (it is lost, and counted as such). */
int sender_put(struct sender *s, struct push_message *m);
void sender_status(struct sender *s, struct sender_status *out);
/* Sends what is left for at most `patience_ms`; what is not sent stays in the spool. NULL is fine. */
void sender_free(struct sender *s, uint32_t patience_ms);

#endif
