/*
 * Sends messages to one receiver, in order, in a thread of its own: tries again with backoff, keeps
 * what waits within bounds, in memory and on disk, and says what goes wrong, once each.
 *
 * Of the answers: 2xx taken; 408, 425, 429, 502, 503, 504 and no connection: tried again, Retry-After
 * is honoured. What somebody can set right is tried again as well, and said: a redirect (a token must
 * not follow it), 401, 403, 404, 405, 407, a certificate that is not trusted. Other 4xx and 5xx: the
 * message is given up, that is said, and the next one goes; where the protocol's judge says that it
 * is worth it, after a few tries.
 *
 * A message waits in memory while all is well. As soon as something is not, all that wait go to the
 * spool (spool.h), and what it has is sent first after a restart.
 *
 * Context: sender_put and sender_status from any thread; they do not wait for the receiver.
 */
#ifndef JTOP_HTTP_PUSH_SENDER_H
#define JTOP_HTTP_PUSH_SENDER_H

#include "core/base/err.h"
#include "core/http/push/protocol/protocol.h"

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
    uint64_t lost;             /* given up because there was no room, or no time at the end */
    uint64_t retries;
    uint64_t waiting, waiting_bytes;
    char trouble[256]; /* what is wrong now; empty: nothing */
};

/* Checks the URL and the files, takes up what the spool has from earlier. */
int sender_new(const struct sender_options *o, struct sender **out, struct err *e);
/* Takes over the body; 0, or -ENOMEM, -EINVAL (not a message to send): it is lost, and counted. */
int sender_put(struct sender *s, struct push_message *m);
void sender_status(struct sender *s, struct sender_status *out);
/* Sends what is left for at most `patience_ms`; what is not sent stays in the spool. NULL is fine. */
void sender_free(struct sender *s, uint32_t patience_ms);

#endif
