#include "core/profile/snapshot/snapshot.h"

#include "core/base/grow.h"
#include "core/profile/snapshot/snapshot_build.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_weight(const void *a, const void *b, void *threads) {
    uint32_t i, j;
    memcpy(&i, a, sizeof i);
    memcpy(&j, b, sizeof j);
    const struct snapshot_thread *row = threads, *x = &row[i], *y = &row[j];
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    int c = strcmp(x->name, y->name);
    if (c != 0)
        return c;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->java_id < y->java_id ? -1 : x->java_id > y->java_id;
}

/* Call it after all rows have names. */
static int sort_threads(struct build *b) {
    uint32_t count = b->s->thread_count;
    uint32_t *order = malloc(2 * ((size_t)count + 1) * sizeof *order), *thread = order + count;
    struct snapshot_thread *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    int rc = order && sorted ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        order[i] = i;
    if (rc == 0)
        qsort_r(order, count, sizeof *order, by_weight, b->s->threads);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        sorted[i] = b->s->threads[order[i]];
        thread[i] = b->row_thread[order[i]];
    }
    if (rc == 0) {
        struct snapshot_thread *unsorted = b->s->threads;
        memcpy(b->row_thread, thread, count * sizeof *thread);
        b->s->threads = sorted;
        sorted = unsorted;
    }
    free(order);
    free(sorted);
    return rc;
}

/* Returns the length of the part of the window in which there can be samples. */
static uint64_t seconds_of(const struct profile *p, const struct query *q) {
    uint64_t from = p->first_second, to = p->last_second;
    if (build_from_beginning(p, q)) {
        to = q->to_second < to ? q->to_second : to;
    } else if (!build_always(q)) {
        const struct history *h = &p->history;
        from = h->end ? h->second[h->first].second : 0;
        from = q->from_second > from ? q->from_second : from;
        to = build_last_second(q) < to ? build_last_second(q) : to;
    }
    return p->any && to >= from ? to - from + 1 : 1;
}

/* Returns how long an event was sampled in the query's window, at least a tenth of a second. */
static uint64_t sampled_of(const struct profile *p, const struct query *q, int event) {
    const struct event_runs *r = &p->runs[event < PROFILE_EVENTS && event > 0 ? event : 0];
    const uint64_t seconds = UINT64_MAX / NS_PER_SECOND - 1; /* the last one that has an end */
    const struct history *h = &p->history;
    uint64_t first = q->from_second, kept = h->end ? h->second[h->first].second : 0;
    if (!build_always(q) && !build_from_beginning(p, q) && kept > p->first_second && kept > first)
        first = kept; /* what is before it was dropped */
    uint64_t from = first < seconds ? first * NS_PER_SECOND : UINT64_MAX;
    uint64_t to =
        q->to_second && q->to_second < seconds ? (q->to_second + 1) * NS_PER_SECOND : UINT64_MAX;
    uint64_t ns = event_runs_between(r, from, to, p->newest_ns);
    if (!ns && !r->open)
        return seconds_of(p, q) * NS_PER_SECOND;
    return ns > NS_PER_SECOND / 10 ? ns : NS_PER_SECOND / 10;
}

/* Rounds up, so that with pruning, nodes without weight are left out, too. */
static uint64_t least_total(uint64_t weight, uint32_t ppm) {
    uint64_t million = 1000000, part = ppm < million ? ppm : million;
    return weight / million * part + (weight % million * part + million - 1) / million;
}

/* Copies a virtual thread's name to *at and advances *at, because the original is freed with its
 * row in the profile. If *at is NULL, only counts the bytes. */
static void keep_name(const char **name, uint64_t java_id, char **at, size_t *size) {
    char room[VIRTUAL_NAME_SIZE];
    const char *shown = virtual_threads_shown(*name, java_id, room);
    size_t bytes = strlen(shown) + 1;
    *size += bytes;
    if (!*at)
        return;
    *name = memcpy(*at, shown, bytes);
    *at += bytes;
}

