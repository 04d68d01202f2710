/*
 * Waits for locks by the second in which they ended, as far back as time and memory allow: for
 * queries about a time span, a thread or a filter.
 *
 *      entry[first] … entry[end - 1]     oldest first; a late wait comes after newer ones
 *
 * In the newest second, equal waits are merged through an index. If that second alone has many
 * entries, the locks and the owners' stacks are no longer told apart in it; when there is no room
 * at all, its further waits are left out.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_HISTORY_LOCK_HISTORY_H
#define JTOP_PROFILE_HISTORY_LOCK_HISTORY_H

#include "core/profile/table/index.h"

#include <stdint.h>

/* Equal waits of one second, or equal steps of chains (struct lock_link) that were found for
 * them. Threads are positions in the thread table. */
struct lock_entry {
    uint64_t second, lock_id;
    uint64_t waited_ns, longest_ns, deadlock_ns; /* deadlock_ns: of steps only */
    uint32_t waits;
    uint32_t class, flags, owner, node; /* as in struct lock_row */
    uint32_t waiter, carrier;           /* carrier: of a virtual thread; otherwise the waiter */
    uint32_t stack;                     /* the waiter's, in the call tree; CALL_ROOT: not known */
    uint32_t next_class, other;         /* as in struct lock_link. LOCK_CLASS_NONE: a wait */
};

struct lock_history {
    struct lock_entry *entry;
    uint32_t first, end, cap;
    uint32_t newest_count; /* number of entries of the newest second */
    uint32_t max;          /* maximum number of entries */
    uint64_t span;         /* number of seconds kept */
    uint64_t newest;       /* the newest second */
    uint64_t gone;         /* waits that ended before this second are no longer kept */
    struct index index;    /* of the entries of the newest second */
};

/* 0, or -ENOMEM: nothing is counted. An entry that is too old to be kept counts as success. */
int lock_history_add(struct lock_history *h, const struct lock_entry *add);
/* Moves the waits of each thread whose row will be reused (`free`) to the thread that `heir`
 * returns for it. */
struct profile;
void lock_history_fold(struct lock_history *h, const struct profile *p,
                       uint32_t (*heir)(const struct profile *p, uint32_t thread));
void lock_history_free(struct lock_history *h);

#endif
