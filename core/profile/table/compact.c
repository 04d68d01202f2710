#include "core/profile/table/compact.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOTS_MIN = 64 };

static void place(uint32_t *slot, uint32_t mask, uint32_t hash, uint32_t row) {
    uint32_t pos = hash & mask;
    while (slot[pos])
        pos = (pos + 1) & mask;
    slot[pos] = hash >> COMPACT_ROW_BITS << COMPACT_ROW_BITS | (row + 1);
}

int compact_reserve(struct compact *x, uint32_t (*hash_of)(void *owner, uint32_t row),
                    void *owner) {
    /* Above three quarters full, probing becomes slow. */
    if (x->slot && x->used < x->mask - x->mask / 4)
        return 0;
    if (x->used >= COMPACT_ROWS_MAX)
        return -ENOMEM;
    uint32_t slots = x->slot ? (x->mask + 1) * 2 : SLOTS_MIN;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return -ENOMEM;
    for (uint32_t i = 0; x->slot && i <= x->mask; i++) {
        uint32_t row = (x->slot[i] & ((UINT32_C(1) << COMPACT_ROW_BITS) - 1)) - 1;
        if (x->slot[i])
            place(slot, slots - 1, hash_of(owner, row), row);
    }
    free(x->slot);
    x->slot = slot;
    x->mask = slots - 1;
    return 0;
}

void compact_put(struct compact *x, uint32_t hash, uint32_t row) {
    place(x->slot, x->mask, hash, row);
    x->used++;
}

void compact_free(struct compact *x) {
    free(x->slot);
    *x = (struct compact){0};
}
