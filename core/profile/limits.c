/* How much a profile may keep. */
#include "core/profile/profile_state.h"

const struct profile_limits profile_default_limits = {
    .nodes = 1 << 22,
    .pairs = 1 << 21,
    .threads = 1 << 16,
    .virtuals = 1 << 15,
    .virtual_roots = METHOD_TABLE_MAX / 2,
    .states = 1 << 18,
    .lock_rows = 1 << 13,
    .owner_nodes = 1 << 16,
    .name_bytes = (size_t)512 << 20,
    .history_bytes = (size_t)64 << 20,
};

void profile_set_limits(struct profile *p, const struct profile_limits *limits) {
    p->limits = *limits;
    p->tree.max_nodes = limits->nodes;
    p->locks.owners.max_nodes = limits->owner_nodes;
    p->threads.max = limits->threads;
    p->threads.max_virtual = limits->virtuals;
    p->history.limit = limits->history_bytes;
    p->threads.names.limit = limits->name_bytes / 8;
    method_table_limit(p->methods, limits->name_bytes);
}

/* As many as `bytes` are enough for, where each takes `each` with all that hangs on it: its places
 * in tables and their indexes, and in what a snapshot keeps for the next. */
static uint32_t fit(uint64_t bytes, uint32_t each, uint32_t least, uint32_t most) {
    uint64_t n = bytes / each;
    n = n < least ? least : n;
    return n < most ? (uint32_t)n : most;
}

void profile_limit_memory(struct profile *p, uint64_t bytes) {
    const struct profile_limits *d = &profile_default_limits;
    struct profile_limits l = *d;
    if (bytes == 0)
        return;
    uint64_t part = bytes / 100;
    l.nodes = fit(part * 40, 160, 1 << 12, d->nodes);
    l.pairs = fit(part * 25, 120, 1 << 12, d->pairs);
    l.threads = fit(part * 3, 300, 1 << 8, d->threads);
    l.virtuals = fit(part * 2, 400, 1 << 7, d->virtuals);
    l.states = fit(part * 2, 54, 1 << 10, d->states);
    l.lock_rows = fit(part * 3, 1 << 9, 1 << 6, d->lock_rows);
    l.owner_nodes = l.lock_rows * 8;
    l.history_bytes = fit(part * 13, 1, 1 << 18, (uint32_t)d->history_bytes);
    l.name_bytes = fit(part * 12, 1, 1 << 20, (uint32_t)d->name_bytes);
    l.virtual_roots = fit(l.name_bytes / 4, 64, 1 << 10, d->virtual_roots);
    profile_set_limits(p, &l);
}
