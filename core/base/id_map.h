/*
 * A bounded map from 64-bit keys to 32-bit values, for keys that a hostile process chooses: the
 * hash is seeded at random, so that nobody outside can make all keys collide, and the number of
 * entries is limited, so that nobody can make it balloon.
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_BASE_ID_MAP_H
#define JTOP_BASE_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct id_map {
    uint64_t *key; /* 0: free */
    uint32_t *value;
    uint32_t capacity; /* power of two, 0 while empty */
    uint32_t count;
    uint32_t limit; /* entries at most */
    uint64_t seed;
};

/* An empty map; no memory is taken yet. */
void id_map_init(struct id_map *m, uint32_t limit);
void id_map_free(struct id_map *m);
/* Forgets all entries and keeps the memory. */
void id_map_clear(struct id_map *m);

/* `key` must not be 0. */
bool id_map_get(const struct id_map *m, uint64_t key, uint32_t *value);
/* Adds or replaces. -ENOSPC: the limit is reached; -ENOMEM. The map stays as it was then. */
int id_map_put(struct id_map *m, uint64_t key, uint32_t value);
/* Forgets this one; fine where there is none. */
void id_map_remove(struct id_map *m, uint64_t key);

#endif
