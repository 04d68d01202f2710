/*
 * The samples of a question one by one, as far as the profile still has them: for file formats
 * that are lists of samples and not trees.
 *
 *      second, thread, stack → weight, count
 *
 * Their sums are those of a snapshot of the same question. Of a question about everything, what the
 * history no longer has (or has lost to a retraction elsewhere) is put into the profile's first
 * second.
 *
 * Context: pure; the profile's lock held as long as the reading is used.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_HISTORY_READ_H
#define JTOP_PROFILE_SNAPSHOT_HISTORY_READ_H

#include "core/profile/snapshot/snapshot.h"

struct history_item {
    uint64_t second; /* of the samples' clock */
    uint64_t weight, count;
    uint32_t node;   /* for history_stack */
    uint32_t thread; /* index in history_reading.thread */
    uint8_t state;   /* of the thread, < PROFILE_STATES; 0: not known */
};

struct history_thread {
    uint32_t tid; /* of a virtual thread: its last carrier's */
    uint64_t java_id;
    bool is_virtual;
    char *name; /* "" where unknown */
};

struct history_reading {
    struct history_item *item; /* by second, ascending */
    size_t items, cap;
    struct history_thread *thread; /* those of the items, and no others */
    uint32_t threads;
    uint64_t weight, count; /* of all items */
    uint64_t first, last;   /* seconds that there is an item of; 0 and 0: none */
};

/* What `q` says of trees, locks and lines makes no difference, but for from_method. NULL: no
 * memory. */
struct history_reading *history_read(const struct profile *p, const struct query *q);
void history_reading_free(struct history_reading *r);

/* The item's stack, leaf first; returns how many frames, at most PROFILE_STACK_MAX. With
 * q->from_method it ends at the outermost frame of that method. */
uint32_t history_stack(const struct profile *p, const struct query *q, uint32_t node,
                       struct profile_frame *out);

#endif
