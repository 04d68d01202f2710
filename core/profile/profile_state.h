/*
 * The internal structs of a profile; only for the files in this directory and their tests.
 */
#ifndef JTOP_PROFILE_PROFILE_STATE_H
#define JTOP_PROFILE_PROFILE_STATE_H

#include "core/profile/history/event_runs.h"
#include "core/profile/history/history.h"
#include "core/profile/history/lock_history.h"
#include "core/profile/history/timeline.h"
#include "core/profile/profile.h"
#include "core/profile/snapshot/filter.h"
#include "core/profile/snapshot/native_fold.h"
#include "core/profile/snapshot/sparks.h"
#include "core/profile/snapshot/standing.h"
#include "core/profile/table/call_tree.h"
#include "core/profile/table/lock_table.h"
#include "core/profile/table/tally.h"
#include "core/profile/table/thread_table.h"

/* Limits on what a long run or a hostile JVM can make us keep. Above them, detail is lost, but
 * totals are not. */
struct profile_limits {
    uint32_t nodes;         /* of the call tree */
    uint32_t pairs;         /* (thread, node) pairs that are kept forever */
    uint32_t threads;       /* platform threads with a row; further ones share a row */
    uint32_t virtuals;      /* virtual threads with a row; if there are more, the idle ones
                               share a row */
    uint32_t virtual_roots; /* names in the method table; above this, virtual threads share one root
                               in trees by thread */
    uint32_t states;        /* (thread, event, state) sums that are kept; above this, states
                               are unknown */
    uint32_t lock_rows;     /* (class, owner, stack); above this, owners' stacks are left out, then
                               owners. Up to 16 times as many locks and waiters are counted
                               separately */
    uint32_t lock_entries;  /* in the history of waits; above this, the oldest seconds are
                               dropped early */
    uint32_t owner_nodes;   /* in the tree of owners' stacks */
    size_t name_bytes;      /* for methods; threads may use an eighth of that in addition */
    size_t history_bytes;   /* above this, the oldest seconds are dropped early */
};

/* Memory kept between snapshots, see snapshot_build.h. */
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
    struct branch *branch;
    uint32_t branch_cap;
    struct snapshot_node *built;
    uint32_t built_cap;
};

/* Limits on the memory that is kept: for lists whose length depends on the query, and for arrays as
 * large as the call tree. */
#define SCRATCH_LIST_BYTES ((size_t)6 << 20)
#define SCRATCH_KEPT_BYTES ((size_t)100 << 20)

/* The screen has one for its rows, and one for the row that the pane shows. */
enum { FILTERS = 2 };

struct profile {
    struct method_table *methods;
    struct call_tree tree;
    struct thread_table threads;
    struct history history;
    struct tally by_node;          /* by node; the owner's thread is always 0 */
    struct tally by_pair;          /* by node and thread; virtual threads count as threads here */
    struct tally by_carrier;       /* by node and carrier; only samples of virtual threads */
    struct tally by_method;        /* by leaf method and thread; used to find each thread's
                                      top method */
    struct tally by_state;         /* by state and thread, if the state is known; only weights */
    struct tally by_carrier_state; /* by state and carrier; only samples of virtual threads */
    struct lock_table locks;
    struct lock_history lock_history;
    struct timeline timeline;
    struct event_runs runs[PROFILE_EVENTS];
    struct profile_limits limits;

    uint64_t weight[PROFILE_EVENTS], samples[PROFILE_EVENTS], failed[PROFILE_EVENTS];
    uint64_t first_second, last_second, newest_ns;
    bool stale[PROFILE_EVENTS]; /* the top methods of some threads must be found again */
    bool any;                   /* a sample was counted, so the span is valid */
    uint32_t unknown;           /* method for stacks without frames; METHOD_NONE until needed */
    uint64_t fold_tried;        /* 1 + the second of the last attempt of fold_threads */
    uint32_t rest;              /* node for what a full tally cannot hold; CALL_ROOT until needed */

    uint32_t *rank; /* by method id: position in the order of names, see order.h */
    uint32_t *ranked, ranks, rank_cap, ranked_cap;
    struct filter filter[FILTERS]; /* of the last queries that had one */
    struct filter owner_filter;    /* the same, for the tree of owners' stacks */
    struct native_fold native_fold;
    struct standing standing[STANDING]; /* of the last queries */
    struct sparks sparks[SPARKS];       /* the same */
    uint64_t asked;                     /* serial number of the queries to these two */
    struct scratch scratch;
    uint64_t key[PROFILE_STACK_MAX];
};

void scratch_free(struct scratch *k);

/* Converts these frames to keys of call_tree.h and stores them in p->key, leaf first. There is at
 * least one key, and every method is known. A stack that is too deep is cut at the root. Returns
 * the number of keys; 0 if there is no memory. */
uint32_t profile_keys(struct profile *p, const struct profile_frame *f, uint32_t frames);

/* Finds the top methods again for threads from which samples of their top method were
 * taken back. */
void profile_settle_tops(struct profile *p, uint32_t event);

extern const struct profile_limits profile_default_limits;

struct profile *profile_new_limited(uint32_t history_seconds, const struct profile_limits *limits);

#endif
