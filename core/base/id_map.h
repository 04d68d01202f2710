/*
 * A bounded map from 64-bit keys to 64-bit values, for keys that a hostile process or file chooses:
 * the hash is seeded at random, so that nobody outside can make all keys collide, and the number of
 * entries is limited, so that nobody can make it balloon.
 *
 * It stands where each record of the stream, or of a file, is looked up. A lookup among 100,000 keys
 * takes a third of uthash's time, the table half its memory (make bench ONLY=map).
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_BASE_ID_MAP_H
#define JTOP_BASE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_MAP_MAX (1u << 29) /* the highest limit */

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

/* An empty map; no memory is taken yet. */
void id_map_init(struct id_map *m, uint32_t limit);
void id_map_free(struct id_map *m);
/* Forgets all entries and keeps the memory. */
void id_map_clear(struct id_map *m);

/* NULL: it is not there. Valid until the next put or remove. `key` must not be 0, here and below. */
const uint64_t *id_map_find(const struct id_map *m, uint64_t key);
/* The same of values that are 32 bits wide. */
static inline bool id_map_get(const struct id_map *m, uint64_t key, uint32_t *value) {
    const uint64_t *found = id_map_find(m, key);
    if (found)
        *value = (uint32_t)*found;
    return found != NULL;
}

/* And of values that are not 0: 0 where it is not there. */
static inline uint64_t id_map_value(const struct id_map *m, uint64_t key) {
    const uint64_t *found = id_map_find(m, key);
    return found ? *found : 0;
}

/* One entry after another, in no order: *i begins with 0. NULL: no more. */
static inline const struct id_pair *id_map_next(const struct id_map *m, uint32_t *i) {
    while (*i < m->capacity && !m->pair[*i].key)
        ++*i;
    return *i < m->capacity ? &m->pair[(*i)++] : NULL;
}

/* Adds or replaces. -ENOSPC: the limit is reached; -ENOMEM. The map stays as it was then. */
int id_map_put(struct id_map *m, uint64_t key, uint64_t value);
/* Forgets this one; fine where there is none. */
void id_map_remove(struct id_map *m, uint64_t key);

#endif
