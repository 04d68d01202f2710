/*
 * What a profile is made of; for this room's files and their tests only.
 */
#ifndef JTOP_PROFILE_PROFILE_STATE_H
#define JTOP_PROFILE_PROFILE_STATE_H

#include "core/profile/history/history.h"
#include "core/profile/history/timeline.h"
#include "core/profile/profile.h"
#include "core/profile/snapshot/filter.h"
#include "core/profile/snapshot/standing.h"
#include "core/profile/table/call_tree.h"
#include "core/profile/table/lock_table.h"
#include "core/profile/table/tally.h"
#include "core/profile/table/thread_table.h"

/* What a long run or a hostile JVM can make us keep. Beyond, detail is lost and totals are not. */
struct profile_limits {
    uint32_t nodes;         /* of the call tree */
    uint32_t pairs;         /* (thread, node) remembered for ever */
    uint32_t threads;       /* then all further ones share a row */
    uint32_t virtuals;      /* virtual threads with a row; then the idle ones share one */
    uint32_t virtual_roots; /* names in the method table; then virtual threads share a root in trees
                               by thread */
    uint32_t states;        /* (thread, event, state) remembered; then states are not known */
    uint32_t lock_rows;     /* (class, owner, stack); then owners' stacks go, then owners. 16 times
                               as many locks and waiters are told apart */
    uint32_t owner_nodes;   /* of owners' stacks */
    size_t name_bytes;      /* of methods; an eighth of that, of threads */
    size_t history_bytes;   /* then the oldest seconds go early */
};

/* Between snapshots, see snapshot_build.h. */
struct scratch {
    struct item *item;
    uint32_t item_cap;
    struct total *total;
    uint32_t totals;
    struct touch *touch;
    uint32_t touch_cap;
    uint32_t *path_branch;
    uint64_t *path_total;
    uint32_t path_cap;
};

/* Of what depends on the question, and of what is as large as the call tree. */
#define SCRATCH_LIST_BYTES ((size_t)6 << 20)
#define SCRATCH_KEPT_BYTES ((size_t)100 << 20)

struct profile {
    struct method_table *methods;
    struct call_tree tree;
    struct thread_table threads;
    struct history history;
    struct tally by_node;          /* node; the owner's thread is 0 */
    struct tally by_pair;          /* node and thread; virtual threads are threads here */
    struct tally by_carrier;       /* node and carrier, of virtual threads' samples only */
    struct tally by_method;        /* leaf method and thread: finds each thread's top method */
    struct tally by_state;         /* state and thread, where the state is known; weights only */
    struct tally by_carrier_state; /* the same by carrier, of virtual threads' samples only */
    struct lock_table locks;
    struct timeline timeline;
    struct profile_limits limits;

    uint64_t weight[PROFILE_EVENTS], samples[PROFILE_EVENTS], failed[PROFILE_EVENTS];
    uint64_t first_second, last_second, newest_ns;
    bool stale[PROFILE_EVENTS]; /* some threads' top methods are to be found anew */
    bool any;                   /* a sample was counted: the span is valid */
    uint32_t unknown;           /* method of stacks without frames, METHOD_NONE until needed */
    uint64_t fold_tried;        /* 1 + the second in which fold_threads last tried */
    uint32_t rest;              /* node of what a full tally cannot hold; CALL_ROOT until needed */

    uint32_t *rank; /* by method id: place in the order of names, see order.h */
    uint32_t *ranked, ranks, rank_cap, ranked_cap;
    struct filter filter; /* of the last question that had one */
    struct standing standing[STANDING];
    uint64_t asked; /* serial number of questions for those */
    struct scratch scratch;
    uint64_t key[PROFILE_STACK_MAX];
};

void scratch_free(struct scratch *k);

/* These frames as keys of call_tree.h in p->key, leaf first: at least one, every method known; what
 * is too deep is cut at the root's end. Returns how many; 0 without memory. */
uint32_t profile_keys(struct profile *p, const struct profile_frame *f, uint32_t frames);

/* Finds the top methods anew of threads from which samples of them were taken back. */
void profile_settle_tops(struct profile *p, uint32_t event);

extern const struct profile_limits profile_default_limits;

struct profile *profile_new_limited(uint32_t history_seconds, const struct profile_limits *limits);

#endif
