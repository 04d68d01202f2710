#include "core/decode/line_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    uint16_t bci, line;
};

struct line_table {
    uint32_t count;     /* at least 1 */
    struct pair pair[]; /* ascending by bci; neighbours have different lines */
};

static int by_bci(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return x->bci != y->bci ? x->bci - y->bci : x->line - y->line;
}

struct line_table *line_table_new(const void *pairs, size_t bytes) {
    size_t count = bytes / sizeof(struct pair), sorted = 1, kept = 0;
    struct line_table *t = count ? malloc(sizeof *t + count * sizeof *t->pair) : NULL;
    if (!t)
        return NULL;
    memcpy(t->pair, pairs, count * sizeof *t->pair);
    while (sorted < count && by_bci(&t->pair[sorted - 1], &t->pair[sorted]) <= 0)
        sorted++;
    if (sorted < count)
        qsort(t->pair, count, sizeof *t->pair, by_bci);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || t->pair[i].line != t->pair[kept - 1].line)
            t->pair[kept++] = t->pair[i];
    t->count = (uint32_t)kept;
    struct line_table *fit = realloc(t, line_table_bytes(t));
    return fit ? fit : t;
}

uint16_t line_table_find(const struct line_table *t, uint32_t bci) {
    /* This runs for every frame of every sample: no branches that the CPU cannot predict. */
    const struct pair *at = t->pair;
    for (uint32_t left = t->count; left > 1; left -= left / 2)
        at += at[left / 2].bci <= bci ? left / 2 : 0;
    return at->bci <= bci ? at->line : 0;
}

const void *line_table_pairs(const struct line_table *t, uint32_t *count) {
    static_assert(sizeof(struct pair) == LINE_PAIR_BYTES, "as on the wire");
    *count = t->count;
    return t->pair;
}

size_t line_table_bytes(const struct line_table *t) {
    return sizeof *t + t->count * sizeof *t->pair;
}
