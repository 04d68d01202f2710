#include "core/profile/snapshot/history_read.h"

#include "core/base/hash.h"
#include "core/profile/profile_state.h"
#include "core/profile/snapshot/filter.h"
#include "core/profile/snapshot/snapshot_build.h"
#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct profile *p;
    const struct query *q;
    struct history_reading *r;
    struct filter own;
    const struct filter *filter; /* NULL: everything is kept */
    bool carriers;
    /* for a query about everything: what must still be found in the history */
    struct history_item *left;
    uint32_t lefts, left_cap;
    struct index left_index;
};

static bool is_asked_for(const struct reader *d, uint32_t thread, uint32_t node) {
    const struct query *q = d->q;
    const struct thread *t = &d->p->threads.thread[thread];
    if (d->filter && !filter_keeps(d->filter, node))
        return false;
    if (q->virtual_id != 0)
        return t->is_virtual && t->java_id == q->virtual_id;
    return q->tid == QUERY_ALL_THREADS || (!t->is_virtual && t->tid == q->tid);
}

static int add_item(struct history_reading *r, struct history_item it) {
    if (it.weight == 0 && it.count == 0)
        return 0;
    if (r->items == r->cap) {
        size_t cap = r->cap ? r->cap * 2 : 1024;
        struct history_item *item = realloc(r->item, cap * sizeof *item);
        if (!item)
            return -ENOMEM;
        r->item = item;
        r->cap = cap;
    }
    r->item[r->items++] = it;
    r->weight += it.weight;
    r->count += it.count;
    return 0;
}

static struct history_item *find_left(struct reader *d, uint32_t node, uint32_t thread,
                                      uint32_t *hash) {
    *hash = (uint32_t)hash_pair(index_seed(&d->left_index), node, thread);
    uint32_t pos = *hash, id;
    while ((id = index_next(&d->left_index, *hash, &pos)) != INDEX_NONE)
        if (d->left[id].node == node && d->left[id].thread == thread)
            return &d->left[id];
    return NULL;
}

/* `platform`: take only entries of platform threads. */
static int take_tally(struct reader *d, const struct tally *t, bool platform) {
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        uint32_t thread = owner_thread(e->owner), hash;
        if (owner_event(e->owner) != d->q->event || !is_asked_for(d, thread, e->what) ||
            (platform && d->p->threads.thread[thread].is_virtual))
            continue;
        struct history_item *have = find_left(d, e->what, thread, &hash);
        if (have) {
            have->weight += e->weight;
            have->count += e->count;
            continue;
        }
        if (d->lefts == d->left_cap) {
            uint32_t cap = d->left_cap ? d->left_cap * 2 : 1024;
            struct history_item *left = realloc(d->left, cap * sizeof *left);
            if (!left)
                return -ENOMEM;
            d->left = left;
            d->left_cap = cap;
        }
        if (index_reserve(&d->left_index) != 0)
            return -ENOMEM;
        index_put(&d->left_index, hash, d->lefts);
        d->left[d->lefts++] =
            (struct history_item){d->p->first_second, e->weight, e->count, e->what, thread, 0, 0};
    }
    return 0;
}

static int take_entry(struct reader *d, uint64_t second, const struct history_entry *e,
                      bool always) {
    uint32_t thread = d->carriers ? e->carrier : owner_thread(e->owner), hash;
    struct history_item it = {second, e->weight, e->count, e->node, thread, 0, e->state};
    if (owner_event(e->owner) != d->q->event || !is_asked_for(d, thread, e->node))
        return 0;
    if (always) {
        struct history_item *left = find_left(d, e->node, thread, &hash);
        if (!left)
            return 0;
        it.weight = it.weight < left->weight ? it.weight : left->weight;
        it.count = it.count < left->count ? it.count : left->count;
        left->weight -= it.weight;
        left->count -= it.count;
        if (d->q->to_second && second > d->q->to_second)
            return 0;
    }
    return add_item(d->r, it);
}

static int take_second(struct reader *d, const struct history_second *s, bool always) {
    struct history_cursor c;
    int rc = 0;
    history_start(&c, s);
    while (rc == 0 && history_next(&c))
        for (uint32_t i = 0; rc == 0 && i < c.count; i++)
            rc = take_entry(d, s->second, &c.entry[i], always);
    return rc;
}

