#include "core/profile/table/id_set.h"

#include "core/base/grow.h"

#include <errno.h>

int id_set_add(struct id_set *s, uint64_t id, uint32_t max) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(&s->index), id, 1), pos = hash, at;
    while ((at = index_next(&s->index, hash, &pos)) != INDEX_NONE)
        if (s->id[at] == id)
            return 0;
    if (s->count >= max)
        return 0;
    if (index_reserve(&s->index) != 0 || !GROW(s->id, s->count, s->cap))
        return -ENOMEM;
    s->id[s->count] = id;
    index_put(&s->index, hash, s->count++);
    return 0;
}

void id_set_free(struct id_set *s) {
    free(s->id);
    index_free(&s->index);
    *s = (struct id_set){0};
}
