/* Threads as the model has them: what was sampled, and what the kernel counts. */
#include "tui/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_look_at_threads(struct model *m, uint64_t now_ns) {
    struct model_stats *now = &m->stats_now, *before = &m->stats_before;
    if (!before->time_ns || now->time_ns - before->time_ns >= MODEL_RATE_NS) {
        free(before->thread);
        *before = *now;
    } else {
        free(now->thread);
    }
    *now = (struct model_stats){.time_ns = now_ns};
    int n = m->source.threads ? m->source.threads(m->source.arg, &now->thread) : 0;
    now->count = n > 0 ? n : 0;
}

static const struct thread_stat *find_stat(const struct model_stats *look, uint32_t tid) {
    const struct thread_stat *t = look->thread;
    int low = 0, high = look->count, count = high;
    while (low < high) {
        int middle = (low + high) / 2;
        if (t[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && t[low].tid == tid ? &t[low] : NULL;
}

/* What the kernel says of a thread. */
static void add_stat(const struct model *m, struct model_thread *t) {
    const struct model_stats *then = &m->stats_before;
    const struct thread_stat *now = find_stat(&m->stats_now, t->tid);
    const struct thread_stat *was = find_stat(then, t->tid);
    if (!now)
        return;
    memcpy(t->comm, now->comm, sizeof t->comm);
    t->comm[sizeof t->comm - 1] = '\0';
    t->state = now->state;
    if (was && m->stats_now.time_ns > then->time_ns && now->cpu_ns >= was->cpu_ns)
        t->cpu_percent = 100.0 * (double)(now->cpu_ns - was->cpu_ns) /
                         (double)(m->stats_now.time_ns - then->time_ns);
}

static int compare_threads(const void *a, const void *b) {
    const struct model_thread *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    int names = strcmp(x->name[0] ? x->name : x->comm, y->name[0] ? y->name : y->comm);
    if (names)
        return names;
    if (x->java_id != y->java_id)
        return x->java_id < y->java_id ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_tids(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The kernel's threads that have no row yet, as rows from `n` on. Returns how many rows there are.
 * Ended threads may have the number of a living one, and virtual threads have their carrier's: only
 * the others count. */
static uint32_t add_unsampled(const struct model *m, struct model_thread *rows, uint32_t n,
                              uint32_t *tids) {
    uint32_t known = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!rows[i].is_virtual && rows[i].state != 'X')
            tids[known++] = rows[i].tid;
    qsort(tids, known, sizeof *tids, compare_tids);
    for (int i = 0; i < m->stats_now.count; i++) {
        uint32_t tid = m->stats_now.thread[i].tid;
        while (at < known && tids[at] < tid)
            at++;
        if (at < known && tids[at] == tid)
            continue;
        rows[n] = (struct model_thread){.tid = tid,
                                        .name = "",
                                        .state = '?',
                                        .cpu_percent = -1,
                                        .top_method = METHOD_NONE,
                                        .row = UINT32_MAX};
        rows[n].name = model_other_name(m, tid);
        add_stat(m, &rows[n++]);
    }
    return n;
}

/* Threads of the profile, and, where nothing is filtered, those without samples too. */
struct model_thread *model_merge_threads(const struct model *m, const struct snapshot *s,
                                         uint32_t *count) {
    bool everyone = !model_zoomed(&m->question) && !m->question.filter[0];
    size_t most = s->thread_count + (everyone ? (size_t)m->stats_now.count : 0);
    struct model_thread *rows = calloc(most + 1, sizeof *rows);
    uint32_t *tids = calloc(s->thread_count + 1, sizeof *tids);
    if (!rows || !tids) {
        free(rows);
        free(tids);
        return NULL;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct snapshot_thread *from = &s->threads[i];
        struct model_thread *t = &rows[n++];
        *t = (struct model_thread){.tid = from->tid,
                                   .is_virtual = from->is_virtual,
                                   .java_id = from->java_id,
                                   .name = from->name ? from->name : "",
                                   .state = from->ended        ? 'X'
                                            : from->is_virtual ? 'V'
                                                               : '?',
                                   .cpu_percent = -1,
                                   .weight = from->weight,
                                   .samples = from->samples,
                                   .states = from->state,
                                   .row = i,
                                   .top_method = from->top_method};
        if (t->state == '?') /* the kernel does not know virtual threads */
            add_stat(m, t);
    }
    if (everyone)
        n = add_unsampled(m, rows, n, tids);
    qsort(rows, n, sizeof *rows, compare_threads);
    free(tids);
    *count = n;
    return rows;
}

uint64_t model_thread_key(bool is_virtual, uint64_t java_id, uint32_t tid, bool ended) {
    if (is_virtual)
        return java_id | UINT64_C(1) << 62;
    return ended ? (java_id << 32 ^ tid) | UINT64_C(1) << 63 : tid;
}

const char *model_thread_name(const struct model_thread *t, char *out, size_t size) {
    if (t->name[0] || t->comm[0])
        snprintf(out, size, "%s", t->name[0] ? t->name : t->comm);
    else
        snprintf(out, size, "[tid=%u]", t->tid);
    return out;
}
