/*
 * Keeps the sums that most queries of the screen need each second: for one event, the weight of
 * each node, path and method, of all threads and without a filter, since the beginning or in a
 * window that ends now. New samples are put on a list; the next snapshot adds each to the frames of
 * its stack, and subtracts the seconds that the window has left. That costs some thousand
 * additions, while summing up everything again takes a pass over the window and over the tree.
 *
 * The sums of a few events are kept: those that were queried last. If a weight is taken back, its
 * change is a negative number, wrapped around. The unsigned sums are correct when all changes are
 * added.
 *
 * A window counts only samples that the history has. When the history drops a second, it calls
 * standing_drop.
 *
 * Context: pure; the profile is locked.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_STANDING_H
#define JTOP_PROFILE_SNAPSHOT_STANDING_H

#include "core/profile/history/history.h"
#include "core/profile/profile.h"
#include "core/profile/table/tally.h"

struct total {
    uint64_t weight, count;
};

/* A method's row while it is counted. It is small, because there are many rows and they are
 * accessed in random order. */
struct row {
    uint64_t total;
    uint64_t tier[TIERS]; /* together, these are the samples of the total */
};

/* A change to be added to a leaf, to all nodes above it and to its thread. */
struct standing_change {
    uint64_t weight, count;
    uint32_t node, thread;
    uint8_t event, state;
    bool failed;
};

/* A thread's part of a window. */
struct standing_thread {
    uint64_t weight, count, state[PROFILE_STATES];
};

/* What a method's root in the bottom-up tree has besides `self`: the tiers of the leaf frames, and
 * the stacks that have only that frame. */
struct standing_root {
    uint64_t tier[TIERS];
    uint64_t ended, ended_samples;
};

struct standing {
    bool valid;
    uint32_t event;
    uint64_t from;   /* first second of the window; 0: since the beginning */
    uint64_t asked;  /* serial number of the last query for it */
    uint32_t unread; /* how often changes were added since then because there were many */
    struct row *row;
    struct total *self;         /* `row`, `self` and `root` are by method */
    struct standing_root *root; /* in use only with has_roots */
    uint32_t rows, row_cap, selfs, self_cap, roots, root_cap;
    bool has_tree, has_leaves, has_roots;
    struct total *total;  /* by node, of the whole subtree; only with has_tree */
    uint64_t *path_total; /* weight by path; only with has_tree */
    uint32_t nodes, total_cap, paths, path_cap;
    struct standing_change *change;
    uint32_t changes, change_cap;
    /* Only of a window; since the beginning, the profile itself has these sums. */
    uint64_t weight, samples, failed;
    struct standing_thread *thread;
    uint32_t threads, thread_cap;
    struct tally by_leaf;   /* leaf nodes; the owner's thread is 0; only with has_leaves */
    struct tally by_method; /* leaf methods by thread */
};

/* Only a few have a tree, which takes 24 bytes for each node. */
enum { STANDING = 6, STANDING_TREES = 2 };

/* Records that a sample was counted, or taken back (with negative numbers, wrapped around). */
void standing_count(struct profile *p, const struct standing_change *c);
/* The same, for windows: the history counted it in this second. */
void standing_count_second(struct profile *p, const struct standing_change *c, uint64_t second);
/* The history drops a second; `profile` is a struct profile *. */
void standing_drop(void *profile, const struct history_second *second);
/* Drops what is kept of the event, because it is no longer true. */
void standing_forget(struct profile *p, uint32_t event);
/* Drops all windows, because threads have other rows now. */
void standing_forget_windows(struct profile *p);
/* What a query needs besides the sums of methods. */
#define STANDING_TREE 1u   /* the sums of nodes and paths */
#define STANDING_LEAVES 2u /* in a window: those of leaf nodes */
#define STANDING_ROOTS 4u  /* `root`; needs STANDING_LEAVES */

/* Returns what the event has collected from this second (0: from the beginning) until now, valid
 * until the next call. NULL: no memory. */
struct standing *standing_get(struct profile *p, uint32_t event, uint64_t from, unsigned needs);
void standing_free(struct standing *s);

#endif
