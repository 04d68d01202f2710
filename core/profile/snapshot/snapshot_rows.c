#include "core/profile/snapshot/snapshot_build.h"

#include "core/profile/table/virtual_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct snapshot_thread *row_of(const struct build *b, const uint32_t *row, uint32_t thread) {
    return row[thread] ? &b->s->threads[row[thread] - 1] : NULL;
}

static void add_states(const struct build *b, const struct tally *t, const uint32_t *row) {
    for (uint32_t i = 0; i < t->count; i++) {
        const struct tally_entry *e = &t->entry[i];
        struct snapshot_thread *r = row_of(b, row, owner_thread(e->owner));
        if (!r || owner_event(e->owner) != b->q->event)
            continue;
        uint64_t weight = e->weight < r->state[0] ? e->weight : r->state[0];
        r->state[e->what] += weight;
        r->state[0] -= weight;
    }
}

/* The weight without a known state is what is left of the thread's weight. */
static void add_totals(const struct build *b, const uint32_t *row, bool carriers) {
    const struct profile *p = b->p;
    uint32_t event = (uint32_t)b->q->event;
    for (uint32_t i = 0; i < p->threads.count; i++) {
        const struct thread_sum *sum = thread_table_known_sum(&p->threads, i, event);
        struct snapshot_thread *r = row_of(b, row, i);
        if (r && sum)
            r->state[0] = sum->weight;
    }
    for (uint32_t i = 0; carriers && i < p->by_carrier.count; i++) {
        const struct tally_entry *e = &p->by_carrier.entry[i];
        struct snapshot_thread *r = row_of(b, row, owner_thread(e->owner));
        if (r && owner_event(e->owner) == b->q->event)
            r->state[0] += e->weight;
    }
}

static void add_entry(const struct build *b, const uint32_t *row, bool carriers,
                      const struct history_entry *e) {
    uint32_t thread = carriers ? e->carrier : owner_thread(e->owner);
    struct snapshot_thread *r = row_of(b, row, thread);
    if (r && owner_event(e->owner) == b->q->event &&
        (!b->filter || filter_keeps(b->filter, e->node)) && !build_is_other_row(b, e->node, thread))
        r->state[e->state] += e->weight;
}

/* Adds the states of the samples that the query keeps. */
static void add_window(const struct build *b, const uint32_t *row, bool carriers) {
    const struct history *h = &b->p->history;
    struct history_cursor c;
    for (uint32_t i = history_find(h, b->q->from_second);
         i < h->end && h->second[i].second <= build_last_second(b->q); i++) {
        history_start(&c, &h->second[i]);
        while (history_next(&c))
            for (uint32_t k = 0; k < c.count; k++)
                add_entry(b, row, carriers, &c.entry[k]);
    }
}

int build_states(struct build *b) {
    bool carriers = build_by_carrier(b->q);
    if (b->standing && b->standing->from) {
        for (uint32_t i = 0; i < b->s->thread_count; i++)
            memcpy(b->s->threads[i].state, b->standing->thread[b->row_thread[i]].state,
                   sizeof b->s->threads[i].state);
        return 0;
    }
    uint32_t *row = calloc((size_t)b->p->threads.count + 1, sizeof *row);
    if (!row)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->s->thread_count; i++)
        row[b->row_thread[i]] = i + 1;
    if (build_always(b->q) || build_from_beginning(b->p, b->q)) {
        add_totals(b, row, carriers);
        add_states(b, &b->p->by_state, row);
        if (carriers)
            add_states(b, &b->p->by_carrier_state, row);
    } else {
        add_window(b, row, carriers);
    }
    free(row);
    return 0;
}

static char *name_platform_root(const struct thread *t) {
    size_t size = strlen(t->name) + sizeof "[ tid=4294967295]";
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "[%s%stid=%u]", t->name, *t->name ? " " : "", t->tid);
    return name;
}

