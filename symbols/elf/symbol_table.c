#include "symbols/elf/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NESTING = 8, /* symbols before the nearest that are tried, for one that covers */
    NAMES_MAX = 1 << 30,
};

int symbol_table_names(struct symbol_table *t, const char *data, size_t length, uint32_t *base) {
    if (length >= NAMES_MAX || t->names_length + length + 1 > NAMES_MAX)
        return -E2BIG;
    char *names = realloc(t->names, t->names_length + length + 1);
    if (!names)
        return -ENOMEM;
    memcpy(names + t->names_length, data, length);
    names[t->names_length + length] = '\0';
    *base = (uint32_t)t->names_length;
    t->names = names;
    t->names_length += length + 1;
    return 0;
}

/* Of several names of one address, prefers one with a size, then the exported one, then the one
 * with the fewest leading underscores, then the shortest. */
static uint32_t rank(const char *name, bool sized, bool plt, enum symbol_binding binding) {
    size_t underscores = strspn(name, "_");
    size_t length = strnlen(name, 255);
    if (underscores > 3)
        underscores = 3;
    return (uint32_t)!plt << 13 | (uint32_t)sized << 12 | (uint32_t)binding << 10 |
           (uint32_t)(3 - underscores) << 8 | (uint32_t)(255 - length);
}

int symbol_table_add(struct symbol_table *t, const struct symbol_entry *entry,
                     enum symbol_binding binding) {
    if (entry->name >= t->names_length || !t->names[entry->name] || !entry->size)
        return 0;
    if (t->count == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 1024;
        struct symbol_entry *entries = reallocarray(t->entries, cap, sizeof *entries);
        if (!entries)
            return -ENOMEM;
        t->entries = entries;
        t->cap = cap;
    }
    struct symbol_entry *e = &t->entries[t->count++];
    *e = *entry;
    e->rank = rank(t->names + e->name, e->sized, e->plt, binding);
    return 0;
}

static int by_start(const void *a, const void *b) {
    const struct symbol_entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* A label in the middle of a function that has a size is dropped: the function says more. */
static size_t drop_duplicates_and_labels(struct symbol_entry *list, size_t count) {
    uint64_t covered = 0; /* end of the sized symbols so far */
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && list[i].start == list[kept - 1].start)
            continue;
        if (!list[i].sized && list[i].start < covered)
            continue;
        uint64_t end = list[i].start + list[i].size;
        if (list[i].sized && end > covered)
            covered = end;
        list[kept++] = list[i];
    }
    return kept;
}

void symbol_table_finish(struct symbol_table *t) {
    if (!t->count)
        return;
    qsort(t->entries, t->count, sizeof *t->entries, by_start);
    t->count = drop_duplicates_and_labels(t->entries, t->count);
    for (size_t i = 0; i + 1 < t->count; i++) {
        struct symbol_entry *e = &t->entries[i];
        uint64_t gap = t->entries[i + 1].start - e->start;
        if (!e->sized && e->size > gap)
            e->size = (uint32_t)gap;
    }
    struct symbol_entry *fitting = reallocarray(t->entries, t->count, sizeof *fitting);
    if (fitting) {
        t->entries = fitting;
        t->cap = t->count;
    }
}

const struct symbol_entry *symbol_table_find(const struct symbol_table *t, uint64_t address) {
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->entries[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 1; back <= NESTING && back <= low; back++) {
        const struct symbol_entry *e = &t->entries[low - back];
        if (address - e->start < e->size)
            return e;
    }
    if (!low)
        return NULL;
    const struct symbol_entry *nearest = &t->entries[low - 1];
    uint64_t end = nearest->start + nearest->size;
    uint64_t padded = (end + SYMBOL_ALIGNMENT - 1) & ~(uint64_t)(SYMBOL_ALIGNMENT - 1);
    return nearest->sized && address < padded ? nearest : NULL;
}

const char *symbol_table_name(const struct symbol_table *t, const struct symbol_entry *entry) {
    return t->names + entry->name;
}

size_t symbol_table_bytes(const struct symbol_table *t) {
    return t->map.data ? t->map.bytes : t->cap * sizeof *t->entries + t->names_length;
}

void symbol_table_free(struct symbol_table *t) {
    if (t->map.data) {
        cache_file_unmap(&t->map);
    } else {
        free(t->entries);
        free(t->names);
    }
    *t = (struct symbol_table){0};
}
