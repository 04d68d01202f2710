/*
 * Queue of messages from the threads that make them to the sender's thread.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_PUSH_INBOX_H
#define JTOP_HTTP_PUSH_INBOX_H

#include "core/http/push/protocol/protocol.h"

#include <pthread.h>

/* A full inbox means that the thread is stuck on a slow disk: new messages are lost */
#define INBOX_MESSAGES 4096
#define INBOX_BYTES (16u << 20)

struct inbox {
    pthread_mutex_t lock;
    struct push_message **item; /* in order */
    uint32_t count, cap;
    uint64_t bytes;
};

void inbox_init(struct inbox *b);
/* Takes over `m`. 0, or -ENOMEM: then `m` was freed. */
int inbox_put(struct inbox *b, struct push_message *m);
/* Takes all messages, in order: the caller owns *out and what is in it. Returns how many. */
uint32_t inbox_take(struct inbox *b, struct push_message ***out);
void inbox_free(struct inbox *b);

#endif
