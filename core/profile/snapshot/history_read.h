/*
 * Lists the samples of a query one by one, as far as the profile still has them, for file formats
 * that contain samples instead of trees.
 *
 *      second, thread, stack → weight, count
 *
 * The sums equal those of a snapshot of the same query. The history can lack samples, because old
 * seconds are dropped and its memory is limited. For a query about everything, such samples are put
 * into the profile's first second. If a counted sample was subtracted again, but its entry in the
 * history was not found, as much is missing in the oldest seconds.
 *
 * Context: pure. The profile must be locked when the reading is made, and for history_stack.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_HISTORY_READ_H
#define JTOP_PROFILE_SNAPSHOT_HISTORY_READ_H

#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/call_tree.h"

struct history_item {
    uint64_t second; /* on the samples' clock */
    uint64_t weight, count;
    uint32_t node;   /* for history_stack */
    uint32_t thread; /* index into history_reading.thread */
    uint32_t mark;   /* for the caller; 0 at first */
    uint8_t state;   /* the thread's state, < PROFILE_STATES; 0: not known */
};

struct history_thread {
    uint32_t tid; /* for a virtual thread: tid of its last carrier */
    uint64_t java_id;
    bool is_virtual;
    char *name; /* "" if unknown */
};

struct history_reading {
    struct history_item *item; /* ascending by second */
    size_t items, cap;
    struct history_thread *thread; /* only threads that occur in items */
    uint32_t threads;
    uint64_t weight, count; /* sums over all items */
    uint64_t first, last;   /* first and last second with an item; 0 and 0: no items */
};

/* Settings of `q` for trees, locks and lines have no effect, except from_method. Returns NULL if
 * there is no memory. */
struct history_reading *history_read(const struct profile *p, const struct query *q);
void history_reading_free(struct history_reading *r);

/* Writes the item's stack, leaf first; returns the number of frames, at most PROFILE_STACK_MAX.
 * With q->from_method the stack ends at the outermost frame of that method. */
uint32_t history_stack(const struct profile *p, const struct query *q, uint32_t node,
                       struct profile_frame *out);
/* The tree that the items' nodes are in. Without from_method, a stack is the path from its node to
 * the root. */
const struct call_tree *history_tree(const struct profile *p);

#endif
