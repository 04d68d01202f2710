#include "core/http/push/inbox.h"
#include "core/http/push/protocol/message.h"

#include <errno.h>
#include <stdlib.h>

void inbox_init(struct inbox *b) {
    *b = (struct inbox){0};
    pthread_mutex_init(&b->lock, NULL);
}

static int append(struct inbox *b, struct push_message *m) {
    if (b->count >= INBOX_MESSAGES || (b->count && b->bytes > INBOX_BYTES))
        return -ENOMEM;
    if (b->count == b->cap) {
        uint32_t cap = b->cap ? b->cap * 2 : 16;
        struct push_message **more = reallocarray(b->item, cap, sizeof(void *));
        if (!more)
            return -ENOMEM;
        b->item = more;
        b->cap = cap;
    }
    b->item[b->count++] = m;
    b->bytes += message_bytes(m);
    return 0;
}

int inbox_put(struct inbox *b, struct push_message *m) {
    pthread_mutex_lock(&b->lock);
    int r = append(b, m);
    pthread_mutex_unlock(&b->lock);
    if (r != 0)
        message_free(m);
    return r;
}

uint32_t inbox_take(struct inbox *b, struct push_message ***out) {
    pthread_mutex_lock(&b->lock);
    uint32_t count = b->count;
    *out = b->item;
    b->item = NULL;
    b->count = b->cap = 0;
    b->bytes = 0;
    pthread_mutex_unlock(&b->lock);
    return count;
}

void inbox_free(struct inbox *b) {
    for (uint32_t i = 0; i < b->count; i++)
        message_free(b->item[i]);
    free(b->item);
    pthread_mutex_destroy(&b->lock);
}
