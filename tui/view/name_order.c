#include "tui/view/name_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the class, or the name of a method without one. */
static const char *first_part(const struct model *m, const struct method *method) {
    const char *name = method->class_name[0] ? method->class_name : method->name;
    const char *package_end = m->settings.simple ? strrchr(method->class_name, '/') : NULL;
    return package_end ? package_end + 1 : name;
}

/* Compares by class, then by method, without formatting the names. Equal names are in the order of
 * their ids, so no two methods are equal. */
static int compare(const struct model *m, uint32_t a, uint32_t b) {
    const struct method *x = model_method(m, a), *y = model_method(m, b);
    int order = 0;
    if (x->class_name != y->class_name || !x->class_name[0])
        order = strcmp(first_part(m, x), first_part(m, y));
    if (!order)
        order = strcmp(x->name, y->name);
    if (!order)
        order = strcmp(x->signature, y->signature);
    return order ? order : a < b ? -1 : a > b;
}

static int compare_ids(const void *a, const void *b, void *m) {
    return compare(*(const struct model **)m, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Returns how many of the first `count` methods come before this one. */
static uint32_t place_of(const struct name_order *o, const struct model *m, uint32_t count,
                         uint32_t id) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(m, o->id[middle], id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int name_order_update(struct name_order *o, const struct model *m) {
    uint32_t known = o->count, count = m->method_count, more = count - known;
    if (count <= known)
        return 0;
    uint32_t *added = malloc(more * sizeof *added);
    uint32_t *id = realloc(o->id, count * sizeof *id);
    o->id = id ? id : o->id;
    uint32_t *rank = realloc(o->rank, count * sizeof *rank);
    o->rank = rank ? rank : o->rank;
    if (!added || !id || !rank) {
        free(added);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < more; i++)
        added[i] = known + i;
    qsort_r(added, more, sizeof *added, compare_ids, &m);
    /* Insert from the end, so that each entry moves only once. */
    uint32_t end = known;
    for (uint32_t left = more; left-- > 0;) {
        uint32_t place = place_of(o, m, end, added[left]);
        memmove(&id[place + left + 1], &id[place], (end - place) * sizeof *id);
        id[place + left] = added[left];
        end = place;
    }
    for (uint32_t i = 0; i < count; i++)
        rank[id[i]] = i;
    o->count = count;
    free(added);
    return 0;
}

void name_order_free(struct name_order *o) {
    free(o->id);
    free(o->rank);
    *o = (struct name_order){0};
}

uint32_t name_order_rank(const struct name_order *o, uint32_t method) {
    return method < o->count ? o->rank[method] : UINT32_MAX;
}
