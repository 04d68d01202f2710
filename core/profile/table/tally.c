#include "core/profile/table/tally.h"

#include "core/base/grow.h"

static uint32_t hash_of(struct tally *t, uint32_t what, uint32_t owner) {
    return (uint32_t)hash_pair(compact_seed(&t->index), what, owner);
}

static uint32_t hash_of_row(void *tally, uint32_t row) {
    struct tally *t = tally;
    return hash_of(t, t->entry[row].what, t->entry[row].owner);
}

static struct tally_entry *find(struct tally *t, uint32_t hash, uint32_t what, uint32_t owner) {
    uint32_t pos = hash, id;
    while ((id = compact_next(&t->index, hash, &pos)) != INDEX_NONE)
        if (t->entry[id].what == what && t->entry[id].owner == owner)
            return &t->entry[id];
    return NULL;
}

struct tally_entry *tally_find(struct tally *t, uint32_t what, uint32_t owner) {
    return find(t, hash_of(t, what, owner), what, owner);
}

struct tally_entry *tally_entry(struct tally *t, uint32_t what, uint32_t owner, uint32_t max) {
    uint32_t hash = hash_of(t, what, owner);
    struct tally_entry *have = find(t, hash, what, owner);
    if (have)
        return have;
    if (t->count >= max || t->count >= COMPACT_ROWS_MAX ||
        compact_reserve(&t->index, hash_of_row, t) != 0 || !GROW(t->entry, t->count, t->cap))
        return NULL;
    t->entry[t->count] = (struct tally_entry){.what = what, .owner = owner};
    compact_put(&t->index, hash, t->count);
    return &t->entry[t->count++];
}

void tally_free(struct tally *t) {
    free(t->entry);
    compact_free(&t->index);
    *t = (struct tally){0};
}
