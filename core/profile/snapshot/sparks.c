#include "core/profile/snapshot/sparks.h"

#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The nodes of a second's entries are scattered in memory, so they are prefetched this many entries
 * ahead. */
#define AHEAD 16u
/* With more methods and threads than fit into this, nothing is kept between two queries. */
#define KEPT_BYTES ((size_t)16 << 20)

void sparks_free(struct sparks *k) {
    free(k->cell);
    free(k->method);
    free(k->thread);
    *k = (struct sparks){0};
}

static bool same(const struct sparks_key *a, const struct sparks_key *b) {
    return a->event == b->event && a->carriers == b->carriers && a->tid == b->tid &&
           a->virtual_id == b->virtual_id && a->filter == b->filter && a->seconds == b->seconds &&
           a->cells == b->cells;
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
                               .filter = b->filter ? b->filter->serial : 0,
                               .seconds = q->spark_seconds ? q->spark_seconds : 1,
                               .cells = q->spark_cells};
}

static int make_room(struct sparks *k, const struct profile *p) {
    size_t size = k->key.cells * sizeof *k->method;
    if (!k->cell)
        k->cell = calloc(k->key.cells, sizeof *k->cell);
    return k->cell &&
                   big_grow_zeroed(&k->method, &k->method_cap, &k->methods,
                                   method_table_count(p->methods), size) &&
                   big_grow_zeroed(&k->thread, &k->thread_cap, &k->threads, p->threads.count, size)
               ? 0
               : -ENOMEM;
}

/* Returns the kept ones for this query, or the ones that were not queried for longest, emptied. */
static struct sparks *choose(struct build *b) {
    struct sparks_key key = key_of(b);
    struct sparks *oldest = &b->p->sparks[0];
    for (int i = 0; i < SPARKS; i++) {
        struct sparks *k = &b->p->sparks[i];
        if (k->cell && can_keep(b) && same(&k->key, &key))
            return k;
        oldest = k->asked < oldest->asked ? k : oldest;
    }
    sparks_free(oldest);
    oldest->key = key;
    return oldest;
}

static void clear_column(struct sparks *k, uint32_t column) {
    for (uint32_t i = 0; i < k->methods; i++)
        k->method[(size_t)i * k->key.cells + column] = 0;
    for (uint32_t i = 0; i < k->threads; i++)
        k->thread[(size_t)i * k->key.cells + column] = 0;
}

static void count_entry(const struct build *b, struct sparks *k, uint32_t column,
                        const struct history_entry *e) {
    uint32_t thread = k->key.carriers ? e->carrier : owner_thread(e->owner);
    if (owner_event(e->owner) != b->q->event || (b->filter && !filter_keeps(b->filter, e->node)) ||
        !build_asks_for(b->q, &b->p->threads.thread[thread]) ||
        build_is_other_row(b, e->node, thread))
        return;
    uint32_t method = b->p->tree.node[build_leaf(b, e->node, thread)].method;
    k->method[(size_t)method * k->key.cells + column] += e->weight;
    k->thread[(size_t)thread * k->key.cells + column] += e->weight;
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
    clear_column(k, column);
    for (uint32_t i = first; i < end; i++)
        count_second(b, k, column, &h->second[i]);
    *cell = now;
}

/* Copies a row's cells from `from` to before `end`, oldest first. */
static void copy_row(const struct sparks *k, const uint64_t *row, uint64_t from, uint64_t end,
                     uint64_t *out) {
    for (uint64_t n = from; n < end; n++)
        *out++ = row[n % k->key.cells];
}

static void write_rows(const struct build *b, const struct sparks *k, uint64_t from, uint64_t end) {
    struct snapshot *s = b->s;
    size_t cells = k->key.cells;
    for (uint32_t i = 0; i < s->method_count; i++)
        copy_row(k, &k->method[s->methods[i].method * cells], from, end,
                 &s->method_spark[i * cells]);
    for (uint32_t i = 0; i < s->thread_count; i++)
        copy_row(k, &k->thread[b->row_thread[i] * cells], from, end, &s->thread_spark[i * cells]);
}

/* Frees what is too large to keep. */
static void put_back(struct build *b, struct sparks *k, bool complete) {
    size_t rows = (size_t)k->method_cap + k->thread_cap;
    if (!complete || !can_keep(b) || rows * k->key.cells * sizeof *k->method > KEPT_BYTES)
        sparks_free(k);
    else
        k->asked = ++b->p->asked;
}

int build_sparks(struct build *b) {
    struct snapshot *s = b->s;
    struct sparks *k = choose(b);
    uint64_t newest = build_last_second(b->q);
    newest = b->p->last_second < newest ? b->p->last_second : newest;
    uint64_t end = newest / k->key.seconds; /* the cells before this one are complete */
    s->spark_from = end > k->key.cells ? end - k->key.cells : 0;
    s->method_spark = calloc((size_t)s->method_count + 1, k->key.cells * sizeof(uint64_t));
    s->thread_spark = calloc((size_t)s->thread_count + 1, k->key.cells * sizeof(uint64_t));
    int rc = s->method_spark && s->thread_spark ? make_room(k, b->p) : -ENOMEM;
    for (uint64_t n = s->spark_from; rc == 0 && n < end; n++)
        count_cell(b, k, n);
    if (rc == 0)
        write_rows(b, k, s->spark_from, end);
    put_back(b, k, rc == 0);
    return rc;
}
