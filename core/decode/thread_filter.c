#include "core/decode/thread_filter.h"

#include "core/profile/table/virtual_threads.h"
#include "core/wire/layout.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TIDS_MAX (1u << 20)

int thread_filter_init(struct thread_filter *f, const char *pattern, const struct tid_range *tids,
                       uint32_t tid_ranges, struct err *e) {
    *f = (struct thread_filter){.on = pattern || tid_ranges > 0};
    if (!f->on)
        return 0;
    if (pattern) {
        char why[160];
        int r = expression_open(&f->pattern, pattern, false, why, sizeof why);
        if (r < 0)
            return r == -ENOMEM
                       ? err_set(e, ENOMEM, "out of memory")
                       : err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                                     "\"%.200s\" is not a regular expression for thread names: %s",
                                     pattern, why);
        f->has_pattern = true;
    }
    if (tid_ranges > 0) {
        f->tids = malloc(tid_ranges * sizeof *tids);
        if (!f->tids)
            return err_set(e, ENOMEM, "out of memory");
        memcpy(f->tids, tids, tid_ranges * sizeof *tids);
        f->tid_ranges = tid_ranges;
    }
    id_map_init(&f->decided, TIDS_MAX);
    id_map_init(&f->carriers, TIDS_MAX);
    id_map_init(&f->young, THREAD_FILTER_VIRTUALS_MAX);
    id_map_init(&f->old, THREAD_FILTER_VIRTUALS_MAX);
    return 0;
}

void thread_filter_free(struct thread_filter *f) {
    expression_close(&f->pattern);
    free(f->tids);
    id_map_free(&f->decided);
    id_map_free(&f->carriers);
    id_map_free(&f->young);
    id_map_free(&f->old);
    *f = (struct thread_filter){0};
}

/* Bits. */

static void set_bit(struct thread_filter *f, uint32_t tid, bool on) {
    if (!f->bits || tid >= WIRE_TID_MAX)
        return;
    _Atomic uint8_t *byte = &f->bits[tid / 8];
    uint8_t mask = (uint8_t)(1u << tid % 8);
    uint8_t before = on ? atomic_fetch_or_explicit(byte, mask, memory_order_relaxed)
                        : atomic_fetch_and_explicit(byte, (uint8_t)~mask, memory_order_relaxed);
    if (((before & mask) != 0) != on)
        f->changed = true;
}

static bool in_ranges(const struct thread_filter *f, uint32_t tid) {
    for (uint32_t i = 0; i < f->tid_ranges; i++)
        if (tid >= f->tids[i].first && tid <= f->tids[i].last)
            return true;
    return false;
}

/* A map's key is never 0, a tid of a hostile stream may be. */
static uint64_t tid_key(uint32_t tid) {
    return UINT64_C(1) << 32 | tid;
}

static enum thread_verdict decided(const struct thread_filter *f, uint32_t tid) {
    uint32_t verdict;
    return id_map_get(&f->decided, tid_key(tid), &verdict) ? (enum thread_verdict)verdict
                                                           : THREAD_UNDECIDED;
}

static void renew_bit(struct thread_filter *f, uint32_t tid) {
    uint32_t carries;
    set_bit(f, tid,
            in_ranges(f, tid) || decided(f, tid) == THREAD_WANTED ||
                (f->has_pattern && id_map_get(&f->carriers, tid_key(tid), &carries)));
}

static void renew_known(struct thread_filter *f, const struct id_map *m) {
    uint32_t i = 0;
    for (const struct id_pair *pair; (pair = id_map_next(m, &i));)
        renew_bit(f, (uint32_t)pair->key);
}

void thread_filter_use_bits(struct thread_filter *f, _Atomic uint8_t *bits) {
    f->bits = f->on ? bits : NULL;
    if (!f->bits)
        return;
    f->changed = true;
    for (uint32_t i = 0; i < f->tid_ranges; i++)
        for (uint64_t tid = f->tids[i].first; tid <= f->tids[i].last && tid < WIRE_TID_MAX; tid++)
            set_bit(f, (uint32_t)tid, true);
    renew_known(f, &f->decided);
    renew_known(f, &f->carriers);
}

/* Names. */

static enum thread_verdict judge(struct thread_filter *f, const char *name) {
    return f->has_pattern && expression_matches(&f->pattern, name) ? THREAD_WANTED
                                                                   : THREAD_UNWANTED;
}

/* Whether the name is one that java.util.concurrent.ForkJoinPool gives its threads. Some of them
 * carry virtual threads: "ForkJoinPool-1-worker-3" (source: ForkJoinPool.java, VirtualThread.java,
 * JDK 21-26). */
static bool may_carry(const char *name) {
    return strncmp(name, "ForkJoinPool-", 13) == 0 && strstr(name, "-worker-");
}

void thread_filter_name(struct thread_filter *f, uint32_t tid, const char *name) {
    if (!f->on)
        return;
    /* If there is no room, the thread stays undecided and is not sampled. */
    id_map_put(&f->decided, tid_key(tid), judge(f, name));
    if (may_carry(name))
        id_map_put(&f->carriers, tid_key(tid), 1);
    renew_bit(f, tid);
}

void thread_filter_virtual_name(struct thread_filter *f, uint64_t virtual_id, uint32_t carrier,
                                const char *name) {
    char room[VIRTUAL_NAME_SIZE];
    if (!f->on || virtual_id == 0)
        return;
    if (f->young.count >= f->young.limit) {
        struct id_map emptied = f->old;
        id_map_clear(&emptied);
        f->old = f->young;
        f->young = emptied;
    }
    id_map_put(&f->young, virtual_id,
               judge(f, virtual_threads_shown(name[0] ? name : NULL, virtual_id, room)));
    id_map_put(&f->carriers, tid_key(carrier), 1);
    renew_bit(f, carrier);
}

void thread_filter_end(struct thread_filter *f, uint32_t tid) {
    if (!f->on)
        return;
    id_map_remove(&f->decided, tid_key(tid));
    id_map_remove(&f->carriers, tid_key(tid));
    renew_bit(f, tid);
}

void thread_filter_guess(struct thread_filter *f, uint32_t tid, const char *comm) {
    if (f->on && decided(f, tid) == THREAD_UNDECIDED && judge(f, comm) == THREAD_WANTED)
        set_bit(f, tid, true);
}

enum thread_verdict thread_filter_verdict(const struct thread_filter *f, uint32_t tid,
                                          uint64_t virtual_id) {
    uint32_t verdict;
    if (!f->on || in_ranges(f, tid))
        return THREAD_WANTED;
    if (!f->has_pattern)
        return THREAD_UNWANTED;
    if (virtual_id == 0)
        return decided(f, tid);
    return id_map_get(&f->young, virtual_id, &verdict) || id_map_get(&f->old, virtual_id, &verdict)
               ? (enum thread_verdict)verdict
               : THREAD_UNDECIDED;
}

const char *thread_filter_trouble(struct thread_filter *f) {
    if (!f->pattern.gave_up || f->told)
        return NULL;
    f->told = true;
    return "--thread: the expression takes too long for some thread names: these threads are left "
           "out";
}
