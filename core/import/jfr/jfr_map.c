#include "core/import/jfr/jfr_map.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define SIZE_MIN 64u
#define SIZE_LIMIT (1u << 30)

static uint32_t home(const struct jfr_map *m, uint64_t key) {
    uint64_t h = (key ^ m->seed) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33 ^ m->seed >> 7) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(h >> 32) & (m->size - 1);
}

/* Where the key is, or would be. */
static uint32_t place(const struct jfr_map *m, uint64_t key) {
    uint32_t i = home(m, key);
    while (m->pair[i].key && m->pair[i].key != key)
        i = (i + 1) & (m->size - 1);
    return i;
}

uint64_t jfr_map_get(const struct jfr_map *m, uint64_t key) {
    return m->size ? m->pair[place(m, key)].value : 0;
}

static int grow(struct jfr_map *m) {
    struct jfr_map big = *m;
    if (m->size == SIZE_LIMIT)
        return -ENOMEM;
    if (!m->size && getrandom(&big.seed, sizeof big.seed, GRND_NONBLOCK) != sizeof big.seed)
        big.seed = (uintptr_t)m;
    big.size = m->size ? m->size * 2 : SIZE_MIN;
    big.pair = calloc(big.size, sizeof *big.pair);
    if (!big.pair)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->size; i++)
        if (m->pair[i].key)
            big.pair[place(&big, m->pair[i].key)] = m->pair[i];
    free(m->pair);
    *m = big;
    return 0;
}

int jfr_map_put(struct jfr_map *m, uint64_t key, uint64_t value) {
    if (m->count >= m->size / 2 && grow(m) < 0)
        return -ENOMEM;
    struct jfr_pair *p = &m->pair[place(m, key)];
    m->count += p->key == 0;
    *p = (struct jfr_pair){key, value};
    return 0;
}

/* Those behind it that are not where they belong move up. */
uint64_t jfr_map_take(struct jfr_map *m, uint64_t key) {
    uint32_t hole = m->size ? place(m, key) : 0, mask = m->size - 1;
    if (!m->size || !m->pair[hole].key)
        return 0;
    uint64_t value = m->pair[hole].value;
    m->count--;
    for (uint32_t i = (hole + 1) & mask; m->pair[i].key; i = (i + 1) & mask)
        if (((i - home(m, m->pair[i].key)) & mask) >= ((i - hole) & mask)) {
            m->pair[hole] = m->pair[i];
            hole = i;
        }
    m->pair[hole] = (struct jfr_pair){0, 0};
    return value;
}

void jfr_map_free(struct jfr_map *m) {
    free(m->pair);
    *m = (struct jfr_map){0};
}
