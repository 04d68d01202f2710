#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

/* The entries of a second have no particular order, so their nodes are prefetched this many
 * entries ahead. */
#define AHEAD 16u

struct entry {
    uint32_t node, thread;
    int event;
    uint64_t weight, count, failed;
};

/* The caller has made room for the item. */
static inline void take(struct build *b, struct entry e) {
    if (e.event != b->q->event || (b->filter && !filter_keeps(b->filter, e.node)) ||
        (e.weight == 0 && e.count == 0) || !build_asks_for(b->q, &b->p->threads.thread[e.thread]) ||
        build_is_other_row(b, e.node, e.thread))
        return;
    e.node = build_leaf(b, e.node, e.thread);
    if (!b->standing && !b->lean) {
        b->total[e.node].weight += e.weight;
        b->total[e.node].count += e.count;
    }
    b->item[b->items++] = (struct item){e.thread, e.node, e.weight, e.count};
    b->s->weight += e.weight;
    b->s->samples += e.count;
    b->s->failed += e.failed;
}

static inline void look_ahead(const struct build *b, uint32_t node) {
    if (b->standing || b->lean)
        return;
    __builtin_prefetch(&b->total[node], 1);
    if (b->filter)
        __builtin_prefetch(&b->filter->flags[node]);
}

/* The part of a tally's entry that was counted after the window. */
struct later {
    uint64_t weight, count, failed;
};

static void add_later(const struct build *b, struct tally *t, bool by_carrier, struct later *later,
                      const struct history_entry *e) {
    int event = owner_event(e->owner);
    bool is_virtual = b->p->threads.thread[owner_thread(e->owner)].is_virtual;
    if (event != b->q->event || (by_carrier && !is_virtual))
        return;
    const struct tally_entry *of =
        tally_find(t, e->node, by_carrier ? owner_of(e->carrier, (uint32_t)event) : e->owner);
    if (!of) /* counted in the rest entry of its thread, because there were too many stacks */
        return;
    struct later *l = &later[of - t->entry];
    l->weight += e->weight;
    l->count += e->count;
    l->failed += e->failed ? e->count : 0;
}

/* For windows that begin with the profile and end within the history: the result is the tally minus
 * what came later. NULL: no memory. */
static struct later *find_later(const struct build *b, struct tally *t, bool by_carrier) {
    const struct history *h = &b->p->history;
    struct later *later = calloc((size_t)t->count + 1, sizeof *later);
    struct history_cursor c;
    for (uint32_t i = history_find(h, b->q->to_second + 1); later && i < h->end; i++) {
        history_start(&c, &h->second[i]);
        while (history_next(&c))
            for (uint32_t j = 0; j < c.count; j++)
                add_later(b, t, by_carrier, later, &c.entry[j]);
    }
    return later;
}

static inline uint64_t less(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

static int take_tally_until(struct build *b, struct tally *t, bool platform, bool by_carrier) {
    struct later *later = find_later(b, t, by_carrier);
    if (!later || !big_grow(&b->item, &b->item_cap, b->items + t->count, sizeof *b->item)) {
        free(later);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        uint32_t thread = owner_thread(e->owner);
        if (!platform || !b->p->threads.thread[thread].is_virtual)
            take(b, (struct entry){e->what, thread, owner_event(e->owner),
                                   less(e->weight, later[i].weight), less(e->count, later[i].count),
                                   less(e->failed, later[i].failed)});
    }
    free(later);
    return 0;
}

static int take_until(struct build *b) {
    bool carriers = build_by_carrier(b->q);
    int rc = take_tally_until(b, &b->p->by_pair, carriers, false);
    return rc == 0 && carriers ? take_tally_until(b, &b->p->by_carrier, true, true) : rc;
}

/* `platform`: take only entries of platform threads. */
static int take_tally(struct build *b, const struct tally *t, bool platform) {
    if (!big_grow(&b->item, &b->item_cap, b->items + t->count, sizeof *b->item))
        return -ENOMEM;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        uint32_t thread = owner_thread(e->owner);
        if (i + AHEAD < t->count)
            look_ahead(b, e[AHEAD].what);
        if (!platform || !b->p->threads.thread[thread].is_virtual)
            take(b, (struct entry){e->what, thread, owner_event(e->owner), e->weight, e->count,
                                   e->failed});
    }
    return 0;
}

static int take_always(struct build *b) {
    int rc = take_tally(b, &b->p->by_pair, build_by_carrier(b->q));
    return rc == 0 && build_by_carrier(b->q) ? take_tally(b, &b->p->by_carrier, true) : rc;
}

static void take_batch(struct build *b, const struct history_cursor *c) {
    bool by_carrier = build_by_carrier(b->q);
    for (uint32_t j = 0; j < c->count; j++) {
        const struct history_entry *e = &c->entry[j];
        if (j + AHEAD < c->count)
            look_ahead(b, e[AHEAD].node);
        uint32_t thread = by_carrier ? e->carrier : owner_thread(e->owner);
        take(b, (struct entry){e->node, thread, owner_event(e->owner), e->weight, e->count,
                               e->failed ? e->count : 0});
    }
}

