/*
 * Waits for locks: what was waited for, and who held it.
 *
 *      class   (class of the lock)              which locks, which waiters: counted by small sets
 *        ▲
 *      row     (class, flags, owner, stack)     waits, time waited
 *      link    (class, owner, waiter)           who waited for whom
 *              (class, owner, class, owner)     the owner waited itself meanwhile: a chain
 *
 * Waits are told of when they are over, an owner's before those of who waited for it. So an owner's
 * waits are among the last ones when its waiters' come, and what they have in common with those is
 * time in which nobody of them got on.
 *
 * Owners' stacks are in a call tree of their own, which carries no weight: in the profile's tree
 * they would be nodes that nobody was sampled in.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_LOCK_TABLE_H
#define JTOP_PROFILE_TABLE_LOCK_TABLE_H

#include "core/profile/table/call_tree.h"
#include "core/profile/table/id_set.h"
#include "core/profile/table/index.h"

#define LOCK_OWNER_NONE UINT32_MAX
#define LOCK_OWNER_FRAMES 512u /* kept of an owner's stack, from the leaf */
#define LOCK_IDS_MAX 1000u     /* told apart, of a class's locks and of its waiters */

struct lock_class {
    uint32_t method; /* METHOD_CLASS */
    struct id_set locks, waiters;
};

struct lock_row {
    uint32_t class; /* index */
    uint32_t flags;
    uint32_t owner; /* index in the thread table; LOCK_OWNER_NONE: not known */
    uint32_t node;  /* of `owners`; CALL_ROOT: none */
    uint64_t waits, waited_ns, longest_ns;
};

struct lock_link {
    uint32_t class, owner;      /* class: index; owner: as a row's */
    uint32_t next_class, other; /* the class the owner waited for, and who held that; or
                                   LOCK_CLASS_NONE and who waited for the owner */
    uint64_t waits, waited_ns;  /* the time that they have in common … */
    uint64_t deadlock_ns;       /* … and of that, what all of a circle of waits have */
};

#define LOCK_CLASS_NONE UINT32_MAX
#define LOCK_RECENT_SETS 256u
#define LOCK_RECENT_WAYS 16u

/* The last waits of some threads, by the waiter's index. */
struct lock_recent {
    uint32_t waiter, class, owner;
    uint64_t begin_ns, end_ns; /* end 0: none */
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
    uint32_t ids;  /* in all sets */
    uint32_t rest; /* 1 + the class of what there is no room for; 0: not needed yet */
};

struct profile;

/* Owners that are marked to be freed give their waits to their heirs. Cannot fail. */
void lock_table_fold(struct profile *p, uint32_t (*heir)(const struct profile *p, uint32_t thread));
void lock_table_free(struct lock_table *t);

#endif
