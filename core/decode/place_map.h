/*
 * Where samples were counted, by a 64-bit key, for records that come later: their repeats, or their
 * ends. A sample that still waits for names has no place yet; its delivery is kept instead. The
 * number of keys is limited, and a hostile process may choose them.
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_DECODE_PLACE_MAP_H
#define JTOP_DECODE_PLACE_MAP_H

#include "core/base/id_map.h"
#include "core/profile/profile.h"

struct delivery;

enum place_state {
    PLACE_NONE = 0, /* nothing is counted */
    PLACE_COUNTED,
    PLACE_HELD, /* `held` waits */
    PLACE_GONE, /* the end came before the sample */
};

struct kept_place {
    uint64_t key;
    struct profile_place at; /* for PLACE_COUNTED */
    uint64_t weight;         /* counted there */
    uint32_t count;
    enum place_state state;
    struct delivery *held; /* not owned */
};

struct place_map {
    struct id_map index; /* key → place */
    struct kept_place *place;
    uint32_t count, capacity;
};

void place_map_init(struct place_map *m, uint32_t limit);
void place_map_free(struct place_map *m);
/* Removes all places. */
void place_map_clear(struct place_map *m);

/* NULL: none. Valid until the next put or remove. `key` is not 0. */
struct kept_place *place_map_get(const struct place_map *m, uint64_t key);
/* The place for this key, or a new one with PLACE_NONE. NULL: no room, or no memory. */
struct kept_place *place_map_put(struct place_map *m, uint64_t key);
/* Does nothing if there is none. */
void place_map_remove(struct place_map *m, uint64_t key);

#endif