static int take_window(struct build *b) {
    const struct history *h = &b->p->history;
    struct history_cursor c;
    for (uint32_t i = history_find(h, b->q->from_second);
         i < h->end && h->second[i].second <= build_last_second(b->q); i++) {
        const struct history_second *s = &h->second[i];
        if (!big_grow(&b->item, &b->item_cap, b->items + s->count, sizeof *b->item))
            return -ENOMEM;
        for (history_start(&c, s); history_next(&c);)
            take_batch(b, &c);
    }
    return 0;
}

/* Sorts the items by thread. b->groups becomes the threads that have items. */
static int group_by_thread(struct build *b) {
    uint32_t threads = b->p->threads.count;
    uint32_t *at = calloc((size_t)threads + 1, sizeof *at);
    struct item *sorted = big_alloc((size_t)b->items + 1, sizeof *sorted);
    b->group = calloc((size_t)threads + 1, sizeof *b->group);
    int rc = at && sorted && b->group ? 0 : -ENOMEM;
    if (rc != 0)
        goto out;
    for (uint32_t i = 0; i < b->items; i++)
        at[b->item[i].thread + 1]++;
    for (uint32_t t = 0; t < threads; t++) {
        if (at[t + 1])
            b->group[b->groups++] = (struct group){t, at[t], at[t] + at[t + 1]};
        at[t + 1] += at[t];
    }
    for (uint32_t i = 0; i < b->items; i++)
        sorted[at[b->item[i].thread]++] = b->item[i];
    struct item *unsorted = b->item;
    b->item = sorted;
    b->item_cap = b->items + 1;
    sorted = unsorted;
out:
    free(at);
    free(sorted);
    return rc;
}

/* `sum` is by method, and all zeroes before and after the call. If two methods are equal, the
 * smaller id is chosen, as in the profile. */
static void fill_thread_row(struct build *b, const struct group *g, struct snapshot_thread *row,
                            uint64_t *sum) {
    const struct call_node *node = b->p->tree.node;
    uint64_t top = 0;
    row->top_method = METHOD_NONE;
    for (uint32_t i = g->first; i < g->end; i++) {
        if (i + AHEAD < b->items)
            __builtin_prefetch(&node[b->item[i + AHEAD].node]);
        uint32_t m = node[b->item[i].node].method;
        row->weight += b->item[i].weight;
        row->samples += b->item[i].count;
        sum[m] += b->item[i].weight;
        /* Only the method that has just grown can become the top. */
        if (row->top_method == METHOD_NONE || sum[m] > top ||
            (m < row->top_method && sum[m] == top)) {
            row->top_method = m;
            top = sum[m];
        }
    }
    for (uint32_t i = g->first; i < g->end; i++)
        sum[node[b->item[i].node].method] = 0;
}

static int reserve_rows(struct build *b, size_t rows) {
    b->s->threads = malloc((rows + 1) * sizeof *b->s->threads);
    b->row_thread = malloc((rows + 1) * sizeof *b->row_thread);
    return b->s->threads && b->row_thread ? 0 : -ENOMEM;
}

/* Starts the next row, with nothing counted. A virtual thread's name may still be NULL. */
static struct snapshot_thread *start_row(struct build *b, uint32_t thread) {
    const struct thread *t = &b->p->threads.thread[thread];
    struct snapshot_thread *row = &b->s->threads[b->s->thread_count];
    b->row_thread[b->s->thread_count++] = thread;
    *row = (struct snapshot_thread){.tid = t->tid,
                                    .java_id = t->java_id,
                                    .is_virtual = t->is_virtual,
                                    .name = t->is_virtual ? t->virtual_name : t->name,
                                    .ended = t->ended};
    return row;
}

static int rows_from_items(struct build *b) {
    uint64_t *sum = calloc((size_t)method_table_count(b->p->methods) + 1, sizeof *sum);
    int rc = sum ? reserve_rows(b, b->groups) : -ENOMEM;
    for (uint32_t i = 0; i < b->groups && rc == 0; i++)
        fill_thread_row(b, &b->group[i], start_row(b, b->group[i].thread), sum);
    free(sum);
    return rc;
}

/* Replaces the items by one item per node, without threads, in the order of nodes. There are never
 * more of them than before. */
static void merge_items(struct build *b) {
    uint32_t items = 0;
    /* With standing sums, `total` is empty. */
    if (b->standing || b->lean || b->items < b->p->tree.nodes / 64)
        return;
    for (uint32_t n = 0; n < b->p->tree.nodes; n++)
        if (b->total[n].weight | b->total[n].count)
            b->item[items++] = (struct item){0, n, b->total[n].weight, b->total[n].count};
    b->items = items;
}

/* Finds the methods with the most self weight, by thread. */
static void find_tops(const struct standing *s, struct snapshot_thread *const *row) {
    const struct tally *t = &s->by_method;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i], *best;
        struct snapshot_thread *r = row[owner_thread(e->owner)];
        if (!r || !(e->weight | e->count))
            continue;
        best = r->top_method == METHOD_NONE ? NULL : &t->entry[r->top_method];
        if (!best || e->weight > best->weight ||
            (e->weight == best->weight && e->what < best->what))
            r->top_method = i; /* for now, the entry */
    }
}

