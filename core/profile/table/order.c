#include "core/profile/table/order.h"

#include "core/base/grow.h"

#include <errno.h>
#include <string.h>

static int compare_methods(const struct method *a, const struct method *b) {
    int c = strcmp(a->class_name, b->class_name);
    if (c == 0)
        c = strcmp(a->name, b->name);
    if (c == 0)
        c = strcmp(a->signature, b->signature);
    if (c == 0)
        c = strcmp(a->module, b->module);
    return c ? c : (int)a->kind - (int)b->kind;
}

static int by_name(const void *a, const void *b, void *methods) {
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return compare_methods(method_table_get(methods, x), method_table_get(methods, y));
}

/* Methods are never removed and names never change, so only the new methods are sorted. They are
 * then merged in from the back, which needs no second array. */
int order_update(struct profile *p) {
    uint32_t count = method_table_count(p->methods), old = p->ranks, added = count - old;
    if (added == 0)
        return 0;
    if (!grow_array(&p->ranked, &p->ranked_cap, count, sizeof *p->ranked) ||
        !grow_array(&p->rank, &p->rank_cap, count, sizeof *p->rank))
        return -ENOMEM;
    uint32_t *fresh = malloc(added * sizeof *fresh);
    if (!fresh)
        return -ENOMEM;
    for (uint32_t i = 0; i < added; i++)
        fresh[i] = old + i;
    qsort_r(fresh, added, sizeof *fresh, by_name, p->methods);
    for (uint32_t at = count, a = old, b = added; b > 0; at--) {
        bool take_old = a > 0 && by_name(&p->ranked[a - 1], &fresh[b - 1], p->methods) > 0;
        p->ranked[at - 1] = take_old ? p->ranked[--a] : fresh[--b];
    }
    free(fresh);
    for (uint32_t i = 0; i < count; i++)
        p->rank[p->ranked[i]] = i;
    p->ranks = count;
    return 0;
}

static void insertion(struct order_key *k, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct order_key x = k[i];
        size_t j = i;
        for (; j > 0 && k[j - 1].key > x.key; j--)
            k[j] = k[j - 1];
        k[j] = x;
    }
}

void order_keys(struct order_key *k, struct order_key *spare, size_t count) {
    if (count <= 32) {
        insertion(k, count);
        return;
    }
    struct order_key *from = k, *to = spare;
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++)
        differ |= k[i].key ^ k[0].key;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        size_t start[256] = {0}, sum = 0;
        for (size_t i = 0; i < count; i++)
            start[from[i].key >> shift & 255]++;
        for (int d = 0; d < 256; d++) {
            size_t n = start[d];
            start[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            to[start[from[i].key >> shift & 255]++] = from[i];
        struct order_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != k)
        memcpy(k, from, count * sizeof *k);
}
