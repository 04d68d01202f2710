/*
 * A hash index for tables with millions of rows. It is half as large as that of index.h, because
 * a slot keeps only six bits of a row's hash. When the index grows, its owner computes the
 * hashes again.
 *
 *      slot: 0: free; otherwise the hash's 6 high bits | row + 1 (26 bits)
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_COMPACT_H
#define JTOP_PROFILE_TABLE_COMPACT_H

#include "core/profile/table/index.h"

#define COMPACT_ROW_BITS 26
#define COMPACT_ROWS_MAX ((UINT32_C(1) << COMPACT_ROW_BITS) - 2)

struct compact {
    uint32_t *slot;
    uint32_t mask; /* slots - 1 */
    uint32_t used;
    uint64_t seed; /* 0 until the first call of compact_seed() */
};

/* Makes room for one more row. `hash_of` computes the hash of a row that is in the index. 0, or
 * -ENOMEM: nothing has changed. */
int compact_reserve(struct compact *x, uint32_t (*hash_of)(void *owner, uint32_t row), void *owner);
/* Call it after a successful compact_reserve; `row` is at most COMPACT_ROWS_MAX. */
void compact_put(struct compact *x, uint32_t hash, uint32_t row);
void compact_free(struct compact *x);

/* Returns the next row that may have this hash, or INDEX_NONE. `pos` starts as `hash` and is
 * advanced. */
static inline uint32_t compact_next(const struct compact *x, uint32_t hash, uint32_t *pos) {
    if (!x->slot)
        return INDEX_NONE;
    for (;;) {
        uint32_t s = x->slot[*pos & x->mask];
        if (!s)
            return INDEX_NONE;
        ++*pos;
        if ((s ^ hash) >> COMPACT_ROW_BITS == 0)
            return (s & ((UINT32_C(1) << COMPACT_ROW_BITS) - 1)) - 1;
    }
}

/* The index's seed. */
static inline uint64_t compact_seed(struct compact *x) {
    return x->seed ? x->seed : (x->seed = hash_seed());
}

#endif
