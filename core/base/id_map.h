/*
 * A hash table of limited size from 64-bit keys to 64-bit values, for keys that a hostile process
 * or file chooses. The hash has a random seed, so that nobody outside can make all keys collide.
 * The number of entries is limited, so that nobody can make the table grow without end.
 *
 * It is used where each record of a stream or of a file is looked up. A lookup among 100,000 keys
 * takes a third of uthash's time, and the table half its memory (make bench ONLY=map).
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_BASE_ID_MAP_H
#define JTOP_BASE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_MAP_MAX (1u << 29) /* the largest allowed limit */

struct id_map {
    struct id_pair {
        uint64_t key; /* 0: free */
        uint64_t value;
    } * pair;
    uint32_t capacity; /* power of two, 0 while empty */
    uint32_t count;
    uint32_t limit; /* entries at most */
    uint64_t seed;
};

/* Makes an empty map, which takes no memory yet. */
void id_map_init(struct id_map *m, uint32_t limit);
void id_map_free(struct id_map *m);
/* Removes all entries and keeps the memory. */
void id_map_clear(struct id_map *m);

/* NULL: there is no such key. Valid until the next put or remove. `key` must not be 0, here and
 * below. */
const uint64_t *id_map_find(const struct id_map *m, uint64_t key);
/* The same for values of 32 bits. */
static inline bool id_map_get(const struct id_map *m, uint64_t key, uint32_t *value) {
    const uint64_t *found = id_map_find(m, key);
    if (found)
        *value = (uint32_t)*found;
    return found != NULL;
}

/* The same for values that are not 0. Returns 0 if there is no such key. */
static inline uint64_t id_map_value(const struct id_map *m, uint64_t key) {
    const uint64_t *found = id_map_find(m, key);
    return found ? *found : 0;
}

/* Iterates over all entries, in no order; *i is 0 at first. NULL: no more entries. */
static inline const struct id_pair *id_map_next(const struct id_map *m, uint32_t *i) {
    while (*i < m->capacity && !m->pair[*i].key)
        ++*i;
    return *i < m->capacity ? &m->pair[(*i)++] : NULL;
}

/* Adds or replaces an entry. -ENOSPC: the limit is reached; -ENOMEM. The map is then unchanged. */
int id_map_put(struct id_map *m, uint64_t key, uint64_t value);
/* Removes an entry. Does nothing if there is none. */
void id_map_remove(struct id_map *m, uint64_t key);

#endif
