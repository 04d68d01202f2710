/*
 * The stack of a lock's owner while another thread waits for the lock. A signal makes the owner
 * walk its own stack into a slot. When the wait is over, the waiter reads the slot if the stack is
 * there by then. At most OWNERS_PER_SECOND owners are asked.
 *
 *      FREE ─▶ ASKED ─▶ WALKING ─▶ DONE ─▶ READ ─▶ FREE
 *
 * If the wait ends before the owner begins to walk, the waiter frees the slot. If no slot is free,
 * an old one in state ASKED or DONE is given to another wait.
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
    uintptr_t java;      /* JavaThread* of the owner */
    uint64_t virtual_id; /* the virtual thread that it carries; 0: none */
    uint64_t frame[OWNER_FRAMES];
};

struct lock_owners {
    struct owner_slot *slot; /* OWNER_SLOTS, address space */
    struct sampler *sampler;
    int signo; /* a real-time signal that was unused; 0: none, no owner is asked */
    _Atomic uint64_t next_ns;
    _Atomic uint32_t turn;
};

/* 0 or -errno. If there is no free signal, no owner is asked; that is not an error. */
int lock_owners_open(struct lock_owners *o, struct sampler *s, struct signals *signals,
                     signals_handler *handler);
void lock_owners_close(struct lock_owners *o, struct signals *signals);

/* Whether an owner may be asked now. If true, this counts as asking one. */
bool lock_owners_may_ask(struct lock_owners *o, uint64_t now_ns);
/* Asks the thread with owner->java and owner->tid. Returns a ticket; 0: it cannot be asked. */
uint32_t lock_owners_ask(struct lock_owners *o, const struct lock_owner *owner);

/* Returns the answer to the ticket; the caller must give it back. NULL: there is no answer, and
 * there will be none. */
struct owner_slot *lock_owners_take(struct lock_owners *o, uint32_t ticket);
void lock_owners_give_back(struct owner_slot *slot);

/* The signal handler's part, in the owner. */
void lock_owners_handle(struct lock_owners *o, const siginfo_t *info, void *context);

#endif
