#include "core/profile/snapshot/sparks.h"

#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The nodes of a second's entries are scattered in memory, so they are prefetched this many entries
 * ahead. */
#define AHEAD 16u
/* Larger ones are not kept between two queries. */
#define KEPT_BYTES ((size_t)16 << 20)

static void free_rows(struct sparks_rows *r) {
    free(r->row_of);
    free(r->weight);
}

void sparks_free(struct sparks *k) {
    free(k->cell);
    free_rows(&k->methods);
    free_rows(&k->threads);
    *k = (struct sparks){0};
}

static bool same(const struct sparks_key *a, const struct sparks_key *b) {
    return a->event == b->event && a->carriers == b->carriers && a->tid == b->tid &&
           a->virtual_id == b->virtual_id && a->filter == b->filter &&
           a->filter_serial == b->filter_serial && a->filter_want == b->filter_want &&
           a->seconds == b->seconds && a->cells == b->cells;
}

/* What folded native frames count for can change with a thread's name, so these cells cannot be
 * used again. */
static bool can_keep(const struct build *b) {
    return !b->left && b->only == CALL_ROOT;
}

static struct sparks_key key_of(const struct build *b) {
    const struct query *q = b->q;
    return (struct sparks_key){.event = q->event,
                               .carriers = build_by_carrier(q),
                               .tid = q->tid,
                               .virtual_id = q->virtual_id,
                               .filter = b->filter,
                               .filter_serial = b->filter ? b->filter->serial : 0,
                               .filter_want = b->filter ? b->filter->want : 0,
                               .seconds = q->spark_seconds ? q->spark_seconds : 1,
                               .cells = q->spark_cells};
}

static int make_room(struct sparks *k, const struct profile *p) {
    struct sparks_rows *m = &k->methods, *t = &k->threads;
    if (!k->cell)
        k->cell = calloc(k->key.cells, sizeof *k->cell);
    bool made =
        k->cell &&
        big_grow_zeroed(&m->row_of, &m->id_cap, &m->ids, method_table_count(p->methods),
                        sizeof *m->row_of) &&
        big_grow_zeroed(&t->row_of, &t->id_cap, &t->ids, p->threads.count, sizeof *t->row_of);
    return made ? 0 : -ENOMEM;
}

/* Returns what is kept for this query; otherwise the least recently queried one, emptied, or `own` if
 * it cannot be kept. */
static struct sparks *choose(struct build *b, struct sparks *own) {
    struct sparks_key key = key_of(b);
    struct sparks *oldest = &b->p->sparks[0];
    *own = (struct sparks){.key = key};
    if (!can_keep(b))
        return own;
    for (int i = 0; i < SPARKS; i++) {
        struct sparks *k = &b->p->sparks[i];
        if (k->cell && same(&k->key, &key))
            return k;
        oldest = k->asked < oldest->asked ? k : oldest;
    }
    sparks_free(oldest);
    oldest->key = key;
    return oldest;
}

static void clear_column(struct sparks_rows *r, uint32_t cells, uint32_t column) {
    for (uint32_t i = 0; i < r->rows; i++)
        r->weight[(size_t)i * cells + column] = 0;
}

static void add_weight(struct sparks *k, struct sparks_rows *r, uint32_t id, uint32_t column,
                       uint64_t weight) {
    size_t cells = k->key.cells;
    if (!r->row_of[id]) {
        if (!big_grow_zeroed(&r->weight, &r->row_cap, &r->rows, r->rows + 1,
                             cells * sizeof *r->weight)) {
            k->failed = true;
            return;
        }
        r->row_of[id] = r->rows;
    }
    r->weight[(r->row_of[id] - 1) * cells + column] += weight;
}

static void count_entry(const struct build *b, struct sparks *k, uint32_t column,
                        const struct history_entry *e) {
    uint32_t thread = k->key.carriers ? e->carrier : owner_thread(e->owner);
    if (owner_event(e->owner) != b->q->event || (b->filter && !filter_keeps(b->filter, e->node)) ||
        !build_asks_for(b->q, &b->p->threads.thread[thread]) ||
        build_is_other_row(b, e->node, thread))
        return;
    uint32_t method = b->p->tree.node[build_leaf(b, e->node, thread)].method;
    add_weight(k, &k->methods, method, column, e->weight);
    add_weight(k, &k->threads, thread, column, e->weight);
}

