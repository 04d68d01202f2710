/*
 * What a profile is made of; for this room's files and their tests only.
 */
#ifndef JTOP_PROFILE_PROFILE_STATE_H
#define JTOP_PROFILE_PROFILE_STATE_H

#include "core/profile/call_tree.h"
#include "core/profile/history.h"
#include "core/profile/profile.h"
#include "core/profile/tally.h"
#include "core/profile/thread_table.h"

/* What a long run or a hostile JVM can make us keep. Beyond, detail is lost and totals are not. */
struct profile_limits {
    uint32_t nodes;         /* of the call tree */
    uint32_t pairs;         /* (thread, node) remembered for ever */
    uint32_t threads;       /* then all further ones share a row */
    uint32_t virtuals;      /* virtual threads with a row; then the idle ones share one */
    uint32_t virtual_roots; /* names in the method table; then virtual threads share a root in trees
                               by thread */
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

#define SCRATCH_KEPT_BYTES ((size_t)160 << 20)

struct profile {
    struct method_table *methods;
    struct call_tree tree;
    struct thread_table threads;
    struct history history;
    struct tally by_node;    /* node; the owner's thread is 0 */
    struct tally by_pair;    /* node and thread; virtual threads are threads here */
    struct tally by_carrier; /* node and carrier, of virtual threads' samples only */
    struct tally by_method;  /* leaf method and thread: finds each thread's top method */
    struct profile_limits limits;

    uint64_t weight[PROFILE_EVENTS], samples[PROFILE_EVENTS], failed[PROFILE_EVENTS];
    uint64_t first_second, last_second, newest_ns;
    bool any;            /* a sample was counted: the span is valid */
    uint32_t unknown;    /* method of stacks without frames, METHOD_NONE until needed */
    uint64_t fold_tried; /* 1 + the second in which fold_threads last tried */
    uint32_t rest;       /* node of what a full tally cannot hold; CALL_ROOT until needed */

    uint32_t *rank; /* by method id: place in the order of names, see order.h */
    uint32_t *ranked, ranks, rank_cap, ranked_cap;
    struct scratch scratch;
    uint64_t key[PROFILE_STACK_MAX];
};

void scratch_free(struct scratch *k);

extern const struct profile_limits profile_default_limits;

struct profile *profile_new_limited(uint32_t history_seconds, const struct profile_limits *limits);

#endif
