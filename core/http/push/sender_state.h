/* The inside of sender.h. `delivery` is the thread's own; the rest says who may touch it. */
#ifndef JTOP_PUSH_SENDER_STATE_H
#define JTOP_PUSH_SENDER_STATE_H

#include "core/http/push/backoff.h"
#include "core/http/push/inbox.h"
#include "core/http/push/protocol/answer.h"
#include "core/http/push/protocol/bearer.h"
#include "core/http/push/protocol/receiver_url.h"
#include "core/http/push/protocol/trouble.h"
#include "core/http/push/sender.h"
#include "core/http/push/spool/spool.h"

#include <stdatomic.h>

/* Of the sender's thread, once it runs. */
struct delivery {
    struct spool *spool;
    struct bearer bearer;
    struct backoff backoff;
    struct trouble receiver, disk;
    uint64_t next_try_ms, try_since_ms, next_save_ms;
    uint64_t lost_before, refused_before; /* when the receiver's trouble began */
    uint64_t lost_said;
    unsigned doubts; /* tries of the oldest message that the receiver might have taken */
    bool held_up;    /* by the receiver: all that waits goes to the disk */
};

struct sender {
    const struct push_protocol *protocol;
    char protocol_name[64], spool_dir[256];
    struct receiver_url url;
    struct post *post; /* the thread's, but for post_wake */
    struct inbox inbox;
    struct delivery d;
    pthread_t thread;
    _Atomic bool closing;
    _Atomic uint64_t deadline_ms; /* once closing */
    _Atomic uint64_t rejected;    /* by sender_put itself */
    _Atomic uint64_t in_hand;     /* put, and not yet among what `status` says waits */
    pthread_mutex_t lock;         /* of `status` */
    struct sender_status status;
};

/* The thread: until `closing`, and then until all is sent or the deadline is there. */
void *delivery_run(void *sender);

#endif
