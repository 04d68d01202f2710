#include "core/export/places.h"

#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

uint32_t places_number(struct places *p, struct place at, bool *is_new) {
    uint64_t key = (uint64_t)at.tier << 48 | (uint64_t)at.line << 32 | at.method;
    uint32_t hash = (uint32_t)hash_pair(index_seed(&p->index), key, 0), pos = hash, id;
    *is_new = false;
    while ((id = index_next(&p->index, hash, &pos)) != INDEX_NONE)
        if (p->place[id].method == at.method && p->place[id].line == at.line &&
            p->place[id].tier == at.tier)
            return id;
    if (p->count == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 4096;
        struct place *place = realloc(p->place, cap * sizeof *place);
        if (!place)
            return INDEX_NONE;
        p->place = place;
        p->cap = cap;
    }
    if (index_reserve(&p->index) != 0)
        return INDEX_NONE;
    index_put(&p->index, hash, p->count);
    p->place[p->count] = at;
    *is_new = true;
    return p->count++;
}

void places_free(struct places *p) {
    index_free(&p->index);
    free(p->place);
    *p = (struct places){0};
}

void places_source(const struct method *m, char *out, size_t size) {
    size_t n = m->kind == METHOD_JAVA ? strcspn(m->class_name, "$+") : 0;
    out[0] = '\0';
    if (n && n + sizeof ".java" <= size) {
        memcpy(out, m->class_name, n);
        memcpy(out + n, ".java", sizeof ".java");
    }
}

static int by_stack(const void *a, const void *b) {
    const struct history_item *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void places_merge_seconds(struct history_reading *r) {
    size_t out = 0;
    if (r->items)
        qsort(r->item, r->items, sizeof *r->item, by_stack);
    for (size_t i = 0; i < r->items; i++) {
        struct history_item *last = out ? &r->item[out - 1] : NULL;
        if (last && by_stack(last, &r->item[i]) == 0) {
            last->weight += r->item[i].weight;
            last->count += r->item[i].count;
        } else {
            r->item[out++] = r->item[i];
        }
    }
    r->items = out;
}
