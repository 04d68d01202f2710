/*
 * Blocks of native memory that were sampled and are not freed yet: address → number. A table of
 * fixed size, in buckets of eight, two for each address; a block that finds both full is not
 * followed.
 *
 * Context: any thread, no lock, no allocation; signal-safe. The memory is the agent's thread's: no
 * other call may run when it is unmapped.
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

/* The block must not be in it. False: no room, which is counted. */
bool native_blocks_add(struct native_blocks *b, uintptr_t address, uint64_t live_id);

/* Takes it out, before it is freed: afterwards the address may be another block's. Its number, or
 * 0 where it is not in it. */
uint64_t native_blocks_take(struct native_blocks *b, uintptr_t address);

#endif
