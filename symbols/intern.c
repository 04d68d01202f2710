#include "symbols/intern.h"

#include "core/base/hash.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct interned {
    UT_hash_handle hh;
    bool lost; /* uthash had no memory to add it */
    char text[];
};

unsigned intern_hash(const struct intern *i, const char *text, size_t length) {
    return (unsigned)hash_bytes(i->seed, text, length);
}

const char *intern_text(struct intern *i, const char *text) {
    struct interned *found;
    size_t length = strlen(text);
    unsigned value = intern_hash(i, text, length);
    HASH_FIND_BYHASHVALUE(hh, i->table, text, length, value, found);
    if (found)
        return found->text;
    size_t bytes = sizeof *found + length + 1;
    if (i->bytes + bytes > i->limit)
        return NULL;
    found = malloc(bytes);
    if (!found)
        return NULL;
    found->lost = false;
    memcpy(found->text, text, length + 1);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, i->table, found->text, length, value, found);
    if (found->lost) {
        free(found);
        return NULL;
    }
    i->bytes += bytes;
    return found->text;
}

void intern_free(struct intern *i) {
    struct interned *one = i->table;
    HASH_CLEAR(hh, i->table); /* frees only its own memory: the chain of elements stays */
    while (one) {
        struct interned *next = one->hh.next;
        free(one);
        one = next;
    }
    *i = (struct intern){0};
}
