#include "tui/overloads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t h, const char *s) {
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u; /* "a" "bc" is not "ab" "c" */
}

static uint32_t hash_of(const struct method *m) {
    uint64_t h = hash_text(0xcbf29ce484222325u, m->class_name);
    h = hash_text(h, m->name) + (uint64_t)m->kind;
    return (uint32_t)(h ^ h >> 32);
}

static bool look_equal(const struct method *a, const struct method *b) {
    return a->kind == b->kind && !strcmp(a->name, b->name) && !strcmp(a->class_name, b->class_name);
}

/* The slot of the first method of this name, or the free one where it belongs. */
static uint32_t *find(const struct overloads *o, const struct method *methods, uint32_t id) {
    uint32_t at = hash_of(&methods[id]);
    while (true) {
        uint32_t *slot = &o->slot[at++ & (o->slots - 1)];
        if (!*slot || look_equal(&methods[*slot - 1], &methods[id]))
            return slot;
    }
}

/* Room for `count` methods in a table at most half full. The old slots are found again by name. */
static bool reserve(struct overloads *o, const struct method *methods, uint32_t count) {
    uint32_t slots = o->slots ? o->slots : 1024;
    while (slots / 2 < count)
        slots *= 2;
    bool *equal = realloc(o->equal, slots / 2 * sizeof *equal);
    if (!equal)
        return false;
    o->equal = equal;
    if (slots == o->slots)
        return true;
    struct overloads wider = {.slot = calloc(slots, sizeof *wider.slot), .slots = slots};
    if (!wider.slot)
        return false;
    for (uint32_t i = 0; i < o->slots; i++)
        if (o->slot[i])
            *find(&wider, methods, o->slot[i] - 1) = o->slot[i];
    free(o->slot);
    o->slot = wider.slot;
    o->slots = slots;
    return true;
}

int overloads_add(struct overloads *o, const struct method *methods, uint32_t count) {
    if (count <= o->count)
        return 0;
    if (!reserve(o, methods, count))
        return -ENOMEM;
    for (uint32_t id = o->count; id < count; id++) {
        uint32_t *slot = find(o, methods, id);
        o->equal[id] = *slot != 0;
        if (*slot)
            o->equal[*slot - 1] = true;
        else
            *slot = id + 1;
    }
    o->count = count;
    return 0;
}

bool overloads_has(const struct overloads *o, uint32_t id) {
    return id < o->count && o->equal[id];
}

void overloads_free(struct overloads *o) {
    free(o->slot);
    free(o->equal);
    *o = (struct overloads){0};
}