static size_t keep_each(struct snapshot *s, char *at) {
    size_t size = 0;
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].is_virtual)
            keep_name(&s->threads[i].name, s->threads[i].java_id, &at, &size);
    for (uint32_t i = 0; i < s->lock_count; i++)
        if (s->locks[i].owner_is_virtual)
            keep_name(&s->locks[i].owner, s->locks[i].owner_java_id, &at, &size);
    for (uint32_t i = 0; i < s->lock_link_count; i++)
        if (s->lock_links[i].other_is_virtual)
            keep_name(&s->lock_links[i].other, s->lock_links[i].other_java_id, &at, &size);
    return size;
}

static int keep_names(struct snapshot *s) {
    size_t size = keep_each(s, NULL);
    if (size == 0)
        return 0;
    s->names = malloc(size);
    if (!s->names)
        return -ENOMEM;
    keep_each(s, s->names);
    return 0;
}

static int fill(struct build *b) {
    b->lean = b->q->sums_only || build_is_lean(b);
    int rc = gather_items(b);
    if (rc != 0 || b->q->sums_only)
        return rc;
    rc = build_states(b);
    b->least = least_total(b->s->weight, b->q->prune_ppm);
    if (b->q->prune_ppm && !b->least)
        b->least = 1;
    b->s->least = b->least;
    if (rc == 0 && b->q->tree && b->q->by_thread)
        rc = build_threads(b);
    if (rc == 0 && build_has_own_paths(b->q))
        rc = build_own_paths(b);
    bool tree = b->q->tree && !b->lean;
    if (rc == 0 && build_has_leaves(b))
        rc = gather_leaves(b);
    if (rc == 0 && tree && !b->q->inverted && !b->q->by_thread)
        rc = build_paths(b);
    if (rc == 0)
        rc = build_method_rows(b);
    if (rc == 0 && b->q->lines)
        rc = build_lines(b);
    if (rc == 0 && tree)
        rc = b->q->inverted ? build_inverted(b) : build_branches(b);
    if (rc == 0 && b->s->by_site)
        rc = build_sites(b);
    if (rc == 0 && tree)
        rc = build_layout(b);
    if (rc == 0 && b->s->by_site)
        rc = build_ways(b);
    return rc;
}

/* Memory that every refresh needs again is kept with the profile, unless it is large. */
static void borrow_scratch(struct build *b) {
    const struct scratch *k = &b->p->scratch;
    b->item = k->item;
    b->item_cap = k->item_cap;
    b->total = k->total;
    b->totals = k->totals;
    b->touch = k->touch;
    b->touch_cap = k->touch_cap;
    b->path_branch = k->path_branch;
    b->path_total = k->path_total;
    b->path_cap = k->path_cap;
    b->branch = k->branch;
    b->branch_cap = k->branch_cap;
    b->built = k->built;
    b->built_cap = k->built_cap;
    b->p->scratch = (struct scratch){0};
}

/* Frees a list that is too large to keep. */
static void limit_list(void *array, uint32_t *cap, size_t size) {
    if (*cap * size <= SCRATCH_LIST_BYTES)
        return;
    free(array_get(array));
    array_set(array, NULL);
    *cap = 0;
}

static void return_scratch(struct build *b, bool clean) {
    size_t bytes = (size_t)b->totals * sizeof *b->total +
                   (size_t)b->path_cap * (sizeof *b->path_branch + sizeof *b->path_total);
    struct scratch kept = {b->item,       b->item_cap,    b->total,      b->totals,   b->touch,
                           b->touch_cap,  b->path_branch, b->path_total, b->path_cap, b->branch,
                           b->branch_cap, b->built,       b->built_cap};
    limit_list(&kept.item, &kept.item_cap, sizeof *kept.item);
    limit_list(&kept.touch, &kept.touch_cap, sizeof *kept.touch);
    limit_list(&kept.branch, &kept.branch_cap, sizeof *kept.branch);
    limit_list(&kept.built, &kept.built_cap, sizeof *kept.built);
    if (bytes > SCRATCH_KEPT_BYTES || !clean) {
        scratch_free(&kept);
        kept = (struct scratch){0};
    }
    b->p->scratch = kept;
    free(b->group);
    free(b->row_thread);
    free(b->mark);
    free(b->via);
    free(b->closed);
    if (!b->paths_are_lent) {
        free(b->own_path);
        free(b->own_paths);
    }
}

