#include "core/profile/tally.h"

#include "core/profile/grow.h"

struct tally_entry *tally_entry(struct tally *t, uint32_t what, uint32_t owner, uint32_t max) {
    uint32_t hash = (uint32_t)hash_pair(index_seed(&t->index), what, owner), pos = hash, id;
    while ((id = index_next(&t->index, hash, &pos)) != INDEX_NONE)
        if (t->entry[id].what == what && t->entry[id].owner == owner)
            return &t->entry[id];
    if (t->count >= max || index_reserve(&t->index) != 0 || !GROW(t->entry, t->count, t->cap))
        return NULL;
    t->entry[t->count] = (struct tally_entry){.what = what, .owner = owner};
    index_put(&t->index, hash, t->count);
    return &t->entry[t->count++];
}

void tally_free(struct tally *t) {
    free(t->entry);
    index_free(&t->index);
    *t = (struct tally){0};
}
