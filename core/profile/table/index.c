#include "core/profile/table/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64 };

/* Above three quarters full, probing becomes slow. */
static int full(const struct index *x) {
    return !x->slot || x->used >= x->mask - x->mask / 4;
}

static void place(struct index_slot *slot, uint32_t mask, struct index_slot s) {
    uint32_t pos = s.hash & mask;
    while (slot[pos].id)
        pos = (pos + 1) & mask;
    slot[pos] = s;
}

int index_reserve(struct index *x) {
    if (!full(x))
        return 0;
    if (x->slot && x->mask > UINT32_MAX / 4)
        return -ENOMEM;
    uint32_t slots = x->slot ? (x->mask + 1) * 2 : SLOTS_MIN;
    struct index_slot *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return -ENOMEM;
    for (uint32_t i = 0; x->slot && i <= x->mask; i++)
        if (x->slot[i].id)
            place(slot, slots - 1, x->slot[i]);
    free(x->slot);
    x->slot = slot;
    x->mask = slots - 1;
    return 0;
}

void index_put(struct index *x, uint32_t hash, uint32_t id) {
    place(x->slot, x->mask, (struct index_slot){hash, id + 1});
    x->used++;
}

void index_replace(struct index *x, uint32_t hash, uint32_t old, uint32_t id) {
    uint32_t pos = hash & x->mask;
    while (x->slot[pos].id != old + 1)
        pos = (pos + 1) & x->mask;
    x->slot[pos].id = id + 1;
}

void index_clear(struct index *x) {
    if (!x->slot)
        return;
    memset(x->slot, 0, ((size_t)x->mask + 1) * sizeof *x->slot);
    /* A prefix of the slots is used as a smaller table; otherwise one large second would slow down
     * every small second after it. */
    while (x->mask >= SLOTS_MIN && x->used < (x->mask + 1) / 8)
        x->mask >>= 1;
    x->used = 0;
}

void index_free(struct index *x) {
    free(x->slot);
    *x = (struct index){0};
}
