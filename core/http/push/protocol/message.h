/*
 * Messages (protocol.h) on their way. From here on, `gzip` means that the body is compressed.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_MESSAGE_H
#define JTOP_HTTP_PUSH_PROTOCOL_MESSAGE_H

#include "core/http/push/protocol/protocol.h"

#define MESSAGE_BODY_MAX (64u << 20)

/* Whether the message can be put into a request as it is: it has nothing that ends a line or a
 * header, all strings are terminated, and the body is at most MESSAGE_BODY_MAX. */
bool message_is_sound(const struct push_message *m);

/* Returns a copy that takes over the body, compressed if `m` wants that; `m` is left empty. NULL:
 * no memory; `m` is unchanged then, but its body may be compressed. */
struct push_message *message_take(struct push_message *m);
void message_free(struct push_message *m);

/* Bytes of memory that it uses. */
size_t message_bytes(const struct push_message *m);

#endif
