/*
 * Waits for locks: which locks were waited for, and who held them.
 *
 *      class   (class of the lock)              which locks, which waiters: counted by small sets
 *        ▲
 *      row     (class, flags, owner, stack)     number of waits, time waited
 *      link    (class, owner, waiter)           who waited for whom
 *              (class, owner, class, owner)     the owner waited, too, at that time: a chain
 *
 * A wait is reported when it is over, and an owner's wait is reported before the waits of the
 * threads that waited for the owner. So when a waiter's wait arrives, the owner's waits are among
 * the recent ones. The time in which both overlap is time in which none of these threads made
 * progress.
 *
 * The profile's table has all waits since the beginning. lock_history keeps the recent ones one by
 * one: a query about a time span, a thread or a filter makes a table of those that it wants.
 *
 * Owners' stacks are in a separate call tree without weight. In the profile's tree they would be
 * nodes in which no thread was sampled.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_LOCK_TABLE_H
#define JTOP_PROFILE_TABLE_LOCK_TABLE_H

#include "core/profile/table/call_tree.h"
#include "core/profile/table/id_set.h"
#include "core/profile/table/index.h"

#define LOCK_OWNER_NONE UINT32_MAX
#define LOCK_OWNER_FRAMES 512u /* number of frames kept of an owner's stack, from the leaf */
/* Maximum number of different locks, and of different waiters, counted for a class */
#define LOCK_IDS_MAX 1000u

struct lock_class {
    uint32_t method; /* METHOD_CLASS */
    struct id_set locks, waiters;
};

struct lock_row {
    uint32_t class; /* index */
    uint32_t flags;
    uint32_t owner; /* index in the thread table; LOCK_OWNER_NONE: unknown */
    uint32_t node;  /* in `owners`; CALL_ROOT: no stack */
    uint64_t waits, waited_ns, longest_ns;
};

struct lock_link {
    uint32_t class, owner;      /* class: index; owner: as in a row */
    uint32_t next_class, other; /* the class that the owner waited for, and who held that lock; or
                                   LOCK_CLASS_NONE and the thread that waited for the owner */
    uint64_t waits, waited_ns;  /* the time that both waits have in common */
    uint64_t deadlock_ns;       /* the part of that time that all waits of a circle have
                                   in common */
};

#define LOCK_CLASS_NONE UINT32_MAX
#define LOCK_RECENT_SETS 256u
#define LOCK_RECENT_WAYS 16u

/* A recent wait of a thread; stored by the waiter's index. */
struct lock_recent {
    uint32_t waiter, class, owner;
    uint64_t begin_ns, end_ns; /* end 0: unused */
};

struct lock_table {
    struct lock_row *row;
    uint32_t rows, row_cap;
    struct lock_class *class;
    uint32_t classes, class_cap;
    struct lock_link *link;
    uint32_t links, link_cap;
    struct lock_recent (*recent)[LOCK_RECENT_WAYS]; /* NULL: not needed yet */
    uint8_t recent_turn[LOCK_RECENT_SETS];
    struct index row_index, class_index, link_index;
    struct call_tree owners;
    uint32_t ids;  /* number of ids in all sets */
    uint32_t rest; /* 1 + the class for waits that there is no room for; 0: not needed yet */
};

struct profile;
struct lock_entry;

/* Begins a table with the same classes as `of`, for lock_table_count. 0 or -ENOMEM. */
int lock_table_begin(struct lock_table *t, const struct lock_table *of);
/* Counts an entry of the profile's lock_history in such a table. 0 or -ENOMEM. */
int lock_table_count(struct lock_table *t, const struct profile *p, const struct lock_entry *e);

/* Moves the waits of owners that are marked as free to their heirs. Cannot fail. */
void lock_table_fold(struct profile *p, uint32_t (*heir)(const struct profile *p, uint32_t thread));
void lock_table_free(struct lock_table *t);

#endif
