#include "core/base/id_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void id_map_init(struct id_map *m, uint32_t limit) {
    *m = (struct id_map){.limit = limit};
    /* Without entropy the map still works; only the protection against chosen keys is gone. */
    if (getrandom(&m->seed, sizeof m->seed, GRND_NONBLOCK) != sizeof m->seed)
        m->seed = (uint64_t)(uintptr_t)m;
}

void id_map_free(struct id_map *m) {
    free(m->key);
    free(m->value);
    *m = (struct id_map){0};
}

void id_map_clear(struct id_map *m) {
    if (m->capacity)
        memset(m->key, 0, m->capacity * sizeof *m->key);
    m->count = 0;
}

/* source: MurmurHash3's 64-bit finalizer, with a seed */
static uint32_t slot_of(const struct id_map *m, uint64_t key) {
    uint64_t h = key ^ m->seed;
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 33;
    return (uint32_t)h & (m->capacity - 1);
}

/* The slot that holds the key, or the free one where it would go. */
static uint32_t find(const struct id_map *m, uint64_t key) {
    uint32_t slot = slot_of(m, key);
    while (m->key[slot] && m->key[slot] != key)
        slot = (slot + 1) & (m->capacity - 1);
    return slot;
}

bool id_map_get(const struct id_map *m, uint64_t key, uint32_t *value) {
    if (!m->capacity)
        return false;
    uint32_t slot = find(m, key);
    if (!m->key[slot])
        return false;
    *value = m->value[slot];
    return true;
}

static int grow(struct id_map *m) {
    struct id_map old = *m;
    uint32_t capacity = old.capacity ? old.capacity * 2 : 1024;
    uint64_t *key = calloc(capacity, sizeof *key);
    uint32_t *value = malloc(capacity * sizeof *value);
    if (!key || !value) {
        free(key);
        free(value);
        return -ENOMEM;
    }
    m->key = key;
    m->value = value;
    m->capacity = capacity;
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (!old.key[i])
            continue;
        uint32_t slot = find(m, old.key[i]);
        key[slot] = old.key[i];
        value[slot] = old.value[i];
    }
    free(old.key);
    free(old.value);
    return 0;
}

int id_map_put(struct id_map *m, uint64_t key, uint32_t value) {
    uint32_t slot = m->capacity ? find(m, key) : 0;
    if (m->capacity && m->key[slot]) {
        m->value[slot] = value;
        return 0;
    }
    if (m->count >= m->limit)
        return -ENOSPC;
    if (m->count >= m->capacity - m->capacity / 3) {
        if (grow(m) != 0)
            return -ENOMEM;
        slot = find(m, key);
    }
    m->key[slot] = key;
    m->value[slot] = value;
    m->count++;
    return 0;
}

/* Those behind it in the same run move up, so that nobody's way to its slot is cut. */
void id_map_remove(struct id_map *m, uint64_t key) {
    if (!m->capacity)
        return;
    uint32_t mask = m->capacity - 1;
    uint32_t hole = find(m, key);
    if (!m->key[hole])
        return;
    for (uint32_t i = (hole + 1) & mask; m->key[i]; i = (i + 1) & mask) {
        uint32_t home = slot_of(m, m->key[i]);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        m->key[hole] = m->key[i];
        m->value[hole] = m->value[i];
        hole = i;
    }
    m->key[hole] = 0;
    m->count--;
}
