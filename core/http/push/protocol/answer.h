/*
 * What a receiver's answer means for the message, and one line about it for people.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_ANSWER_H
#define JTOP_HTTP_PUSH_PROTOCOL_ANSWER_H

#include "core/http/push/protocol/post.h"

enum answer_kind {
    ANSWER_TAKEN,
    ANSWER_AGAIN,   /* not now, or not until something is set right */
    ANSWER_DOUBT,   /* perhaps another time: a few more tries */
    ANSWER_REFUSED, /* never */
};

struct answer {
    enum answer_kind kind;
    char why[400]; /* what follows the receiver's URL; "": all is well. No control characters */
};

/* `p` may be NULL. `bytes`: of the message that went out. */
void answer_judge(const struct post_result *r, const struct push_protocol *p, size_t bytes,
                  struct answer *out);

#endif
