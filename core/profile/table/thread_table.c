#include "core/profile/table/thread_table.h"

#include "core/base/grow.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>

static uint32_t hash_tid(struct thread_table *t, uint32_t tid) {
    return (uint32_t)hash_pair(index_seed(&t->index), tid, 0);
}

/* Returns the position where the tid's latest thread is stored, or NULL. */
static uint32_t *latest_of(struct thread_table *t, uint32_t tid) {
    uint32_t hash = hash_tid(t, tid), pos = hash, id;
    while ((id = index_next(&t->index, hash, &pos)) != INDEX_NONE)
        if (t->thread[t->latest[id]].tid == tid)
            return &t->latest[id];
    return NULL;
}

static void start(struct thread_table *t, uint32_t thread, uint32_t tid, const char *name) {
    if (++t->born == 0)
        t->born = 1;
    t->thread[thread] = (struct thread){.tid = tid, .born = t->born, .name = name};
    for (uint32_t e = 0; e < PROFILE_EVENTS; e++)
        if (thread < t->sums[e])
            t->sum[e][thread] = (struct thread_sum){0};
}

static int reserve_sums(struct thread_table *t, uint32_t event) {
    uint32_t old = t->sums[event];
    if (!grow_array(&t->sum[event], &t->sums[event], t->cap, sizeof *t->sum[event]))
        return -ENOMEM;
    memset(t->sum[event] + old, 0, (t->sums[event] - old) * sizeof *t->sum[event]);
    return 0;
}

struct thread_sum *thread_table_sum(struct thread_table *t, uint32_t thread, uint32_t event) {
    if (thread >= t->sums[event] && reserve_sums(t, event) != 0)
        return NULL;
    return &t->sum[event][thread];
}

int thread_table_place(struct thread_table *t, uint32_t tid, const char *name, uint32_t *thread) {
    if (t->unused_count > 0) {
        *thread = t->unused[--t->unused_count];
    } else {
        if (!GROW(t->thread, t->count, t->cap))
            return -ENOMEM;
        *thread = t->count++;
    }
    start(t, *thread, tid, name);
    return 0;
}

int thread_table_open(struct thread_table *t) {
    uint32_t others;
    return t->count == 0 ? thread_table_place(t, 0, "[other threads]", &others) : 0;
}

/* Number of platform threads' positions in use, including that of the others. */
static uint32_t in_use(const struct thread_table *t) {
    return t->count - t->unused_count - t->virtuals - (t->others_virtual != 0);
}

static int begin(struct thread_table *t, uint32_t tid, uint32_t *thread) {
    uint32_t *latest = latest_of(t, tid);
    if (thread_table_open(t) != 0)
        return -ENOMEM;
    if (in_use(t) >= t->max) {
        *thread = THREAD_OTHERS;
        return 0;
    }
    if (!latest && (index_reserve(&t->index) != 0 || !GROW(t->latest, t->tids, t->tid_cap)))
        return -ENOMEM;
    if (thread_table_place(t, tid, "", thread) != 0)
        return -ENOMEM;
    if (latest) {
        *latest = *thread;
    } else {
        t->latest[t->tids] = *thread;
        index_put(&t->index, hash_tid(t, tid), t->tids++);
    }
    return 0;
}

bool thread_table_crowded(const struct thread_table *t) {
    return in_use(t) > t->max - t->max / 8;
}

void thread_top_method(struct thread_sum *sum, uint32_t method, uint64_t weight) {
    if (sum->top == 0 || weight > sum->top_weight ||
        (weight == sum->top_weight && method < sum->top - 1)) {
        sum->top_weight = weight;
        sum->top = method + 1;
    }
}

int thread_table_reserve(struct thread_table *t) {
    for (uint32_t e = 0; e < PROFILE_EVENTS; e++)
        if (t->sums[e] > 0 && reserve_sums(t, e) != 0)
            return -ENOMEM;
    return grow_array(&t->unused, &t->unused_cap, t->count, sizeof *t->unused) ? 0 : -ENOMEM;
}

void thread_table_reclaim(struct thread_table *t) {
    uint32_t tids = t->tids;
    t->tids = 0;
    index_clear(&t->index);
    for (uint32_t i = 0; i < tids; i++) {
        const struct thread *n = &t->thread[t->latest[i]];
        if (n->free)
            continue;
        t->latest[t->tids] = t->latest[i];
        index_put(&t->index, hash_tid(t, n->tid), t->tids++);
    }
    virtual_threads_forget(t);
    for (uint32_t i = t->count; i-- > THREAD_OTHERS + 1;) {
        if (!t->thread[i].free)
            continue;
        free(t->thread[i].virtual_name);
        start(t, i, 0, "");
        t->unused[t->unused_count++] = i;
    }
}

int thread_table_sampled(struct thread_table *t, uint32_t tid, uint64_t time_ns, uint32_t *thread) {
    const uint32_t *latest = latest_of(t, tid);
    if (!latest)
        return begin(t, tid, thread);
    const struct thread *last = &t->thread[*latest];
    if (last->ended && time_ns > last->ended_ns && time_ns - last->ended_ns > THREAD_END_GRACE_NS)
        return begin(t, tid, thread);
    *thread = *latest;
    return 0;
}

int thread_table_name(struct thread_table *t, uint32_t tid, uint64_t java_id, const char *name) {
    const char *kept = strings_intern(&t->names, name);
    if (!kept)
        return -ENOMEM;
    const uint32_t *latest = latest_of(t, tid);
    uint32_t thread = latest ? *latest : 0;
    /* A name for a thread that has ended belongs to the same thread only if the Java id is
     * the same. */
    bool stale =
        latest && t->thread[thread].ended && (java_id == 0 || t->thread[thread].java_id != java_id);
    if (!latest || stale) {
        int rc = begin(t, tid, &thread);
        if (rc != 0)
            return rc;
    }
    if (thread != THREAD_OTHERS) {
        t->thread[thread].name = kept;
        t->thread[thread].java_id = java_id;
    }
    return 0;
}

void thread_table_end(struct thread_table *t, uint32_t tid, uint64_t now_ns) {
    const uint32_t *latest = latest_of(t, tid);
    if (!latest || t->thread[*latest].ended)
        return;
    t->thread[*latest].ended = true;
    t->thread[*latest].ended_ns = now_ns;
    t->thread[*latest].java_state = 0;
}

void thread_table_state(struct thread_table *t, uint32_t tid, uint8_t state) {
    const uint32_t *latest = latest_of(t, tid);
    if (latest && *latest != THREAD_OTHERS && !t->thread[*latest].ended)
        t->thread[*latest].java_state = state;
}

void thread_table_free(struct thread_table *t) {
    for (uint32_t i = 0; i < t->count; i++)
        free(t->thread[i].virtual_name);
    for (uint32_t e = 0; e < PROFILE_EVENTS; e++)
        free(t->sum[e]);
    free(t->thread);
    free(t->latest);
    free(t->unused);
    index_free(&t->index);
    index_free(&t->virtual_index);
    strings_free(&t->names);
    *t = (struct thread_table){.max = t->max, .max_virtual = t->max_virtual};
}
