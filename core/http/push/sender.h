/*
 * Sends messages to one receiver, in order, in its own thread. It retries with backoff, keeps
 * waiting messages within limits in memory and on disk, and reports each problem once.
 *
 * The receiver's answers: 2xx: the message is taken. 408, 425, 429, 502, 503, 504 and no
 * connection: the message is retried; Retry-After is honoured. Problems that a user can fix are
 * retried too, and reported: a redirect (a token must not follow it), 401, 403, 404, 405, 407, a
 * certificate that is not trusted. Other 4xx and 5xx: the message is dropped, that is reported, and
 * the next one is sent. If the protocol judges that retries are worthwhile, the message is dropped
 * only after a few tries.
 *
 * A message waits in memory as long as all is well. As soon as there is a problem, all waiting
 * messages go to the spool (spool.h). After a restart, the messages in the spool are sent first.
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
    const struct push_protocol *protocol; /* NULL: chosen by the URL, else otlp */
    const char
        *token_file; /* its first line is sent as "Authorization: Bearer …", and is read again when
                        it changes; not sent over http:// except to loopback. NULL: none */
    const char *ca;  /* PEM file of trusted authorities; NULL: the system's */
    const char *tls_cert, *tls_key; /* our own certificate; NULL: none */
    const char *spool;              /* our own directory; NULL: in memory only */
    uint64_t spool_bytes;           /* limit on disk (without `spool`, in memory); 0: 64 MiB */
    uint32_t timeout_ms;            /* of one try; 0: 10 s */
    void (*say)(void *arg, const char *line); /* reports to the user; from the sender's thread */
    void *say_arg;
};

struct sender_status {
    uint64_t sent, sent_bytes; /* messages taken by the receiver */
    uint64_t refused;          /* dropped because the receiver does not want them */
    uint64_t lost;             /* dropped because there was no room, or no time at the end */
    uint64_t retries;
    uint64_t waiting, waiting_bytes;
    char trouble[256]; /* what is wrong now; empty: nothing */
};

/* Checks the URL and the files, and reads what the spool has from earlier. */
int sender_new(const struct sender_options *o, struct sender **out, struct err *e);
/* Takes over the body. 0; or -ENOMEM, -EINVAL (not a valid message): it is lost, and counted. */
int sender_put(struct sender *s, struct push_message *m);
void sender_status(struct sender *s, struct sender_status *out);
/* Sends what is left for at most `patience_ms`; the rest stays in the spool. NULL is fine. */
void sender_free(struct sender *s, uint32_t patience_ms);

#endif
