/*
 * Threads in the order in which they first occurred, with what each has collected: platform
 * threads, identified by their tid, and virtual threads, identified by their Java id
 * (virtual_threads.h).
 *
 * Linux reuses a tid after its thread has ended. So a tid stands for a chain of threads; samples go
 * to the latest. A thread may still be sampled for a moment after its end was reported (it runs the
 * VM's exit path), hence THREAD_END_GRACE_NS.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_THREAD_TABLE_H
#define JTOP_PROFILE_TABLE_THREAD_TABLE_H

#include "core/profile/profile.h"
#include "core/profile/table/index.h"
#include "core/profile/table/strings.h"

#define THREAD_END_GRACE_NS UINT64_C(1000000000)
#define THREAD_OTHERS 0u /* shared by the threads that there is no room for; it has tid 0 */

/* What a thread has collected for one event. */
struct thread_sum {
    uint64_t weight, count;
    uint64_t top_weight;
    uint32_t top; /* 1 + the method with the most self weight; 0: nothing yet */
    bool stale;   /* the top method must be found again, because samples of it were taken back */
};

struct thread {
    uint32_t tid;  /* for a virtual thread: tid of its last carrier */
    uint32_t born; /* serial number; never 0 and never reused, unlike the position in the table */
    bool ended;
    bool free; /* its position will be reused */
    bool sampled;
    bool is_virtual;
    uint8_t java_state;   /* the caller defines its meaning; 0: not known */
    uint64_t last_second; /* second of its latest sample, or of the latest sample that it carried */
    uint64_t java_id;
    const char *name;   /* belongs to the table's strings; "" for virtual threads */
    char *virtual_name; /* owned; NULL: none */
    uint64_t ended_ns;  /* newest known time when it ended */
};

struct thread_table {
    struct thread *thread;
    uint32_t count, cap;
    /* By event and thread. Few events are ever sampled; the others take no room. */
    struct thread_sum *sum[PROFILE_EVENTS];
    uint32_t sums[PROFILE_EVENTS];
    uint32_t born;    /* the last serial number given out */
    uint32_t max;     /* maximum number of platform threads, including the row of the others */
    uint32_t *unused; /* positions that are free */
    uint32_t unused_count, unused_cap;
    uint32_t *latest; /* latest thread of each tid; the index refers to it */
    uint32_t tids, tid_cap;
    struct index index;
    struct strings names;
    uint32_t virtuals, max_virtual; /* number of virtual threads, and its maximum */
    uint32_t others_virtual;        /* shared by virtual threads that there is no room for; 0 until
                                       there is a virtual thread */
    struct index virtual_index;     /* by Java id */
};

/* Finds the thread that a sample of this time belongs to, or begins one. 0 or -ENOMEM. */
int thread_table_sampled(struct thread_table *t, uint32_t tid, uint64_t time_ns, uint32_t *thread);
int thread_table_name(struct thread_table *t, uint32_t tid, uint64_t java_id, const char *name);
/* Returns the thread's sum; adds one with zeroes if there is none. Valid until a new thread or
 * event is added. NULL: no memory. */
struct thread_sum *thread_table_sum(struct thread_table *t, uint32_t thread, uint32_t event);
/* Does the same, but returns NULL if there is no sum. */
static inline struct thread_sum *thread_table_known_sum(const struct thread_table *t,
                                                        uint32_t thread, uint32_t event) {
    return thread < t->sums[event] ? &t->sum[event][thread] : NULL;
}
/* Whether this position still belongs to the thread with this serial number. */
static inline bool thread_table_is(const struct thread_table *t, uint32_t thread, uint32_t born) {
    return thread < t->count && t->thread[thread].born == born;
}
/* Call it when a method's self weight in this thread has grown to `weight`: only the method that
 * has just grown can become the top. If two are equal, the smaller id is chosen. */
void thread_top_method(struct thread_sum *sum, uint32_t method, uint64_t weight);
/* Whether some platform threads should be freed now. */
bool thread_table_crowded(const struct thread_table *t);
/* Makes sure that the next thread_table_reclaim cannot fail, and that every thread has a sum for
 * each event for which any thread has one. 0 or -ENOMEM. */
int thread_table_reserve(struct thread_table *t);
/* Frees the positions of all threads, platform and virtual, with `free` set. Nothing may refer to
 * them any more. */
void thread_table_reclaim(struct thread_table *t);
/* Adds the row of the others, which is the first row. 0 or -ENOMEM. */
int thread_table_open(struct thread_table *t);
/* Finds a position for one more thread; its fields are zero except tid and name. 0 or -ENOMEM. Only
 * the tables in this directory call it. */
int thread_table_place(struct thread_table *t, uint32_t tid, const char *name, uint32_t *thread);
void thread_table_end(struct thread_table *t, uint32_t tid, uint64_t now_ns);
/* Sets the state of the living thread with this number, if there is one. */
void thread_table_state(struct thread_table *t, uint32_t tid, uint8_t state);
void thread_table_free(struct thread_table *t);

#endif
