/*
 * Threads in the order they were first heard of, with what each has collected: platform threads,
 * known by their tid, and virtual threads, known by their Java id (virtual_threads.h).
 *
 * Linux gives a tid again once its thread has ended. A tid therefore names a chain of threads;
 * samples go to the latest. A thread may still be sampled for a moment after its end was
 * announced (it runs the VM's exit path), hence THREAD_END_GRACE_NS.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_THREAD_TABLE_H
#define JTOP_PROFILE_TABLE_THREAD_TABLE_H

#include "core/profile/profile.h"
#include "core/profile/table/index.h"
#include "core/profile/table/strings.h"

#define THREAD_END_GRACE_NS UINT64_C(1000000000)
#define THREAD_OTHERS 0u /* shared by the threads there is no room for; it has tid 0 */

/* What a thread has collected of one event. */
struct thread_sum {
    uint64_t weight, count;
    uint64_t top_weight;
    uint32_t top; /* 1 + the method with the most self weight; 0: nothing yet */
    bool stale;   /* the top is to be found anew: samples of it were taken back */
};

struct thread {
    uint32_t tid;  /* of a virtual thread: its last carrier's */
    uint32_t born; /* serial number, never 0 and never used again, as the place in the table is */
    bool ended;
    bool free; /* its place is to be used again */
    bool sampled;
    bool is_virtual;
    uint64_t last_second; /* of its samples and of those it carried */
    uint64_t java_id;
    const char *name;   /* of the table's strings; "" for virtual threads */
    char *virtual_name; /* owned; NULL: none */
    uint64_t ended_ns;  /* newest time known when it ended */
};

struct thread_table {
    struct thread *thread;
    uint32_t count, cap;
    /* By event and thread. Few events are ever sampled: those that are not take no room. */
    struct thread_sum *sum[PROFILE_EVENTS];
    uint32_t sums[PROFILE_EVENTS];
    uint32_t born;    /* the last serial number given */
    uint32_t max;     /* platform threads, and the others */
    uint32_t *unused; /* places that are free */
    uint32_t unused_count, unused_cap;
    uint32_t *latest; /* a tid's last thread; the index leads here */
    uint32_t tids, tid_cap;
    struct index index;
    struct strings names;
    uint32_t virtuals, max_virtual; /* virtual threads */
    uint32_t others_virtual;    /* shared by those there is no room for; 0 until there is a virtual
                                thread */
    struct index virtual_index; /* by Java id */
};

/* The thread a sample of this time belongs to, begun if need be. 0 or -ENOMEM. */
int thread_table_sampled(struct thread_table *t, uint32_t tid, uint64_t time_ns, uint32_t *thread);
int thread_table_name(struct thread_table *t, uint32_t tid, uint64_t java_id, const char *name);
/* The thread's sum, made with zeroes when there is none; valid until the next thread or event is
 * new. NULL: no memory. */
struct thread_sum *thread_table_sum(struct thread_table *t, uint32_t thread, uint32_t event);
/* The same, and NULL where there is none. */
static inline struct thread_sum *thread_table_known_sum(const struct thread_table *t,
                                                        uint32_t thread, uint32_t event) {
    return thread < t->sums[event] ? &t->sum[event][thread] : NULL;
}
/* Whether this place is still the thread's of that serial number. */
static inline bool thread_table_is(const struct thread_table *t, uint32_t thread, uint32_t born) {
    return thread < t->count && t->thread[thread].born == born;
}
/* To be called when a method's self weight in this thread has grown to `weight`: only the method
 * that has just grown can become the top. The smaller id wins a tie. */
void thread_top_method(struct thread_sum *sum, uint32_t method, uint64_t weight);
/* Whether it is time to free some platform threads. */
bool thread_table_crowded(const struct thread_table *t);
/* Makes sure that the next thread_table_reclaim cannot fail, and that every thread has a sum of
 * each event of which one has. 0 or -ENOMEM. */
int thread_table_reserve(struct thread_table *t);
/* Takes back the places of all threads with `free` set, which nothing may refer to any more,
 * platform and virtual. */
void thread_table_reclaim(struct thread_table *t);
/* Makes the row of the others, which is the first. 0 or -ENOMEM. */
int thread_table_open(struct thread_table *t);
/* A place for one more thread, all zero but for these. 0 or -ENOMEM. For this room's tables. */
int thread_table_place(struct thread_table *t, uint32_t tid, const char *name, uint32_t *thread);
void thread_table_end(struct thread_table *t, uint32_t tid, uint64_t now_ns);
void thread_table_free(struct thread_table *t);

#endif
