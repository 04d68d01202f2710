/*
 * The rows of the threads view: threads, or pools of threads. A pool's row has the sums of its
 * threads; if it is open, the threads are listed below it.
 *
 * Threads of the VM are always pools, at most three: "GC threads", "JIT threads" and "VM threads"
 * (thread_kind.h). Few users look for one of them, and there are more of them than of a small
 * application's own threads. If the profile is limited to one thread, that thread is the row.
 *
 * Threads of the application are pools if `on`: those whose names differ only in digits,
 * "http-worker-#". A thread whose name is like no other stays a row of its own.
 *
 * An open pool is remembered by its name, so it stays open while threads come and go.
 *
 * Context: frontend main thread. The answer from which the rows are made outlives them.
 */
#ifndef JTOP_TUI_MODEL_THREAD_POOLS_H
#define JTOP_TUI_MODEL_THREAD_POOLS_H

#include "core/base/text.h"
#include "tui/model/thread_figures.h"

#define THREAD_POOLS_OPEN 64 /* open at once; if there are more, the oldest closes */
#define THREAD_NO_POOL UINT32_MAX

struct thread_pool {
    uint64_t item;     /* identity, see cursor.h */
    size_t name;       /* offset in `names` */
    uint32_t row;      /* its own row */
    uint32_t heaviest; /* its heaviest thread, index in model->threads */
    uint32_t in_state[128];
    uint32_t in_java[WIRE_JAVA_STATES]; /* number of threads by Java state */
    char state;                         /* 'R' if one of them runs, else the most frequent state */
    bool open;
    struct thread_figures sum;
};

struct thread_row {
    uint32_t thread; /* index in model->threads; of a pool: its heaviest */
    uint32_t pool;   /* the pool that it is, or to which it belongs; THREAD_NO_POOL */
    bool is_pool;
};

struct thread_pools {
    bool on;                /* pools of the application's threads too */
    struct thread_row *row; /* NULL: no pools, one row per thread in the model's order */
    uint32_t count;
    struct thread_pool *pool;
    uint32_t pools;
    struct text names; /* each ends with a NUL */
    uint64_t open[THREAD_POOLS_OPEN];
    int opens;
};

/* Makes the rows again, after a new answer or a change of `on`. -ENOMEM: one row per thread. */
int thread_pools_update(struct thread_pools *p, const struct model *m);
void thread_pools_free(struct thread_pools *p);

struct thread_row thread_pools_row(const struct thread_pools *p, uint32_t row);
const char *thread_pools_name(const struct thread_pools *p, uint32_t pool);
/* Opens or closes a pool. The caller then calls thread_pools_update. */
void thread_pools_fold(struct thread_pools *p, uint64_t item);
/* Returns the pool of a thread (index in model->threads), or THREAD_NO_POOL. Linear search. */
uint32_t thread_pools_find(const struct thread_pools *p, const struct model *m, uint32_t thread);

/* True if a thread of this name is in the pool of that name: "GC threads", "http-worker-#". */
bool thread_pools_takes(const char *pool, const char *thread);

/* Writes the name of a thread's pool: "http-worker-#" for "http-worker-12", "G1 Conc#" for "G1
 * Conc#0". Returns out. */
const char *thread_pools_fold_name(const char *name, char *out, size_t size);

#endif
