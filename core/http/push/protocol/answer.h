/*
 * What a receiver's answer means for the message, and one line about it for the user.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_ANSWER_H
#define JTOP_HTTP_PUSH_PROTOCOL_ANSWER_H

#include "core/http/push/protocol/post.h"

enum answer_kind {
    ANSWER_TAKEN,
    ANSWER_AGAIN,   /* not now, or not before something is fixed */
    ANSWER_DOUBT,   /* perhaps another time: a few more tries */
    ANSWER_REFUSED, /* never */
};

struct answer {
    enum answer_kind kind;
    char why[400]; /* the text after the receiver's URL; "": all is well. No control characters */
};

/* `p` may be NULL. `bytes`: size of the message that was sent. */
void answer_judge(const struct post_result *r, const struct push_protocol *p, size_t bytes,
                  struct answer *out);

#endif
