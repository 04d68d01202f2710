#include "core/agent/engine/native_blocks.h"

#include "core/agent/process/reserve.h"
#include "core/base/hash.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#define WAYS 8u
#define BUCKETS (NATIVE_BLOCKS_MAX / WAYS)
#define BEING_FILLED 1u

int native_blocks_map(struct native_blocks *b) {
    void *p = reserve(NATIVE_BLOCKS_MAX * sizeof *b->block);
    if (!p)
        return -errno;
    b->block = p;
    b->not_followed = 0;
    return 0;
}

void native_blocks_unmap(struct native_blocks *b) {
    if (b->block)
        munmap(b->block, NATIVE_BLOCKS_MAX * sizeof *b->block);
    b->block = NULL;
}

/* One of the two buckets of an address. */
static struct native_block *bucket(const struct native_blocks *b, uintptr_t address, int which) {
    uint64_t h = hash_word(address >> 4);
    uint32_t index = (uint32_t)(which ? h >> 13 : h >> 40) % BUCKETS;
    return &b->block[(size_t)index * WAYS];
}

bool native_blocks_add(struct native_blocks *b, uintptr_t address, uint64_t live_id) {
    for (int which = 0; which < 2; which++) {
        struct native_block *at = bucket(b, address, which);
        for (uint32_t i = 0; i < WAYS; i++) {
            uintptr_t none = 0;
            if (atomic_load_explicit(&at[i].address, memory_order_relaxed) ||
                !atomic_compare_exchange_strong_explicit(&at[i].address, &none, BEING_FILLED,
                                                         memory_order_acquire,
                                                         memory_order_relaxed))
                continue;
            at[i].live_id = live_id;
            atomic_store_explicit(&at[i].address, address, memory_order_release);
            return true;
        }
    }
    atomic_fetch_add_explicit(&b->not_followed, 1, memory_order_relaxed);
    return false;
}

uint64_t native_blocks_take(struct native_blocks *b, uintptr_t address) {
    for (int which = 0; which < 2; which++) {
        struct native_block *at = bucket(b, address, which);
        for (uint32_t i = 0; i < WAYS; i++) {
            if (atomic_load_explicit(&at[i].address, memory_order_acquire) != address)
                continue;
            uint64_t live_id = at[i].live_id;
            uintptr_t expected = address;
            /* Two frees of one block are the program's error: one of them gets it. */
            if (atomic_compare_exchange_strong_explicit(&at[i].address, &expected, 0,
                                                        memory_order_release, memory_order_relaxed))
                return live_id;
        }
    }
    return 0;
}
