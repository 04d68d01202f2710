#include "core/import/jfr/jfr_live.h"

#include "core/base/hash.h"

#include <errno.h>
#include <stdlib.h>

uint64_t jfr_live_key(uint32_t tid, uint64_t virtual_id, const uint64_t *frame, uint32_t frames) {
    uint64_t h = hash_more(hash_more(frames, tid), virtual_id);
    for (uint32_t i = 0; i < frames; i++)
        h = hash_more(h, frame[i]);
    return h;
}

int jfr_live_add(struct jfr_live *l, uint64_t key, uint64_t weight) {
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 1024;
        struct jfr_living *object = realloc(l->object, cap * sizeof *object);
        if (!object)
            return -ENOMEM;
        l->object = object;
        l->cap = cap;
    }
    l->object[l->count++] = (struct jfr_living){.key = key, .weight = weight};
    return 0;
}

static int by_key(const void *a, const void *b) {
    const struct jfr_living *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->weight > y->weight) - (x->weight < y->weight);
}

void jfr_live_settle(struct jfr_live *l) {
    if (l->count)
        qsort(l->object, l->count, sizeof *l->object, by_key);
}

static size_t first_of(const struct jfr_live *l, uint64_t key) {
    size_t from = 0, to = l->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (l->object[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Limits weights so that no sum can overflow. An object or allocation that weighs more is never
 * matched. */
#define WEIGHT_MAX (UINT64_C(1) << 48)

static void pay(struct jfr_living *first, uint64_t *weight) {
    uint64_t paid = *weight < first->owed ? *weight : first->owed;
    *weight -= paid;
    first->owed -= paid;
}

bool jfr_live_take(struct jfr_live *l, uint64_t key, uint64_t *weight, uint64_t *rest) {
    size_t first = first_of(l, key);
    *rest = 0;
    if (first == l->count || l->object[first].key != key || *weight > WEIGHT_MAX)
        return false;
    struct jfr_living *all = &l->object[first];
    bool alive = first + all->taken < l->count && all[all->taken].key == key &&
                 all[all->taken].weight <= WEIGHT_MAX;
    if (!alive) {
        pay(all, weight);
        return false;
    }
    uint64_t living = all[all->taken++].weight;
    if (living < *weight)
        *rest = *weight - living;
    else
        all->owed += living - *weight;
    pay(all, rest);
    *weight = living;
    return true;
}

void jfr_live_free(struct jfr_live *l) {
    free(l->object);
    *l = (struct jfr_live){0};
}
