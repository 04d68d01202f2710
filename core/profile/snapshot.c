#include "core/profile/snapshot.h"

#include "core/profile/snapshot_build.h"
#include "core/profile/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_weight(const void *a, const void *b) {
    const struct snapshot_thread *x = a, *y = b;
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

/* The part of the window in which there can be samples. */
static uint64_t seconds_of(const struct profile *p, const struct query *q) {
    uint64_t from = p->first_second, to = p->last_second;
    if (q->from_second != 0 || q->to_second != 0) {
        const struct history *h = &p->history;
        from = h->end ? h->second[h->first].second : 0;
        from = q->from_second > from ? q->from_second : from;
        to = q->to_second < to ? q->to_second : to;
    }
    return p->any && to >= from ? to - from + 1 : 1;
}

/* Rounded up: with pruning on, what has no weight goes too. */
static uint64_t least_total(uint64_t weight, uint32_t ppm) {
    uint64_t million = 1000000, part = ppm < million ? ppm : million;
    return weight / million * part + (weight % million * part + million - 1) / million;
}

static const char *shown(const struct snapshot_thread *t, char room[VIRTUAL_NAME_SIZE]) {
    return t->is_virtual ? virtual_threads_shown(t->name, t->java_id, room) : t->name;
}

/* A virtual thread's name goes with its row in the profile: the snapshot takes a copy. */
static int keep_names(struct snapshot *s) {
    size_t size = 0;
    char room[VIRTUAL_NAME_SIZE];
    for (uint32_t i = 0; i < s->thread_count; i++)
        size += s->threads[i].is_virtual ? strlen(shown(&s->threads[i], room)) + 1 : 0;
    if (size == 0)
        return 0;
    char *at = s->names = malloc(size);
    for (uint32_t i = 0; at && i < s->thread_count; i++) {
        struct snapshot_thread *t = &s->threads[i];
        if (!t->is_virtual)
            continue;
        const char *name = shown(t, room);
        size = strlen(name) + 1;
        t->name = memcpy(at, name, size);
        at += size;
    }
    return at ? 0 : -ENOMEM;
}

static int fill(struct build *b) {
    int rc = gather_items(b);
    if (rc == 0)
        rc = keep_names(b->s);
    b->least = least_total(b->s->weight, b->q->prune_ppm);
    if (b->q->prune_ppm && !b->least)
        b->least = 1;
    if (rc == 0 && b->q->tree && b->q->by_thread)
        rc = build_threads(b);
    if (rc == 0 && b->q->tree && b->q->tiers && !b->q->inverted)
        rc = build_tiers(b);
    if (rc == 0 && b->q->tree && !b->q->inverted && !b->q->by_thread)
        rc = build_paths(b);
    if (rc == 0)
        rc = build_method_rows(b);
    if (rc == 0 && b->q->lines)
        rc = build_lines(b);
    if (rc == 0 && b->q->tree)
        rc = b->q->inverted ? build_inverted(b) : build_branches(b);
    if (rc == 0 && b->q->tree)
        rc = build_layout(b);
    return rc;
}

/* What every refresh needs anew is kept with the profile, unless it is large. */
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
    b->p->scratch = (struct scratch){0};
}

static void return_scratch(struct build *b) {
    size_t bytes = (size_t)b->item_cap * sizeof *b->item + (size_t)b->totals * sizeof *b->total +
                   (size_t)b->touch_cap * sizeof *b->touch +
                   (size_t)b->path_cap * (sizeof *b->path_branch + sizeof *b->path_total);
    struct scratch kept = {b->item,      b->item_cap,    b->total,      b->totals,  b->touch,
                           b->touch_cap, b->path_branch, b->path_total, b->path_cap};
    if (bytes > SCRATCH_KEPT_BYTES) {
        scratch_free(&kept);
        kept = (struct scratch){0};
    }
    b->p->scratch = kept;
    free(b->drop);
    free(b->group);
    free(b->mark);
    free(b->order);
    free(b->branch);
    free(b->built);
    free(b->tier_path);
    free(b->tier_paths);
}

struct snapshot *snapshot_take(struct profile *p, const struct query *q) {
    struct build b = {.p = p, .q = q, .s = calloc(1, sizeof *b.s)};
    if (!b.s)
        return NULL;
    borrow_scratch(&b);
    b.s->seconds = seconds_of(p, q);
    int rc = q->event >= 0 && q->event < PROFILE_EVENTS ? fill(&b) : 0;
    if (rc != 0) {
        snapshot_free(b.s);
        b.s = NULL;
    } else if (b.s->thread_count > 1) {
        qsort(b.s->threads, b.s->thread_count, sizeof *b.s->threads, by_weight);
    }
    return_scratch(&b);
    return b.s;
}

void snapshot_free(struct snapshot *s) {
    if (!s)
        return;
    free(s->methods);
    free(s->threads);
    free(s->nodes);
    free(s->lines);
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
