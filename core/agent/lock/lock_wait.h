/*
 * Waits for Java locks in progress: when each began, and the lock's owner. Also decides which
 * finished waits are recorded.
 *
 * A thread has at most one wait of each kind, and only this thread uses its entry. A virtual thread
 * may be on another carrier when its wait ends, so the key of an entry is the waiting thread, not
 * the carrier.
 *
 * Context: any thread, no lock, no allocation. Only the agent's thread may open and close, and only
 * while no other thread is in one of the other functions.
 */
#ifndef JTOP_AGENT_LOCK_LOCK_WAIT_H
#define JTOP_AGENT_LOCK_LOCK_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOCK_WAIT_ROWS 8192u
#define LOCK_WAIT_WAYS 8u /* keys in a row: a cache line */

/* The owner of a lock. */
struct lock_owner {
    uintptr_t java;      /* JavaThread*, for a virtual thread its carrier's; 0: not known */
    uint32_t tid;        /* its native id */
    uint64_t virtual_id; /* 0: not a virtual thread */
    uint64_t word;       /* the owner as the lock stores it, see monitor.h; 0: none */
};

struct lock_wait {
    uint64_t begin_ns;
    struct lock_owner owner;
    uint32_t ticket; /* of lock_wait_owner.h; 0: the stack was not requested */
};

struct lock_waits {
    _Atomic uint64_t (*key)[LOCK_WAIT_WAYS]; /* LOCK_WAIT_ROWS, address space; 0: free */
    struct lock_wait (*wait)[LOCK_WAIT_WAYS];
    _Atomic uint32_t entries;
    _Atomic uint64_t waited_ns; /* sum of all finished waits */
};

enum lock_wait_kind { LOCK_WAIT_MONITOR = 0, LOCK_WAIT_PARK };

/* Never 0. */
static inline uint64_t lock_wait_key(uint64_t id, bool is_virtual, enum lock_wait_kind kind) {
    return id << 2 | (uint64_t)(kind == LOCK_WAIT_PARK) << 1 | is_virtual;
}

int lock_waits_open(struct lock_waits *w); /* 0 or -errno */
void lock_waits_close(struct lock_waits *w);

/* Whether there are any entries. Cheap; may also be called after lock_waits_close. */
static inline bool lock_waits_any(const struct lock_waits *w) {
    return atomic_load_explicit(&w->entries, memory_order_relaxed) != 0;
}

/* Returns an empty entry for a wait that begins; NULL: too many threads wait. */
struct lock_wait *lock_waits_begin(struct lock_waits *w, uint64_t key);
/* Removes the entry, and copies it to *out. False: the wait's beginning was not seen. */
bool lock_waits_end(struct lock_waits *w, uint64_t key, struct lock_wait *out);

/* Returns the weight in ns of the sample for a wait of `waited_ns`; 0: it is not recorded. All
 * waits are added up. If a wait makes the sum pass n multiples of the interval, its weight is n
 * intervals. So sums are correct even if single waits are short. An interval of 0 counts as 1: each
 * wait is recorded. */
uint64_t lock_waits_due(struct lock_waits *w, uint64_t interval_ns, uint64_t waited_ns);

#endif
