/*
 * Messages (protocol.h) on their way: from here on `gzip` says that the body is compressed.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_MESSAGE_H
#define JTOP_HTTP_PUSH_PROTOCOL_MESSAGE_H

#include "core/http/push/protocol/protocol.h"

#define MESSAGE_BODY_MAX (64u << 20)

/* Whether it can be put into a request as it is: nothing in it that ends a line or a header, no
 * string without an end, the body not beyond MESSAGE_BODY_MAX. */
bool message_is_sound(const struct push_message *m);

/* A copy that takes over the body, compressed if `m` wants that; `m` is left empty. NULL: no memory,
 * and `m` is as it was but for the body perhaps being compressed. */
struct push_message *message_take(struct push_message *m);
void message_free(struct push_message *m);

/* Memory that it takes. */
size_t message_bytes(const struct push_message *m);

#endif