static char *name_virtual_root(const struct thread *t) {
    char room[VIRTUAL_NAME_SIZE];
    const char *shown = virtual_threads_shown(t->virtual_name, t->java_id, room);
    size_t size = strlen(shown) + sizeof "[ virtual=18446744073709551615]";
    char *name = malloc(size);
    if (name && t->java_id == 0)
        snprintf(name, size, "%s", shown);
    else if (name)
        snprintf(name, size, "[%s virtual=%" PRIu64 "]", shown, t->java_id);
    return name;
}

uint32_t branch_of_thread(struct build *b, const struct group *g) {
    const struct thread *t = &b->p->threads.thread[g->thread];
    char *name = t->is_virtual ? name_virtual_root(t) : name_platform_root(t);
    if (!name)
        return SNAPSHOT_ROOT;
    uint32_t method = method_table_intern(b->p->methods, METHOD_THREAD, "", name, "", "");
    free(name);
    return method == METHOD_NONE ? SNAPSHOT_ROOT : branch_add(b, SNAPSHOT_ROOT, method);
}

static bool is_listed(const struct query *q, uint32_t root) {
    for (uint32_t i = 0; i < q->open_roots; i++)
        if (q->open_root[i] == root)
            return true;
    return false;
}

bool branch_opens(struct build *b, const struct group *g, uint32_t branch, uint64_t weight) {
    const struct query *q = b->q;
    bool heavy = q->open_ppm && (double)weight * 1e6 >= (double)b->s->weight * q->open_ppm;
    /* Nothing is below a light root, so it is not closed. */
    if (!q->close_roots || heavy || weight < b->least || g->thread == b->heaviest ||
        is_listed(q, b->branch[branch].method))
        return true;
    b->closed[b->closed_count++] = branch;
    return false;
}

static uint32_t find_heaviest(const struct build *b) {
    uint64_t most = 0;
    uint32_t thread = UINT32_MAX;
    for (uint32_t i = 0; i < b->groups; i++) {
        uint64_t weight = 0;
        for (uint32_t k = b->group[i].first; k < b->group[i].end; k++)
            weight += b->item[k].weight;
        if (thread == UINT32_MAX || weight > most) {
            most = weight;
            thread = b->group[i].thread;
        }
    }
    return thread;
}

/* The groups still have the order of the thread rows, which contain their weights. */
static bool shares_root(const struct build *b, uint32_t group, bool full) {
    uint32_t thread = b->group[group].thread;
    return b->p->threads.thread[thread].is_virtual &&
           (full || thread == b->p->threads.others_virtual ||
            b->s->threads[group].weight < b->least);
}

/* Keeps the groups that have a root of their own, and appends one group with all items of the
 * others. There is at least one such item, and `light` has room for them. */
static void share_root(struct build *b, bool full, struct item *light) {
    uint32_t groups = 0, items = 0, lights = 0;
    for (uint32_t i = 0; i < b->groups; i++) {
        struct group g = b->group[i];
        uint32_t count = g.end - g.first;
        if (shares_root(b, i, full)) {
            memcpy(light + lights, b->item + g.first, count * sizeof *light);
            lights += count;
        } else {
            memmove(b->item + items, b->item + g.first, count * sizeof *light);
            b->group[groups++] = (struct group){g.thread, items, items + count};
            items += count;
        }
    }
    b->group[groups++] = (struct group){b->p->threads.others_virtual, items, items + lights};
    memcpy(b->item + items, light, lights * sizeof *light);
    b->items = items + lights;
    b->groups = groups;
}

/* The name of every root becomes a method, and methods are never removed. So with millions of
 * short-lived threads, a snapshot taken every second must not add a method for each of them. */
