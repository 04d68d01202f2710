#include "tui/model/overloads.h"

#include "core/base/grow.h"
#include "core/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(uint64_t seed, const struct method *m) {
    uint64_t class_name = hash_bytes(seed, m->class_name, strlen(m->class_name));
    uint64_t name = hash_bytes(seed, m->name, strlen(m->name));
    return (uint32_t)hash_pair(seed + (uint64_t)m->kind, class_name, name);
}

static bool look_equal(const struct method *a, const struct method *b) {
    return a->kind == b->kind && !strcmp(a->name, b->name) && !strcmp(a->class_name, b->class_name);
}

/* Returns the first method that looks like this one, or INDEX_NONE. */
static uint32_t find(const struct overloads *o, const struct method *methods, uint32_t hash,
                     const struct method *m) {
    uint32_t pos = hash, id;
    do
        id = index_next(&o->first, hash, &pos);
    while (id != INDEX_NONE && !look_equal(&methods[id], m));
    return id;
}

int overloads_add(struct overloads *o, const struct method *methods, uint32_t count) {
    uint64_t seed = index_seed(&o->first);
    if (!grow_array(&o->equal, &o->room, count, sizeof *o->equal))
        return -ENOMEM;
    for (; o->count < count; o->count++) {
        uint32_t id = o->count;
        uint32_t hash = hash_of(seed, &methods[id]);
        uint32_t first = find(o, methods, hash, &methods[id]);
        o->equal[id] = first != INDEX_NONE;
        if (first != INDEX_NONE)
            o->equal[first] = true;
        else if (index_reserve(&o->first) == 0)
            index_put(&o->first, hash, id);
        else
            return -ENOMEM;
    }
    return 0;
}

bool overloads_has(const struct overloads *o, uint32_t id) {
    return id < o->count && o->equal[id];
}

void overloads_free(struct overloads *o) {
    index_free(&o->first);
    free(o->equal);
    *o = (struct overloads){0};
}
