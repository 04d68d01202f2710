/*
 * Waits for Java locks that are not over yet: when each began, and for whom; and which of those
 * that are over are recorded.
 *
 * A thread is in one wait of a kind at a time, and only it touches its entry. A virtual thread may
 * be on another carrier when its wait is over, so waits are kept by the waiting thread, not by its
 * carrier.
 *
 * Context: any thread, no lock, no allocation; opening and closing belong to the agent's thread,
 * with nobody inside.
 */
#ifndef JTOP_AGENT_LOCK_LOCK_WAIT_H
#define JTOP_AGENT_LOCK_LOCK_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOCK_WAIT_ROWS 8192u
#define LOCK_WAIT_WAYS 8u /* keys in a row: a cache line */

/* Who holds a lock. */
struct lock_owner {
    uintptr_t java;      /* JavaThread*, the carrier's of a virtual thread; 0: not known */
    uint32_t tid;        /* its native id */
    uint64_t virtual_id; /* 0: it is no virtual thread */
    uint64_t word;       /* what the lock itself states, see monitor.h; 0: nothing */
};

struct lock_wait {
    uint64_t begin_ns;
    struct lock_owner owner;
    uint32_t ticket; /* of lock_wait_owner.h; 0: its stack was not asked for */
};

struct lock_waits {
    _Atomic uint64_t (*key)[LOCK_WAIT_WAYS]; /* LOCK_WAIT_ROWS, address space; 0: free */
    struct lock_wait (*wait)[LOCK_WAIT_WAYS];
    _Atomic uint32_t entries;
    _Atomic uint64_t waited_ns; /* of all waits that are over */
};

enum lock_wait_kind { LOCK_WAIT_MONITOR = 0, LOCK_WAIT_PARK };

/* Never 0. */
static inline uint64_t lock_wait_key(uint64_t id, bool is_virtual, enum lock_wait_kind kind) {
    return id << 2 | (uint64_t)(kind == LOCK_WAIT_PARK) << 1 | is_virtual;
}

int lock_waits_open(struct lock_waits *w); /* 0 or -errno */
void lock_waits_close(struct lock_waits *w);

/* False: there is no entry. Cheap, and may be asked when it is closed. */
static inline bool lock_waits_any(const struct lock_waits *w) {
    return atomic_load_explicit(&w->entries, memory_order_relaxed) != 0;
}

/* The entry of a wait that begins, with nothing in it; NULL: too many threads wait. */
struct lock_wait *lock_waits_begin(struct lock_waits *w, uint64_t key);
/* Takes it out. False: its beginning was not seen. */
bool lock_waits_end(struct lock_waits *w, uint64_t key, struct lock_wait *out);

/* The ns that a sample of a wait of `waited_ns` stands for, 0: it is not recorded. Waits are laid
 * end to end, and each is recorded for the ends of intervals that lie in it: sums are right however
 * short the single waits. Interval 0 is 1: each wait for itself. */
uint64_t lock_waits_due(struct lock_waits *w, uint64_t interval_ns, uint64_t waited_ns);

#endif
