/*
 * The rows of the locks view:
 *
 *      java.util.HashMap                       a class of locks
 *        held by worker-2 in Cart.total        an owner that was waited for, and where it was
 *          worker-2 waited for Pool meanwhile  a step: the owner could not get on either …
 *            worker-7 waited for …             … and whom it waited for could not
 *          waited: worker-1                    who waited; where the owner's row is open
 *          Cart.total                          its stack, likewise: of the longest waits of those
 *                                              with that method on top
 *
 * What is folded is known by what it is, not by its row: it stays so while rows come and go.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_LOCK_ROWS_H
#define JTOP_TUI_MODEL_LOCK_ROWS_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define LOCK_STACK_MAX 64  /* frames shown of an owner's stack */
#define LOCK_STACKS_MAX 64 /* owners open at once: the oldest one closes */
#define LOCK_FOLDS_MAX 256
#define LOCK_WAITERS_MAX 10 /* shown of an owner's */
#define LOCK_STEPS_MAX 2    /* shown of an owner: those that took longest … */
#define LOCK_CHAIN_MAX 8    /* … and so far on */

enum lock_row_kind {
    LOCK_ROW_CLASS,
    LOCK_ROW_OWNER,
    LOCK_ROW_STEP,
    LOCK_ROW_WAITER,
    LOCK_ROW_MORE, /* waiters there is no room for: lock.waiters */
    LOCK_ROW_FRAME,
};

struct lock_row {
    uint64_t id;
    enum lock_row_kind kind;
    struct snapshot_lock lock;             /* a class's or an owner's, summed; strings are the
                                              snapshot's. Else that of the owner above */
    const struct snapshot_lock_link *link; /* a step's, a waiter's */
    bool open, leaf;                       /* leaf: nothing to open */
    uint8_t depth;                         /* of a step, from 0 */
    uint32_t method;                       /* a frame's; an owner's, METHOD_NONE: not known */
};

struct lock_rows {
    struct lock_row *row;
    uint32_t count;
    /* inner state */
    uint32_t capacity;
    bool closed;                   /* classes are, but for those in `fold`; else the reverse */
    uint64_t fold[LOCK_FOLDS_MAX]; /* classes */
    uint32_t folds;
    struct lock_stack {
        uint64_t id; /* of the owner's row; 0: unused */
        uint32_t count, method[LOCK_STACK_MAX];
    } stack[LOCK_STACKS_MAX];
    uint32_t stack_turn;
};

/* Makes the rows of the snapshot's locks, `method` as of model_owner_methods. Without memory for
 * all, those that fit are there. */
void lock_rows_build(struct lock_rows *r, const struct snapshot *s, const uint32_t *method);
void lock_rows_free(struct lock_rows *r);

/* A class: its owners are shown, or not. An owner that is open is closed. With the next build. */
void lock_rows_fold(struct lock_rows *r, uint32_t at);
/* An owner: its stack is shown, `count` methods from the leaf on, and who waited. */
void lock_rows_open_stack(struct lock_rows *r, uint32_t at, const uint32_t *method, uint32_t count);
/* All classes, and no owner, open or closed. */
void lock_rows_fold_all(struct lock_rows *r, bool closed);

/* The row that this one is below of; itself: none. */
uint32_t lock_rows_parent(const struct lock_rows *r, uint32_t at);

#endif