static int share_light(struct build *b) {
    bool full = method_table_count(b->p->methods) >= b->p->limits.virtual_roots;
    uint32_t lights = 0;
    if (b->least == 0 && !full)
        return 0;
    for (uint32_t i = 0; i < b->groups; i++)
        lights += shares_root(b, i, full) ? b->group[i].end - b->group[i].first : 0;
    if (lights == 0)
        return 0;
    struct item *light = big_alloc(lights, sizeof *light);
    if (!light)
        return -ENOMEM;
    share_root(b, full, light);
    free(light);
    return 0;
}

int build_threads(struct build *b) {
    int rc = share_light(b);
    if (rc != 0 || !b->q->close_roots)
        return rc;
    b->heaviest = find_heaviest(b);
    b->closed = calloc((size_t)b->groups + 1, sizeof *b->closed);
    return b->closed ? 0 : -ENOMEM;
}

/* Lists the ids of the methods that have a row, in the order of names. */
static uint32_t list_rows(const struct build *b, const struct row *row, struct order_key *key) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->p->ranks; i++) {
        uint32_t m = b->p->ranked[i];
        const struct row *r = &row[m];
        uint64_t any = r->total;
        for (int t = 0; t < TIERS; t++)
            any |= r->tier[t];
        if (any)
            key[n++] = (struct order_key){.node = m};
    }
    return n;
}

/* Sorting is stable. The list is already sorted by name; sorting it by total and then by self gives
 * the order self, total, name. */
static void sort_rows(const struct row *row, struct order_key *key, const struct total *self,
                      uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        key[i].key = ~row[key[i].node].total;
    order_keys(key, key + n, n);
    for (uint32_t i = 0; i < n; i++)
        key[i].key = ~self[key[i].node].weight;
    order_keys(key, key + n, n);
}

static int write_rows(struct build *b, const struct row *row, const struct total *self) {
    struct order_key *key = malloc(((size_t)b->p->ranks + 1) * 2 * sizeof *key);
    uint32_t n = key ? list_rows(b, row, key) : 0;
    b->s->methods = malloc(((size_t)n + 1) * sizeof *b->s->methods);
    if (!key || !b->s->methods) {
        free(key);
        return -ENOMEM;
    }
    sort_rows(row, key, self, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = key[i].node;
        struct snapshot_method *out = &b->s->methods[i];
        *out = (struct snapshot_method){.method = m,
                                        .self = self[m].weight,
                                        .self_samples = self[m].count,
                                        .total = row[m].total};
        for (int t = 0; t < TIERS; t++) {
            out->tier[t] = row[m].tier[t];
            out->total_samples += out->tier[t];
        }
    }
    b->s->method_count = n;
    free(key);
    return 0;
}

static int rows_from_standing(struct build *b) {
    int rc = order_update(b->p);
    if (rc == 0)
        rc = write_rows(b, b->standing->row, b->standing->self);
    bool nodes = build_is_top_down(b->q) || b->q->lines;
    return rc == 0 && nodes && !build_needs_items(b->q) ? build_from_standing(b) : rc;
}

/* Keeps the touches of all items as one group, for lines and for a tree built from touches. */
int build_method_rows(struct build *b) {
    size_t methods = method_table_count(b->p->methods);
    if (b->standing)
        return rows_from_standing(b);
    struct total *self = calloc(methods + 1, sizeof *self);
    b->row = calloc(methods + 1, sizeof *b->row);
    b->want_touches =
        b->q->lines || (b->q->tree && !b->q->inverted && !b->q->by_thread && !b->lean);
    int rc = self && b->row ? order_update(b->p) : -ENOMEM;
    if (rc == 0)
        rc = b->lean ? build_forks(b) : spread_totals(b);
    for (uint32_t i = 0; rc == 0 && i < b->items; i++) {
        uint32_t m = b->p->tree.node[b->item[i].node].method;
        self[m].weight += b->item[i].weight;
        self[m].count += b->item[i].count;
    }
    if (rc == 0)
        rc = write_rows(b, b->row, self);
    free(self);
    free(b->row);
    b->row = NULL;
    return rc;
}
