#include "tui/widget/row_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Eleven bits per pass: six passes for 64 bits, with counters that fit into the first-level
 * cache. */
#define DIGIT_BITS 11
#define DIGITS 6
#define VALUES (1u << DIGIT_BITS)

static uint32_t digit(uint64_t key, int i) {
    return (uint32_t)(key >> (DIGIT_BITS * i)) & (VALUES - 1);
}

/* One pass of a radix sort. It is stable, so the order of earlier passes is kept. `seen` is the
 * number of keys with each value; it is overwritten. */
static void scatter(const struct row_key *from, struct row_key *to, uint32_t count, int i,
                    uint32_t *seen) {
    uint32_t sum = 0;
    for (uint32_t v = 0; v < VALUES; v++) {
        uint32_t n = seen[v];
        seen[v] = sum;
        sum += n;
    }
    for (uint32_t k = 0; k < count; k++)
        to[seen[digit(from[k].key, i)]++] = from[k];
}

int row_order_sort(struct row_key *keys, uint32_t count) {
    if (count < 2)
        return 0;
    uint32_t(*seen)[VALUES] = calloc(DIGITS, sizeof *seen);
    struct row_key *other = malloc(count * sizeof *other), *from = keys, *to = other;
    if (!other || !seen) {
        free(other);
        free(seen);
        return -ENOMEM;
    }
    for (uint32_t k = 0; k < count; k++)
        for (int i = 0; i < DIGITS; i++)
            seen[i][digit(keys[k].key, i)]++;
    for (int i = 0; i < DIGITS; i++) {
        if (seen[i][digit(keys[0].key, i)] == count)
            continue; /* all keys have the same digit */
        scatter(from, to, count, i, seen[i]);
        struct row_key *last = from;
        from = to;
        to = last;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
    free(other);
    free(seen);
    return 0;
}

int row_order_nest(uint32_t *order, uint32_t count, const uint32_t *parent) {
    /* By row, for rows without parent: the number of rows below it; then the place of the next. */
    uint32_t *below = calloc(count + (size_t)1, sizeof *below);
    uint32_t *nested = malloc((count + (size_t)1) * sizeof *nested);
    if (!below || !nested) {
        free(below);
        free(nested);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        if (parent[i] != ROW_NO_PARENT)
            below[parent[i]]++;
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = order[i];
        if (parent[row] != ROW_NO_PARENT)
            continue;
        uint32_t rows = below[row];
        nested[place] = row;
        below[row] = place + 1;
        place += rows + 1;
    }
    for (uint32_t i = 0; i < count; i++)
        if (parent[order[i]] != ROW_NO_PARENT)
            nested[below[parent[order[i]]]++] = order[i];
    memcpy(order, nested, count * sizeof *order);
    free(below);
    free(nested);
    return 0;
}