/* Prepares for a query that folds native frames, or is about a row of the VM's threads: no stack has
 * that row's name, so no filter finds it. */
static int fold_natives(struct build *b, struct query *q) {
    bool row = q->with_method && method_table_get(b->p->methods, q->method)->kind == METHOD_THREAD;
    bool also = q->with_also && method_table_get(b->p->methods, q->also)->kind == METHOD_THREAD;
    int rc = q->fold_natives || row || also ? native_fold_update(b->p) : 0;
    if (rc != 0)
        return rc;
    q->fold_natives = q->fold_natives && (!q->with_method || native_fold_has(b->p, q->method)) &&
                      (!q->with_also || native_fold_has(b->p, q->also));
    b->s->folds_natives = q->fold_natives;
    b->left = q->fold_natives ? b->p->native_fold.left : NULL;
    b->only = row    ? native_fold_row(b->p, q->method)
              : also ? native_fold_row(b->p, q->also)
                     : CALL_ROOT;
    if (b->only == CALL_ROOT)
        return 0;
    if (row && also && q->method != q->also)
        b->only = NATIVE_FOLD_NONE; /* no stack is of both */
    q->locks = false;               /* they wait for no Java lock */
    q->with_method &= !row;
    q->with_also &= !also;
    q->from_method &= !row;
    return 0;
}

struct snapshot *snapshot_take(struct profile *p, const struct query *q) {
    struct query ask = *q;
    struct build b = {.p = p, .q = &ask, .s = calloc(1, sizeof *b.s), .only = CALL_ROOT};
    if (!b.s)
        return NULL;
    borrow_scratch(&b);
    b.s->sampled_ns = sampled_of(p, q, q->event);
    b.s->locks_sampled_ns = sampled_of(p, q, q->locks_event);
    b.s->inverted = q->inverted;
    b.s->by_thread = q->by_thread;
    b.s->by_tier = q->tiers;
    b.s->by_site = q->tree && q->inverted && q->sites && !q->by_thread;
    bool known = q->event >= 0 && q->event < PROFILE_EVENTS;
    if (q->sums_only) {
        ask.tree = ask.locks = ask.lines = false;
        ask.spark_cells = 0;
    }
    int rc = fold_natives(&b, &ask);
    if (rc == 0 && known)
        rc = fill(&b);
    if (rc == 0 && ask.locks)
        rc = build_locks(&b);
    if (rc == 0)
        rc = keep_names(b.s);
    if (rc == 0 && b.s->thread_count > 1)
        rc = sort_threads(&b);
    if (rc == 0 && known && ask.spark_cells > 0)
        rc = build_sparks(&b);
    if (rc != 0) {
        snapshot_free(b.s);
        b.s = NULL;
    }
    return_scratch(&b, rc == 0);
    return b.s;
}

void snapshot_free(struct snapshot *s) {
    if (!s)
        return;
    free(s->methods);
    free(s->threads);
    free(s->nodes);
    free(s->forks);
    free(s->via);
    free(s->lines);
    free(s->locks);
    free(s->lock_links);
    free(s->method_spark);
    free(s->thread_spark);
    free(s->names);
    free(s);
}

int snapshot_each_stack(const struct snapshot *s,
                        int (*each)(void *arg, const struct snapshot_node *const *path,
                                    uint32_t depth),
                        void *arg) {
    const struct snapshot_node **path = malloc(((size_t)s->max_depth + 1) * sizeof(void *));
    int rc = path ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < s->node_count && rc == 0; i++) {
        const struct snapshot_node *n = &s->nodes[i];
        path[n->depth] = n;
        if (n->self | n->self_samples)
            rc = each(arg, path, n->depth + 1);
    }
    free(path);
    return rc;
}

enum frame_tier snapshot_main_tier(const uint64_t tier[TIERS]) {
    int best = 0;
    for (int t = 1; t < TIERS; t++)
        if (tier[t] > tier[best])
            best = t;
    return (enum frame_tier)best;
}
