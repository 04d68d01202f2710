#include "core/profile/snapshot/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

/* The ids of the methods that have a row, in the order of names. */
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

/* Sorting is stable: by name already, then by total, then by self is by self, total, name. */
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
    return rc == 0 && (build_is_top_down(b->q) || b->q->lines) ? build_from_standing(b) : rc;
}

/* Leaves the touches of all items, as one group, for lines and for a tree that is made of them. */
int build_method_rows(struct build *b) {
    size_t methods = method_table_count(b->p->methods);
    if (b->standing)
        return rows_from_standing(b);
    struct total *self = calloc(methods + 1, sizeof *self);
    b->row = calloc(methods + 1, sizeof *b->row);
    b->want_touches = b->q->lines || (b->q->tree && !b->q->inverted && !b->q->by_thread);
    int rc = self && b->row ? order_update(b->p) : -ENOMEM;
    if (rc == 0)
        rc = spread_totals(b);
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