/* Takes the newest second first, so that weight that was taken back is missing in the oldest
 * seconds. */
static int take_seconds(struct reader *d, uint64_t from, uint64_t to, bool always) {
    const struct history *h = &d->p->history;
    uint32_t first = history_find(h, from), end = first;
    int rc = 0;
    while (end < h->end && h->second[end].second <= to)
        end++;
    while (rc == 0 && end > first)
        rc = take_second(d, &h->second[--end], always);
    return rc;
}

static int take_everything(struct reader *d) {
    int rc = take_tally(d, &d->p->by_pair, d->carriers);
    if (rc == 0 && d->carriers)
        rc = take_tally(d, &d->p->by_carrier, false);
    if (rc == 0)
        rc = take_seconds(d, 0, UINT64_MAX, true);
    for (uint32_t i = 0; rc == 0 && i < d->lefts; i++)
        rc = add_item(d->r, d->left[i]);
    return rc;
}

static void reverse(struct history_reading *r) {
    for (size_t i = 0; i < r->items / 2; i++) {
        struct history_item it = r->item[i];
        r->item[i] = r->item[r->items - 1 - i];
        r->item[r->items - 1 - i] = it;
    }
    if (r->items) {
        r->first = r->item[0].second;
        r->last = r->item[r->items - 1].second;
    }
}

/* Replaces rows of the profile's thread table by rows of the reading. */
static int name_threads(struct reader *d) {
    struct history_reading *r = d->r;
    uint32_t count = d->p->threads.count;
    uint32_t *row = calloc((size_t)count + 1, sizeof *row);
    r->thread = calloc((size_t)count + 1, sizeof *r->thread);
    int rc = row && r->thread ? 0 : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < r->items; i++) {
        uint32_t *to = &row[r->item[i].thread];
        if (!*to) {
            const struct thread *t = &d->p->threads.thread[r->item[i].thread];
            char room[VIRTUAL_NAME_SIZE];
            const char *name =
                t->is_virtual ? virtual_threads_shown(t->virtual_name, t->java_id, room) : t->name;
            struct history_thread *h = &r->thread[r->threads++];
            *h = (struct history_thread){t->tid, t->java_id, t->is_virtual, strdup(name)};
            if (!h->name)
                rc = -ENOMEM;
            *to = r->threads;
        }
        r->item[i].thread = *to - 1;
    }
    free(row);
    return rc;
}

struct history_reading *history_read(const struct profile *p, const struct query *q) {
    struct reader d = {
        .p = p, .q = q, .r = calloc(1, sizeof *d.r), .carriers = q->carriers && q->virtual_id == 0};
    if (!d.r)
        return NULL;
    int rc = 0;
    if (q->event >= 0 && q->event < PROFILE_EVENTS) {
        bool always = build_always(q) || build_from_beginning(p, q);
        rc = filter_nodes(&d.own, p, &p->tree, q, &d.filter);
        if (rc == 0)
            rc = always ? take_everything(&d)
                        : take_seconds(&d, q->from_second, q->to_second ? q->to_second : UINT64_MAX,
                                       false);
        reverse(d.r);
        if (rc == 0)
            rc = name_threads(&d);
    }
    filter_free(&d.own);
    free(d.left);
    index_free(&d.left_index);
    if (rc != 0) {
        history_reading_free(d.r);
        return NULL;
    }
    return d.r;
}

void history_reading_free(struct history_reading *r) {
    if (!r)
        return;
    for (uint32_t i = 0; i < r->threads; i++)
        free(r->thread[i].name);
    free(r->thread);
    free(r->item);
    free(r);
}

const struct call_tree *history_tree(const struct profile *p) {
    return &p->tree;
}

uint32_t history_stack(const struct profile *p, const struct query *q, uint32_t node,
                       struct profile_frame *out) {
    const struct call_tree *t = &p->tree;
    uint32_t n = 0, outermost = 0;
    while (node < t->nodes && n < PROFILE_STACK_MAX) {
        const struct call_node *c = &t->node[node];
        out[n++] = (struct profile_frame){.method = c->method, .line = c->line, .tier = c->tier};
        if (c->method == q->method)
            outermost = n;
        node = c->parent;
    }
    return q->from_method && q->with_method && outermost ? outermost : n;
}
