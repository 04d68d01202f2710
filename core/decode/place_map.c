#include "core/decode/place_map.h"

#include "core/base/grow.h"

void place_map_init(struct place_map *m, uint32_t limit) {
    *m = (struct place_map){0};
    id_map_init(&m->index, limit);
}

void place_map_free(struct place_map *m) {
    id_map_free(&m->index);
    free(m->place);
    *m = (struct place_map){0};
}

void place_map_clear(struct place_map *m) {
    id_map_clear(&m->index);
    m->count = 0;
}

struct kept_place *place_map_get(const struct place_map *m, uint64_t key) {
    uint32_t i;
    return id_map_get(&m->index, key, &i) ? &m->place[i] : NULL;
}

struct kept_place *place_map_put(struct place_map *m, uint64_t key) {
    struct kept_place *known = place_map_get(m, key);
    if (known)
        return known;
    if (!GROW(m->place, m->count, m->capacity) || id_map_put(&m->index, key, m->count) != 0)
        return NULL;
    m->place[m->count] = (struct kept_place){.key = key};
    return &m->place[m->count++];
}

/* The last place moves into the free slot. */
void place_map_remove(struct place_map *m, uint64_t key) {
    uint32_t i;
    if (!id_map_get(&m->index, key, &i))
        return;
    id_map_remove(&m->index, key);
    uint32_t last = --m->count;
    if (i == last)
        return;
    m->place[i] = m->place[last];
    id_map_put(&m->index, m->place[i].key, i); /* it is in the map: this cannot fail */
}
