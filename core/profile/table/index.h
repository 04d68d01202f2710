/*
 * The hash table of every table in this directory: an open-addressing index from a hash to ids.
 * The things themselves stay in their owner's dense array. The index keeps only (hash, id), so it
 * can grow without help from its owner. Single ids are never removed from it.
 *
 * Names and stacks come from a process that may be hostile. So each table seeds its hashes
 * (index_seed), and no other process can prepare keys that all collide. No result depends on the
 * order of slots.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_INDEX_H
#define JTOP_PROFILE_TABLE_INDEX_H

#include "core/base/hash.h"

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
    uint32_t hash;
    uint32_t id; /* id + 1; 0: the slot is free */
};

struct index {
    struct index_slot *slot;
    uint32_t mask; /* slots - 1 */
    uint32_t used;
    uint64_t seed; /* 0 until the first call of index_seed() */
};

/* Makes room for one more id. 0, or -ENOMEM: nothing has changed. */
int index_reserve(struct index *x);
/* Call it after a successful index_reserve. The same hash may be put any number of times. */
void index_put(struct index *x, uint32_t hash, uint32_t id);
/* Replaces `old`, which must be in the index, by `id`. */
void index_replace(struct index *x, uint32_t hash, uint32_t old, uint32_t id);
/* Removes every id; costs no more than adding them did. */
void index_clear(struct index *x);
void index_free(struct index *x);

/* Returns the next id with this hash, or INDEX_NONE. `pos` starts as `hash` and is advanced. */
static inline uint32_t index_next(const struct index *x, uint32_t hash, uint32_t *pos) {
    if (!x->slot)
        return INDEX_NONE;
    for (;;) {
        struct index_slot s = x->slot[*pos & x->mask];
        if (!s.id)
            return INDEX_NONE;
        ++*pos;
        if (s.hash == hash)
            return s.id - 1;
    }
}

/* The index's seed. */
static inline uint64_t index_seed(struct index *x) {
    return x->seed ? x->seed : (x->seed = hash_seed());
}

#endif