static void count_second(const struct build *b, struct sparks *k, uint32_t column,
                         const struct history_second *s) {
    const struct call_node *node = b->p->tree.node;
    struct history_cursor c;
    history_start(&c, s);
    while (history_next(&c)) {
        for (uint32_t i = 0; i < c.count; i++) {
            if (i + AHEAD < c.count)
                __builtin_prefetch(&node[c.entry[i + AHEAD].node]);
            count_entry(b, k, column, &c.entry[i]);
        }
    }
}

static void count_cell(const struct build *b, struct sparks *k, uint64_t number) {
    const struct history *h = &b->p->history;
    uint32_t first = history_find(h, number * k->key.seconds), end = first;
    uint32_t column = (uint32_t)(number % k->key.cells);
    struct sparks_cell now = {.valid = true, .number = number}, *cell = &k->cell[column];
    for (; end < h->end && h->second[end].second / k->key.seconds == number; end++)
        now.changed = now.changed > h->second[end].changed ? now.changed : h->second[end].changed;
    now.seconds = end - first;
    if (cell->valid && cell->number == number && cell->seconds == now.seconds &&
        cell->changed == now.changed)
        return;
    if (cell->valid) {
        clear_column(&k->methods, k->key.cells, column);
        clear_column(&k->threads, k->key.cells, column);
    }
    for (uint32_t i = first; i < end; i++)
        count_second(b, k, column, &h->second[i]);
    *cell = now;
}

/* Copies the cells from `from` to before `end`, oldest first; *out has only zeroes before. */
static void copy_row(const struct sparks *k, const struct sparks_rows *r, uint32_t id,
                     uint64_t from, uint64_t end, uint64_t *out) {
    size_t cells = k->key.cells;
    for (uint64_t n = from; r->row_of[id] && n < end; n++)
        *out++ = r->weight[(r->row_of[id] - 1) * cells + n % cells];
}

static void write_rows(const struct build *b, const struct sparks *k, uint64_t from, uint64_t end) {
    struct snapshot *s = b->s;
    size_t cells = k->key.cells;
    for (uint32_t i = 0; i < s->method_count; i++)
        copy_row(k, &k->methods, s->methods[i].method, from, end, &s->method_spark[i * cells]);
    for (uint32_t i = 0; i < s->thread_count; i++)
        copy_row(k, &k->threads, b->row_thread[i], from, end, &s->thread_spark[i * cells]);
}

/* Frees what must not be kept, or is too large for it. */
static void put_back(struct build *b, struct sparks *k, bool complete) {
    size_t bytes = ((size_t)k->methods.row_cap + k->threads.row_cap) * k->key.cells *
                       sizeof *k->methods.weight +
                   ((size_t)k->methods.id_cap + k->threads.id_cap) * sizeof *k->methods.row_of;
    if (!complete || !can_keep(b) || bytes > KEPT_BYTES)
        sparks_free(k);
    else
        k->asked = ++b->p->asked;
}

int build_sparks(struct build *b) {
    struct snapshot *s = b->s;
    struct sparks own, *k = choose(b, &own);
    uint64_t newest = build_last_second(b->q);
    newest = b->p->last_second < newest ? b->p->last_second : newest;
    uint64_t end = newest / k->key.seconds; /* the cells before this one are complete */
    s->spark_from = end > k->key.cells ? end - k->key.cells : 0;
    s->method_spark = calloc((size_t)s->method_count + 1, k->key.cells * sizeof(uint64_t));
    s->thread_spark = calloc((size_t)s->thread_count + 1, k->key.cells * sizeof(uint64_t));
    int rc = s->method_spark && s->thread_spark ? make_room(k, b->p) : -ENOMEM;
    for (uint64_t n = s->spark_from; rc == 0 && n < end; n++)
        count_cell(b, k, n);
    if (rc == 0 && k->failed)
        rc = -ENOMEM;
    if (rc == 0)
        write_rows(b, k, s->spark_from, end);
    put_back(b, k, rc == 0);
    return rc;
}
