/*
 * Messages on their way from those that make them to the sender's thread.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_PUSH_INBOX_H
#define JTOP_HTTP_PUSH_INBOX_H

#include "core/http/push/protocol/protocol.h"

#include <pthread.h>

#define INBOX_MESSAGES 4096 /* the thread is stuck on a slow disk: what comes now is lost */
#define INBOX_BYTES (16u << 20)

struct inbox {
    pthread_mutex_t lock;
    struct push_message **item; /* in order */
    uint32_t count, cap;
    uint64_t bytes;
};

void inbox_init(struct inbox *b);
/* Takes over `m`: 0, or -ENOMEM, and it is freed. */
int inbox_put(struct inbox *b, struct push_message *m);
/* All there are, in order: *out and what is in it are the caller's. Returns how many. */
uint32_t inbox_take(struct inbox *b, struct push_message ***out);
void inbox_free(struct inbox *b);

#endif
