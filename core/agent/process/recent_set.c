#include "core/agent/process/recent_set.h"

static uint32_t row(uint64_t hash) {
    return (uint32_t)hash % RECENT_SET_ROWS;
}

static uint32_t tag(uint64_t hash) {
    uint32_t t = (uint32_t)(hash >> 32);
    return t ? t : 1;
}

bool recent_set_has(const struct recent_set *s, uint64_t hash) {
    const _Atomic uint32_t *at = s->tag[row(hash)];
    for (int i = 0; i < RECENT_SET_WAYS; i++)
        if (atomic_load_explicit(&at[i], memory_order_relaxed) == tag(hash))
            return true;
    return false;
}

void recent_set_add(struct recent_set *s, uint64_t hash) {
    _Atomic uint32_t *at = s->tag[row(hash)];
    uint32_t t = tag(hash);
    for (int i = 0; i < RECENT_SET_WAYS && t; i++)
        t = atomic_exchange_explicit(&at[i], t, memory_order_relaxed);
}
