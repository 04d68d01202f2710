#include "core/agent/engine/engine_wall.h"

#include <errno.h>
#include <sys/mman.h>

static void *reserve(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void wall_threads_unmap(struct wall *w) {
    if (w->entry)
        munmap(w->entry, THREADS_MAX * sizeof *w->entry);
    if (w->due_ns)
        munmap(w->due_ns, THREADS_MAX * sizeof *w->due_ns);
    if (w->tids)
        munmap(w->tids, THREADS_MAX * sizeof *w->tids);
    if (w->index_of_tid)
        munmap(w->index_of_tid, WIRE_TID_MAX * sizeof *w->index_of_tid);
    w->entry = NULL;
    w->due_ns = NULL;
    w->tids = NULL;
    w->index_of_tid = NULL;
}

int wall_threads_map(struct wall *w) {
    w->entry = reserve(THREADS_MAX * sizeof *w->entry);
    w->due_ns = reserve(THREADS_MAX * sizeof *w->due_ns);
    w->tids = reserve(THREADS_MAX * sizeof *w->tids);
    w->index_of_tid = reserve(WIRE_TID_MAX * sizeof *w->index_of_tid);
    if (w->entry && w->due_ns && w->tids && w->index_of_tid)
        return 0;
    wall_threads_unmap(w);
    return -ENOMEM;
}

/* xorshift64 */
static uint64_t random_below(struct wall *w, uint64_t limit) {
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return limit ? w->random % limit : 0;
}

uint64_t wall_pause(struct wall *w, uint64_t ns) {
    return ns / 2 + random_below(w, ns);
}

/* An entry for a thread that was not there before. Signals carry its index: it keeps its place. */
static void add(struct wall *w, uint32_t tid, uint64_t now) {
    uint32_t i = w->free_hint;
    while (i < w->count && w->entry[i].tid)
        i++;
    if (i == THREADS_MAX)
        return;
    w->free_hint = i + 1;
    if (i == w->count)
        w->count++;
    struct wall_thread *t = &w->entry[i];
    t->calm = 0;
    t->sampled = t->handled = false;
    t->cpu_ns = 0;
    t->since_ns = t->same_ns = t->looked_ns = now;
    t->seen = w->lists;
    atomic_store(&t->turn, WALL_OURS);
    t->tid = tid;
    w->index_of_tid[tid] = i + 1;
    w->due_ns[i] = now + random_below(w, w->run->request.interval);
}

void wall_threads_drop(struct wall *w, struct wall_thread *t) {
    uint32_t i = (uint32_t)(t - w->entry);
    wall_repeat(w, t);
    w->index_of_tid[t->tid] = 0;
    w->due_ns[i] = UINT64_MAX;
    t->tid = 0;
    if (i < w->free_hint)
        w->free_hint = i;
}

void wall_threads_list(struct wall *w, uint64_t now) {
    uint32_t n = threads_list(w->run->threads, w->tids, THREADS_MAX);
    w->lists++;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t tid = w->tids[k];
        if (tid >= WIRE_TID_MAX || !sampler_allows(w->run->sampler, tid))
            continue;
        if (!w->index_of_tid[tid])
            add(w, tid, now);
        else
            w->entry[w->index_of_tid[tid] - 1].seen = w->lists;
    }
    uint64_t threads = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        struct wall_thread *t = &w->entry[i];
        if (!t->tid)
            continue;
        threads++;
        uint32_t turn = WALL_SENT; /* not while its handler is at work */
        if (t->seen != w->lists &&
            (atomic_compare_exchange_strong(&t->turn, &turn, WALL_OURS) || turn == WALL_OURS)) {
            wall_threads_drop(w, t);
            threads--;
        }
    }
    __atomic_store_n(&w->run->status->threads, threads, __ATOMIC_RELAXED);
}
