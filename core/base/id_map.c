#include "core/base/id_map.h"

#include "core/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void id_map_init(struct id_map *m, uint32_t limit) {
    *m = (struct id_map){.limit = limit, .seed = hash_seed()};
}

void id_map_free(struct id_map *m) {
    free(m->pair);
    *m = (struct id_map){0};
}

void id_map_clear(struct id_map *m) {
    if (m->capacity)
        memset(m->pair, 0, m->capacity * sizeof *m->pair);
    m->count = 0;
}

static uint32_t home_of(const struct id_map *m, uint64_t key) {
    return (uint32_t)hash_pair(m->seed, key, 0) & (m->capacity - 1);
}

/* The slot that holds the key, or the free slot for it. */
static uint32_t place_of(const struct id_map *m, uint64_t key) {
    uint32_t slot = home_of(m, key);
    while (m->pair[slot].key && m->pair[slot].key != key)
        slot = (slot + 1) & (m->capacity - 1);
    return slot;
}

const uint64_t *id_map_find(const struct id_map *m, uint64_t key) {
    const struct id_pair *p = m->capacity ? &m->pair[place_of(m, key)] : NULL;
    return p && p->key ? &p->value : NULL;
}

static int grow(struct id_map *m) {
    struct id_map larger = *m;
    larger.capacity = m->capacity ? m->capacity * 2 : 64;
    larger.pair = calloc(larger.capacity, sizeof *larger.pair);
    if (!larger.pair)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->capacity; i++)
        if (m->pair[i].key)
            larger.pair[place_of(&larger, m->pair[i].key)] = m->pair[i];
    free(m->pair);
    *m = larger;
    return 0;
}

int id_map_put(struct id_map *m, uint64_t key, uint64_t value) {
    uint32_t slot = m->capacity ? place_of(m, key) : 0;
    if (m->capacity && m->pair[slot].key) {
        m->pair[slot].value = value;
        return 0;
    }
    if (m->count >= m->limit)
        return -ENOSPC;
    if (m->count >= m->capacity - m->capacity / 3) {
        if (grow(m) != 0)
            return -ENOMEM;
        slot = place_of(m, key);
    }
    m->pair[slot] = (struct id_pair){key, value};
    m->count++;
    return 0;
}

/* The entries after it in the same run move up where necessary, so that the search for them still
 * finds them. */
void id_map_remove(struct id_map *m, uint64_t key) {
    uint32_t mask = m->capacity - 1, hole = m->capacity ? place_of(m, key) : 0;
    if (!m->capacity || !m->pair[hole].key)
        return;
    for (uint32_t i = (hole + 1) & mask; m->pair[i].key; i = (i + 1) & mask) {
        if (((i - home_of(m, m->pair[i].key)) & mask) < ((i - hole) & mask))
            continue;
        m->pair[hole] = m->pair[i];
        hole = i;
    }
    m->pair[hole] = (struct id_pair){0, 0};
    m->count--;
}
