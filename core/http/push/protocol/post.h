/*
 * Tries to hand one message at a time to a receiver (libcurl), over a connection that stays open.
 *
 * Nothing from the environment is used: no proxy variables, no ~/.netrc, no cookies. Redirects are
 * not followed. TLS is 1.2 or later; the receiver's name and certificate are checked.
 *
 * Context: one thread, except for post_wake.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_POST_H
#define JTOP_HTTP_PUSH_PROTOCOL_POST_H

#include "core/base/err.h"
#include "core/http/push/protocol/protocol.h"

#include <stdbool.h>
#include <stdint.h>

#define POST_TIMEOUT_MS 10000
#define POST_BODY_MAX 4096 /* bytes of an answer that are kept */

struct post;

struct post_options {
    const char *ca, *tls_cert, *tls_key; /* PEM files; NULL: the system's, none */
    uint32_t timeout_ms;                 /* 0: POST_TIMEOUT_MS */
};

/* Result of a try. All text is as the receiver sent it. */
struct post_result {
    int curl;        /* CURLcode */
    unsigned status; /* of the answer; 0: there was none, and `error` says why */
    uint32_t retry_after_s;
    char location[256]; /* of a redirect */
    char error[256];
    int os_error; /* errno of the connection, or 0 */
    bool no_cert; /* TLS was set up in this try, and we showed no certificate */
    size_t bytes; /* of body */
    char body[POST_BODY_MAX + 1];
};

int post_new(const struct post_options *o, struct post **out, struct err *e);
/* Begins a try. `authorization`: a whole header, or "". `m` and its body must stay until the try
 * ends. 0 or -ENOMEM. */
int post_begin(struct post *p, const char *url, const char *authorization,
               const struct push_message *m);
bool post_is_under_way(const struct post *p);
/* Continues the try. Waits for its end, for a wake or for `timeout_ms`, also if no try is under
 * way. True: the try has ended, and *out has its result. */
bool post_step(struct post *p, uint32_t timeout_ms, struct post_result *out);
void post_cancel(struct post *p);
/* Ends a wait; if there is none now, the next one. Any thread. */
void post_wake(struct post *p);
void post_free(struct post *p);

#endif
