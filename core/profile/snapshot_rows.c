#include "core/profile/snapshot_build.h"

#include <errno.h>
#include <stdlib.h>

/* The ids of the methods that have a row, in the order of names. */
static uint32_t list_rows(const struct build *b, struct order_key *key) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->p->ranks; i++) {
        uint32_t m = b->p->ranked[i];
        const struct row *r = &b->row[m];
        uint64_t any = r->total;
        for (int t = 0; t < TIERS; t++)
            any |= r->tier[t];
        if (any)
            key[n++] = (struct order_key){.node = m};
    }
    return n;
}

/* Sorting is stable: by name already, then by total, then by self is by self, total, name. */
static void sort_rows(const struct build *b, struct order_key *key, const struct total *self,
                      uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        key[i].key = ~b->row[key[i].node].total;
    order_keys(key, key + n, n);
    for (uint32_t i = 0; i < n; i++)
        key[i].key = ~self[key[i].node].weight;
    order_keys(key, key + n, n);
}

static int write_rows(struct build *b, const struct total *self) {
    struct order_key *key = malloc(((size_t)b->p->ranks + 1) * 2 * sizeof *key);
    uint32_t n = key ? list_rows(b, key) : 0;
    b->s->methods = malloc(((size_t)n + 1) * sizeof *b->s->methods);
    if (!key || !b->s->methods) {
        free(key);
        return -ENOMEM;
    }
    sort_rows(b, key, self, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = key[i].node;
        struct snapshot_method *out = &b->s->methods[i];
        *out = (struct snapshot_method){.method = m,
                                        .self = self[m].weight,
                                        .self_samples = self[m].count,
                                        .total = b->row[m].total};
        for (int t = 0; t < TIERS; t++) {
            out->tier[t] = b->row[m].tier[t];
            out->total_samples += out->tier[t];
        }
    }
    b->s->method_count = n;
    free(key);
    return 0;
}

/* Leaves the touches of all items, as one group, for the tree. */
int build_method_rows(struct build *b) {
    size_t methods = method_table_count(b->p->methods);
    struct total *self = calloc(methods + 1, sizeof *self);
    struct group all = {0, 0, b->items};
    b->row = calloc(methods + 1, sizeof *b->row);
    int rc = self && b->row ? order_update(b->p) : -ENOMEM;
    if (rc == 0)
        rc = spread(b, &all);
    for (uint32_t i = 0; rc == 0 && i < b->items; i++) {
        uint32_t m = b->p->tree.node[b->item[i].node].method;
        self[m].weight += b->item[i].weight;
        self[m].count += b->item[i].count;
    }
    if (rc == 0)
        rc = write_rows(b, self);
    free(self);
    free(b->row);
    b->row = NULL;
    return rc;
}