/* For a window until now, without filter. */
static int rows_from_window(struct build *b) {
    const struct standing *s = b->standing;
    struct snapshot_thread **row = calloc((size_t)s->threads + 1, sizeof(struct snapshot_thread *));
    if (!row || reserve_rows(b, s->threads) != 0) {
        free(row);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < s->threads; i++) {
        if (!(s->thread[i].weight | s->thread[i].count))
            continue;
        row[i] = start_row(b, i);
        row[i]->weight = s->thread[i].weight;
        row[i]->samples = s->thread[i].count;
        row[i]->top_method = METHOD_NONE;
    }
    find_tops(s, row);
    for (uint32_t i = 0; i < s->threads; i++)
        if (row[i] && row[i]->top_method != METHOD_NONE)
            row[i]->top_method = s->by_method.entry[row[i]->top_method].what;
    free(row);
    return 0;
}

/* For a query without filter, since the beginning or until now: the sums already exist. */
static int rows_from_totals(struct build *b) {
    const struct thread_table *t = &b->p->threads;
    uint32_t event = (uint32_t)b->q->event;
    if (b->standing && b->standing->from)
        return rows_from_window(b);
    if (reserve_rows(b, t->count) != 0)
        return -ENOMEM;
    profile_settle_tops(b->p, event);
    for (uint32_t i = 0; i < t->count && i < t->sums[event]; i++) {
        const struct thread_sum *sum = &t->sum[event][i];
        if (!(sum->weight | sum->count))
            continue;
        struct snapshot_thread *row = start_row(b, i);
        row->weight = sum->weight;
        row->samples = sum->count;
        row->top_method = sum->top ? sum->top - 1 : METHOD_NONE;
    }
    return 0;
}

/* Takes the rest of the result from the standing sums. */
static int gather_standing(struct build *b) {
    struct standing *s = b->standing;
    uint32_t event = (uint32_t)b->q->event;
    bool window = s->from > 0;
    b->s->weight = window ? s->weight : b->p->weight[event];
    b->s->samples = window ? s->samples : b->p->samples[event];
    b->s->failed = window ? s->failed : b->p->failed[event];
    return rows_from_totals(b);
}

int gather_leaves(struct build *b) {
    const struct standing *s = b->standing;
    const struct tally *t = s->from ? &s->by_leaf : &b->p->by_node;
    const struct call_node *node = b->p->tree.node;
    bool all = !build_has_roots(b);
    if (!big_grow(&b->item, &b->item_cap, b->items + t->count, sizeof *b->item))
        return -ENOMEM;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        if (i + AHEAD < t->count)
            __builtin_prefetch(&node[e[AHEAD].what]);
        if (owner_event(e->owner) == b->q->event && (e->weight | e->count) &&
            (all || s->self[node[e->what].method].weight >= b->least))
            b->item[b->items++] = (struct item){0, e->what, e->weight, e->count};
    }
    return 0;
}

static int gather_each(struct build *b) {
    int rc = build_always(b->q)                 ? take_always(b)
             : build_from_beginning(b->p, b->q) ? take_until(b)
                                                : take_window(b);
    if (rc == 0)
        rc = group_by_thread(b);
    if (rc == 0)
        rc = rows_from_items(b);
    if (rc == 0 && !b->q->by_thread)
        merge_items(b);
    return rc;
}

int gather_items(struct build *b) {
    const struct query *q = b->q;
    int rc = filter_of_tree(b->p, q, &b->filter);
    if (rc != 0)
        return rc;
    b->s->filter_gave_up = b->filter && b->filter->gave_up;
    bool moved = build_by_carrier(q) && b->p->by_carrier.count > 0;
    bool each = q->tid != QUERY_ALL_THREADS || q->virtual_id != 0 || b->filter || b->left ||
                b->only != CALL_ROOT;
    bool sums = build_always(q) && !each && !moved, items = build_needs_items(q);
    bool standing = !q->sums_only && (sums || (build_until_now(q) && !each && !moved)) &&
                    build_is_standing(q) &&
                    !(items && (q->lines || (sums && b->p->rest != CALL_ROOT)));
    if (standing) {
        bool tree = !items && (build_is_top_down(q) || q->lines);
        unsigned leaves = !items && (q->tree || q->lines) ? STANDING_LEAVES : 0;
        unsigned roots = !items && q->tree && q->inverted && !q->lines ? STANDING_ROOTS : 0;
        b->standing = standing_get(b->p, (uint32_t)q->event, q->from_second,
                                   (tree ? STANDING_TREE : 0) | leaves | roots);
        if (!b->standing)
            return -ENOMEM;
    }
    if (standing && !items)
        return gather_standing(b);
    rc = b->lean ? 0 : spread_reserve(b);
    if (rc != 0 || !sums || items)
        return rc != 0 ? rc : gather_each(b);
    rc = take_tally(b, &b->p->by_node, false);
    return rc != 0 ? rc : rows_from_totals(b);
}
