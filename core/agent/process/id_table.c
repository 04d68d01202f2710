#include "core/agent/process/id_table.h"

#include "core/agent/process/reserve.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#define PROBES 32

static const uint32_t level_slots[] = {1u << 12, 1u << 14, 1u << 16, 1u << 20};
#define LEVELS (sizeof level_slots / sizeof level_slots[0])

#define HALF_SLOTS ((1u << 12) + (1u << 14) + (1u << 16) + (1u << 20))
#define HALF_BYTES (HALF_SLOTS * sizeof(uint64_t))

int id_table_map(struct id_table *t) {
    void *p = reserve(2 * HALF_BYTES);
    if (!p)
        return -errno;
    *t = (struct id_table){.slots = p};
    return 0;
}

void id_table_unmap(struct id_table *t) {
    if (t->slots)
        munmap((void *)t->slots, 2 * HALF_BYTES);
    t->slots = NULL;
}

void id_table_turn(struct id_table *t) {
    t->old_is_dirty = true;
    atomic_store(&t->used, 0);
    atomic_store(&t->half, !t->half);
    atomic_fetch_add(&t->turns, 1);
}

void id_table_clean(struct id_table *t) {
    /* Private memory: it reads as zero afterwards. */
    madvise((void *)(t->slots + (t->half ? 0 : HALF_SLOTS)), HALF_BYTES, MADV_DONTNEED);
    t->old_is_dirty = false;
}

/* A slot's lowest bit says that its identity was announced; the second one is always set, so that
 * no slot in use is 0. */
#define ANNOUNCED UINT64_C(1)

uint32_t id_table_find(struct id_table *t, uint64_t identity, bool *is_new) {
    uint64_t key = (identity | 2) & ~ANNOUNCED;
    uint32_t base = atomic_load(&t->half) ? HALF_SLOTS : 0;
    for (size_t level = 0; level < LEVELS; level++) {
        uint32_t mask = level_slots[level] - 1;
        uint32_t at = (uint32_t)(identity >> 8) & mask;
        for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) & mask) {
            _Atomic uint64_t *slot = &t->slots[base + at];
            uint64_t seen = atomic_load_explicit(slot, memory_order_relaxed);
            if (seen == 0 && atomic_compare_exchange_strong_explicit(
                                 slot, &seen, key, memory_order_relaxed, memory_order_relaxed))
                atomic_fetch_add_explicit(&t->used, 1, memory_order_relaxed);
            if (seen == 0 || (seen & ~ANNOUNCED) == key) {
                *is_new = !(seen & ANNOUNCED);
                return base + at;
            }
        }
        base += level_slots[level];
    }
    *is_new = false;
    return ID_TABLE_FULL;
}

void id_table_announced(struct id_table *t, uint32_t id) {
    atomic_fetch_or_explicit(&t->slots[id], ANNOUNCED, memory_order_relaxed);
}
