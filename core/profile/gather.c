#include "core/profile/snapshot_build.h"

#include "core/profile/filter.h"

#include <errno.h>
#include <stdlib.h>

struct entry {
    uint32_t node, thread;
    int event;
    uint64_t weight, count, failed;
};

static bool by_carrier(const struct query *q) {
    return q->carriers && q->virtual_id == 0;
}

/* Whether the query is about this thread, among others. */
static bool is_asked_for(const struct query *q, const struct thread *t) {
    if (q->virtual_id != 0)
        return t->is_virtual && t->java_id == q->virtual_id;
    return q->tid == QUERY_ALL_THREADS || (!t->is_virtual && t->tid == q->tid);
}

/* There is room for the item. */
static inline void take(struct build *b, struct entry e) {
    if (e.event != b->q->event || (b->drop && b->drop[e.node]) || (e.weight == 0 && e.count == 0) ||
        !is_asked_for(b->q, &b->p->threads.thread[e.thread]))
        return;
    b->item[b->items++] = (struct item){e.thread, e.node, e.weight, e.count};
    b->s->weight += e.weight;
    b->s->samples += e.count;
    b->s->failed += e.failed;
}

/* `platform`: only what belongs to platform threads. */
static int take_tally(struct build *b, const struct tally *t, bool platform) {
    if (!big_grow(&b->item, &b->item_cap, b->items + t->count, sizeof *b->item))
        return -ENOMEM;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        uint32_t thread = owner_thread(e->owner);
        if (!platform || !b->p->threads.thread[thread].is_virtual)
            take(b, (struct entry){e->what, thread, owner_event(e->owner), e->weight, e->count,
                                   e->failed});
    }
    return 0;
}

static int take_always(struct build *b) {
    int rc = take_tally(b, &b->p->by_pair, by_carrier(b->q));
    return rc == 0 && by_carrier(b->q) ? take_tally(b, &b->p->by_carrier, true) : rc;
}

static int take_window(struct build *b) {
    const struct history *h = &b->p->history;
    for (uint32_t i = history_find(h, b->q->from_second);
         i < h->end && h->second[i].second <= b->q->to_second; i++) {
        const struct history_second *s = &h->second[i];
        if (!big_grow(&b->item, &b->item_cap, b->items + s->count, sizeof *b->item))
            return -ENOMEM;
        for (uint32_t j = 0; j < s->count; j++) {
            const struct history_entry *e = &s->entry[j];
            uint32_t thread = by_carrier(b->q) ? e->carrier : owner_thread(e->owner);
            take(b, (struct entry){e->node, thread, owner_event(e->owner), e->weight, e->count,
                                   e->failed ? e->count : 0});
        }
    }
    return 0;
}

/* Brings the items of each thread together. b->groups become the threads that have any. */
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

uint32_t gather_merge(struct build *b, struct group *g, uint32_t out, uint32_t *where) {
    uint32_t first = out;
    for (uint32_t i = g->first; i < g->end; i++) {
        struct item it = b->item[i];
        uint32_t have = where[it.node];
        if (have >= first && have < out && b->item[have].node == it.node) {
            b->item[have].weight += it.weight;
            b->item[have].count += it.count;
        } else {
            where[it.node] = out;
            b->item[out++] = it;
        }
    }
    *g = (struct group){g->thread, first, out};
    return out;
}

/* `sum` by method, zero before and after. The smaller id wins a tie, as in the profile. */
static void fill_thread_row(struct build *b, const struct group *g, struct snapshot_thread *row,
                            uint64_t *sum) {
    const struct call_node *node = b->p->tree.node;
    for (uint32_t i = g->first; i < g->end; i++) {
        row->weight += b->item[i].weight;
        row->samples += b->item[i].count;
        sum[node[b->item[i].node].method] += b->item[i].weight;
    }
    uint64_t top = 0;
    row->top_method = METHOD_NONE;
    for (uint32_t i = g->first; i < g->end; i++) {
        uint32_t m = node[b->item[i].node].method;
        uint64_t self = sum[m];
        if (row->top_method == METHOD_NONE || self > top || (self == top && m < row->top_method)) {
            row->top_method = m;
            top = self;
        }
    }
    for (uint32_t i = g->first; i < g->end; i++)
        sum[node[b->item[i].node].method] = 0;
}

/* A virtual thread's name may be NULL yet. */
static struct snapshot_thread thread_row(const struct thread *t) {
    return (struct snapshot_thread){.tid = t->tid,
                                    .java_id = t->java_id,
                                    .is_virtual = t->is_virtual,
                                    .name = t->is_virtual ? t->virtual_name : t->name,
                                    .ended = t->ended};
}

static int rows_from_items(struct build *b) {
    uint32_t *where = calloc((size_t)b->p->tree.nodes + 1, sizeof *where);
    uint64_t *sum = calloc((size_t)method_table_count(b->p->methods) + 1, sizeof *sum);
    b->s->threads = malloc(((size_t)b->groups + 1) * sizeof *b->s->threads);
    int rc = where && sum && b->s->threads ? 0 : -ENOMEM;
    if (rc != 0)
        goto out;
    uint32_t end = 0;
    for (uint32_t i = 0; i < b->groups; i++) {
        struct group *g = &b->group[i];
        end = gather_merge(b, g, end, where);
        struct snapshot_thread *row = &b->s->threads[b->s->thread_count++];
        *row = thread_row(&b->p->threads.thread[g->thread]);
        fill_thread_row(b, g, row, sum);
    }
    b->items = end;
    if (!b->q->by_thread) {
        b->group[0] = (struct group){0, 0, b->items};
        b->groups = 1;
        b->items = gather_merge(b, b->group, 0, where);
    }
out:
    free(where);
    free(sum);
    return rc;
}

/* Since the beginning, unfiltered: the sums are there already. */
static int rows_from_totals(struct build *b) {
    const struct thread_table *t = &b->p->threads;
    b->s->threads = malloc(((size_t)t->count + 1) * sizeof *b->s->threads);
    b->group = malloc(sizeof *b->group);
    if (!b->s->threads || !b->group)
        return -ENOMEM;
    b->group[0] = (struct group){0, 0, b->items};
    b->groups = 1;
    for (uint32_t i = 0; i < t->count; i++) {
        if (!t->thread[i].event[b->q->event].weight && !t->thread[i].event[b->q->event].count)
            continue;
        struct snapshot_thread *row = &b->s->threads[b->s->thread_count++];
        *row = thread_row(&t->thread[i]);
        row->weight = t->thread[i].event[b->q->event].weight;
        row->samples = t->thread[i].event[b->q->event].count;
        row->top_method = t->thread[i].event[b->q->event].top_method;
    }
    return 0;
}

int gather_items(struct build *b) {
    const struct query *q = b->q;
    bool always = q->from_second == 0 && q->to_second == 0;
    int rc = filter_nodes(b->p, q->filter, &b->drop);
    if (rc != 0)
        return rc;
    bool each = q->tid != QUERY_ALL_THREADS || q->virtual_id != 0 || q->by_thread || b->drop;
    bool moved = by_carrier(q) && b->p->by_carrier.count > 0;
    if (always && !each && !moved) {
        rc = take_tally(b, &b->p->by_node, false);
        return rc != 0 ? rc : rows_from_totals(b);
    }
    rc = always ? take_always(b) : take_window(b);
    if (rc == 0)
        rc = group_by_thread(b);
    return rc != 0 ? rc : rows_from_items(b);
}
