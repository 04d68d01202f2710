#include "tui/widget/tags.h"

#include <errno.h>
#include <string.h>

static uint64_t hash_bit(struct tag tag) {
    return UINT64_C(1) << ((tag.id * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)tag.kind) >> 58);
}

int tags_find(const struct tags *t, struct tag tag) {
    for (int i = 0; (t->hashes & hash_bit(tag)) && i < t->count; i++)
        if (t->of[i].kind == tag.kind && t->of[i].id == tag.id)
            return i;
    return -1;
}

int tags_toggle(struct tags *t, struct tag tag) {
    int at = tags_find(t, tag);
    if (tag.kind == TAG_NONE)
        return -EINVAL;
    if (at < 0 && t->count == TAGS_MAX)
        return -ENOSPC;
    if (at < 0) {
        t->of[t->count++] = tag;
        t->hashes |= hash_bit(tag);
        return 0;
    }
    memmove(&t->of[at], &t->of[at + 1], (size_t)(t->count - at - 1) * sizeof *t->of);
    t->count--;
    t->hashes = 0;
    for (int i = 0; i < t->count; i++)
        t->hashes |= hash_bit(t->of[i]);
    return 0;
}

void tags_clear(struct tags *t) {
    t->count = 0;
    t->hashes = 0;
}

bool tags_add(const struct tags *t, struct tag_sum *sum, struct tag tag, uint64_t weight) {
    int at = tags_find(t, tag);
    if (at < 0)
        return false;
    sum->seen |= UINT64_C(1) << at;
    sum->weight += weight;
    return true;
}
