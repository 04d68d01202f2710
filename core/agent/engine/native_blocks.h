/*
 * Sampled blocks of native memory that are not freed yet: address → id. The table has a fixed size
 * and buckets of eight entries. Each address belongs to two buckets; if both are full, the block is
 * not followed.
 *
 * Context: any thread, no lock, no allocation; signal-safe. The agent's thread maps and unmaps the
 * memory; no other call may be running when it is unmapped.
 */
#ifndef JTOP_AGENT_ENGINE_NATIVE_BLOCKS_H
#define JTOP_AGENT_ENGINE_NATIVE_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NATIVE_BLOCKS_MAX (1u << 20) /* 16 MB of address space, touched as blocks come */

struct native_block {
    _Atomic uintptr_t address; /* 0: free; 1: being filled */
    uint64_t live_id;
};

struct native_blocks {
    struct native_block *block;
    _Atomic uint64_t not_followed;
};

int native_blocks_map(struct native_blocks *b); /* 0 or -errno */
void native_blocks_unmap(struct native_blocks *b);

/* Adds a block, which must not be in the table. False: no room; that is counted. */
bool native_blocks_add(struct native_blocks *b, uintptr_t address, uint64_t live_id);

/* Removes a block from the table. Call it before the block is freed, because then another block may
 * get the address. Returns the block's id; 0: it is not in the table. */
uint64_t native_blocks_take(struct native_blocks *b, uintptr_t address);

#endif
