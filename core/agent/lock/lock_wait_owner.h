/*
 * What the owner of a lock is doing while another thread waits: a signal makes it walk its own
 * stack into one of a few slots, where the waiter finds it when the wait is over, if it is there by
 * then. No more than OWNERS_PER_SECOND are asked.
 *
 *      FREE ─▶ ASKED ─▶ WALKING ─▶ DONE ─▶ READ ─▶ FREE
 *                 waiter: over before ─▶ FREE; an old ASKED or DONE may be given to another wait
 *
 * Context: ask and take in any thread; handle in a signal handler; the rest belongs to the agent's
 * thread. All between sampler_enter and sampler_leave.
 */
#ifndef JTOP_AGENT_LOCK_LOCK_WAIT_OWNER_H
#define JTOP_AGENT_LOCK_LOCK_WAIT_OWNER_H

#include "core/agent/lock/lock_wait.h"
#include "core/agent/process/signals.h"
#include "core/agent/sampler.h"

#define OWNERS_PER_SECOND 20u
#define OWNER_SLOTS 128u
#define OWNER_FRAMES 256u

struct owner_slot {
    _Atomic uint32_t state; /* see the .c file */
    uint32_t frames;
    uint32_t tid;
    uintptr_t java;      /* JavaThread* that is asked … */
    uint64_t virtual_id; /* and what it carries; 0: no virtual thread */
    uint64_t frame[OWNER_FRAMES];
};

struct lock_owners {
    struct owner_slot *slot; /* OWNER_SLOTS, address space */
    struct sampler *sampler;
    int signo; /* a real-time signal nobody uses; 0: none, nobody is asked */
    _Atomic uint64_t next_ns;
    _Atomic uint32_t turn;
};

/* 0 or -errno; without a free signal nobody is asked, which is no error. */
int lock_owners_open(struct lock_owners *o, struct sampler *s, struct signals *signals,
                     signals_handler *handler);
void lock_owners_close(struct lock_owners *o, struct signals *signals);

/* Whether one may be asked now; counts as asking. */
bool lock_owners_may_ask(struct lock_owners *o, uint64_t now_ns);
/* Asks the thread, which has owner->java and ->tid. A ticket, 0: it cannot be asked. */
uint32_t lock_owners_ask(struct lock_owners *o, const struct lock_owner *owner);

/* The answer to the ticket, to be given back; NULL: there is none, and there will be none. */
struct owner_slot *lock_owners_take(struct lock_owners *o, uint32_t ticket);
void lock_owners_give_back(struct owner_slot *slot);

/* In the owner. */
void lock_owners_handle(struct lock_owners *o, const siginfo_t *info, void *context);

#endif
