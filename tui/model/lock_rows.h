/*
 * The rows of the locks view:
 *
 *      java.util.HashMap                       a class of locks
 *        held by worker-2 in Cart.total        an owner that threads waited for, and its method
 *          worker-2 waited for Pool meanwhile  a step: the owner itself waited for a lock;
 *            worker-7 waited for …             the next step: so did the owner of that lock
 *          waited: worker-1                    a waiter; shown if the owner's row is open
 *          Cart.total                          a frame of the owner's stack; shown if the owner's
 *                                              row is open. Of the stacks with this owner and
 *                                              method, it is the one with the longest waits
 *
 * Folded and open rows are remembered by identity, not by row number. So they stay as they are
 * while rows come and go.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_LOCK_ROWS_H
#define JTOP_TUI_MODEL_LOCK_ROWS_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define LOCK_STACK_MAX 64  /* frames shown of an owner's stack */
#define LOCK_STACKS_MAX 64 /* owners open at once; if there are more, the oldest closes */
#define LOCK_FOLDS_MAX 256
#define LOCK_WAITERS_MAX 10 /* waiters shown per owner */
#define LOCK_STEPS_MAX 2    /* first steps shown per owner: the longest */
#define LOCK_CHAIN_MAX 8    /* steps shown of one chain */

enum lock_row_kind {
    LOCK_ROW_CLASS,
    LOCK_ROW_OWNER,
    LOCK_ROW_STEP,
    LOCK_ROW_WAITER,
    LOCK_ROW_MORE, /* number of waiters not shown, in lock.waiters */
    LOCK_ROW_FRAME,
};

struct lock_row {
    uint64_t id;
    enum lock_row_kind kind;
    struct snapshot_lock lock;             /* of a class or an owner, summed; strings belong to the
                                              snapshot. Other rows have the owner's */
    const struct snapshot_lock_link *link; /* of a step or waiter */
    bool open, leaf;                       /* leaf: nothing to open */
    uint8_t depth;                         /* of a step in its chain, from 0 */
    uint32_t method;                       /* of a frame or owner; METHOD_NONE: owner's method not
                                              known */
};

struct lock_rows {
    struct lock_row *row;
    uint32_t count;
    /* internal state */
    uint32_t capacity;
    bool closed;                   /* classes are closed, except those in `fold`; false: the
                                      reverse */
    uint64_t fold[LOCK_FOLDS_MAX]; /* classes */
    uint32_t folds;
    struct lock_stack {
        uint64_t id; /* of the owner's row; 0: not used */
        uint32_t count, method[LOCK_STACK_MAX];
    } stack[LOCK_STACKS_MAX];
    uint32_t stack_turn;
};

/* Makes the rows of the snapshot's locks; `method` is from model_owner_methods. If there is no
 * memory for all rows, the first ones are there. */
void lock_rows_build(struct lock_rows *r, const struct snapshot *s, const uint32_t *method);
void lock_rows_free(struct lock_rows *r);

/* Shows or hides the owners of a class, or closes an open owner. Takes effect at the next build. */
void lock_rows_fold(struct lock_rows *r, uint32_t at);
/* Opens an owner: shows its stack, `count` methods from the leaf on, and its waiters. */
void lock_rows_open_stack(struct lock_rows *r, uint32_t at, const uint32_t *method, uint32_t count);
/* Closes or opens all classes, and closes all owners. */
void lock_rows_fold_all(struct lock_rows *r, bool closed);

/* Returns the row above to which this row belongs; `at` if there is none. */
uint32_t lock_rows_parent(const struct lock_rows *r, uint32_t at);

#endif
