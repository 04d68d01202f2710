#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX
#define AHEAD 16u /* entries; their nodes are all over the memory */

struct sparks {
    struct build *b;
    uint32_t *method_row, *thread_row; /* by id: the row, or NO_ROW */
    uint32_t cells;
};

static void count_entry(const struct sparks *k, const struct history_entry *e, uint32_t cell) {
    const struct build *b = k->b;
    uint32_t thread = build_by_carrier(b->q) ? e->carrier : owner_thread(e->owner);
    if (owner_event(e->owner) != b->q->event || (b->filter && !filter_keeps(b->filter, e->node)) ||
        !build_asks_for(b->q, &b->p->threads.thread[thread]))
        return;
    uint32_t method = k->method_row[b->p->tree.node[e->node].method], row = k->thread_row[thread];
    if (method != NO_ROW)
        b->s->method_spark[(size_t)method * k->cells + cell] += e->weight;
    if (row != NO_ROW)
        b->s->thread_spark[(size_t)row * k->cells + cell] += e->weight;
}

static void count_second(const struct sparks *k, const struct history_second *s, uint32_t cell) {
    const struct call_node *node = k->b->p->tree.node;
    for (uint32_t i = 0; i < s->count; i++) {
        if (i + AHEAD < s->count)
            __builtin_prefetch(&node[s->entry[i + AHEAD].node]);
        count_entry(k, &s->entry[i], cell);
    }
}

static void find_rows(struct sparks *k) {
    const struct build *b = k->b;
    memset(k->method_row, 0xff, method_table_count(b->p->methods) * sizeof *k->method_row);
    memset(k->thread_row, 0xff, b->p->threads.count * sizeof *k->thread_row);
    for (uint32_t i = 0; i < b->s->method_count; i++)
        k->method_row[b->s->methods[i].method] = i;
    for (uint32_t i = 0; i < b->s->thread_count; i++)
        k->thread_row[b->row_thread[i]] = i;
}

/* Cells are numbered from the beginning of time, so that they do not change while they pass by. */
static void count_cells(struct sparks *k) {
    const struct build *b = k->b;
    const struct history *h = &b->p->history;
    uint64_t seconds = b->q->spark_seconds ? b->q->spark_seconds : 1;
    uint64_t newest = build_last_second(b->q);
    newest = b->p->last_second < newest ? b->p->last_second : newest;
    uint64_t whole = newest / seconds; /* cells that have passed */
    b->s->spark_from = whole > k->cells ? whole - k->cells : 0;
    for (uint32_t i = history_find(h, b->s->spark_from * seconds);
         i < h->end && h->second[i].second < whole * seconds; i++)
        count_second(k, &h->second[i],
                     (uint32_t)(h->second[i].second / seconds - b->s->spark_from));
}

int build_sparks(struct build *b) {
    struct sparks k = {.b = b, .cells = b->q->spark_cells};
    struct snapshot *s = b->s;
    k.method_row = malloc(((size_t)method_table_count(b->p->methods) + 1) * sizeof(uint32_t));
    k.thread_row = malloc(((size_t)b->p->threads.count + 1) * sizeof(uint32_t));
    s->method_spark = calloc(((size_t)s->method_count + 1) * k.cells, sizeof *s->method_spark);
    s->thread_spark = calloc(((size_t)s->thread_count + 1) * k.cells, sizeof *s->thread_spark);
    int rc = k.method_row && k.thread_row && s->method_spark && s->thread_spark ? 0 : -ENOMEM;
    if (rc == 0) {
        find_rows(&k);
        count_cells(&k);
    }
    free(k.method_row);
    free(k.thread_row);
    return rc;
}
