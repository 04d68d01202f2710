/*
 * The rows of the threads view: threads, or pools of them. Threads whose names differ in digits
 * only are a pool, "http-worker-#"; its row has their sums, and below it they are themselves where
 * it is open. A thread without such company stays a row of its own.
 *
 * What is open is known by the pool's name: it stays so while threads come and go.
 *
 * Context: frontend main thread; the answer they were made of outlives them.
 */
#ifndef JTOP_TUI_MODEL_THREAD_POOLS_H
#define JTOP_TUI_MODEL_THREAD_POOLS_H

#include "core/base/text.h"
#include "tui/model/thread_figures.h"

#define THREAD_POOLS_OPEN 64 /* at once: the oldest one closes */
#define THREAD_NO_POOL UINT32_MAX

struct thread_pool {
    uint64_t item;     /* who it is, see cursor.h */
    size_t name;       /* in names */
    uint32_t row;      /* its own … */
    uint32_t heaviest; /* … and its heaviest thread, in model->threads */
    uint32_t in_state[128];
    char state; /* 'R' where one runs, else what most of them are in */
    bool open;
    struct thread_figures sum;
};

struct thread_row {
    uint32_t thread; /* in model->threads; of a pool: its heaviest */
    uint32_t pool;   /* that it is, or is below of; THREAD_NO_POOL */
    bool is_pool;
};

struct thread_pools {
    bool on;
    struct thread_row *row; /* NULL: a row each thread, in their order */
    uint32_t count;
    struct thread_pool *pool;
    uint32_t pools;
    struct text names; /* a NUL behind each */
    uint64_t open[THREAD_POOLS_OPEN];
    int opens;
};

/* The answer is a new one, or `on` has changed. -ENOMEM: a row each thread. */
int thread_pools_update(struct thread_pools *p, const struct model *m);
void thread_pools_free(struct thread_pools *p);

struct thread_row thread_pools_row(const struct thread_pools *p, uint32_t row);
const char *thread_pools_name(const struct thread_pools *p, uint32_t pool);
/* Opens or closes one; update afterwards. */
void thread_pools_fold(struct thread_pools *p, uint64_t item);
/* The pool of a thread (in model->threads), or THREAD_NO_POOL. Linear. */
uint32_t thread_pools_find(const struct thread_pools *p, const struct model *m, uint32_t thread);

/* "http-worker-#" of "http-worker-12", "G1 Conc#" of "G1 Conc#0". Returns out. */
const char *thread_pools_fold_name(const char *name, char *out, size_t size);

#endif
