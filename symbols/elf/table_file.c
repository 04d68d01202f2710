#include "symbols/elf/table_file.h"

#include <string.h>

struct head {
    char magic[16];
    uint64_t id_bytes, more_bytes, entry_bytes, entries, names_bytes;
};

static struct head head_of(const struct table_file *f) {
    struct head h = {.id_bytes = f->id_bytes,
                     .more_bytes = f->more_bytes,
                     .entry_bytes = sizeof(struct symbol_entry)};
    memcpy(h.magic, f->magic, strnlen(f->magic, sizeof h.magic - 1));
    return h;
}

/* Whether the sizes are those of the file. */
static bool is_sound_head(const struct head *h, const struct table_file *f, uint64_t bytes) {
    struct head same = head_of(f);
    same.entries = h->entries;
    same.names_bytes = h->names_bytes;
    return memcmp(h, &same, sizeof same) == 0 && h->entries <= bytes / h->entry_bytes &&
           h->names_bytes <= bytes &&
           bytes == sizeof *h + f->id_bytes + f->more_bytes + h->entries * h->entry_bytes +
                        h->names_bytes;
}

/* Whether the entries are sorted, and each name is within the names, with another text after it. */
static bool are_sound(const struct symbol_entry *e, uint64_t count, const char *names,
                      uint64_t bytes) {
    bool good = bytes >= 2 && !names[bytes - 1] && !names[bytes - 2];
    for (uint64_t i = 0; i < count && good; i++)
        good = e[i].name < bytes - 1 && (i == 0 || e[i].start > e[i - 1].start);
    return good;
}

static bool take(const struct table_file *f, const struct cache_map *map, struct symbol_table *t) {
    const struct head *h = map->data;
    char *id = (char *)map->data + sizeof *h;
    if (map->bytes < sizeof *h || !is_sound_head(h, f, map->bytes) ||
        memcmp(id, f->id, f->id_bytes) != 0)
        return false;
    char *more = id + f->id_bytes;
    struct symbol_entry *entries = (struct symbol_entry *)(void *)(more + f->more_bytes);
    char *names = (char *)(entries + h->entries);
    if (!are_sound(entries, h->entries, names, h->names_bytes))
        return false;
    if (f->more_bytes)
        memcpy(f->more, more, f->more_bytes);
    *t = (struct symbol_table){.entries = entries,
                               .count = h->entries,
                               .names = names,
                               .names_length = h->names_bytes,
                               .map = *map};
    return true;
}

bool table_file_load(const struct table_file *f, struct symbol_table *t) {
    struct cache_map map;
    if (!cache_file_map(f->folder, f->name, &map))
        return false;
    bool taken = take(f, &map, t);
    if (!taken)
        cache_file_unmap(&map);
    return taken;
}

void table_file_store(const struct table_file *f, const struct symbol_table *t) {
    static const char end[1];
    struct head h = head_of(f);
    if (t->count < TABLE_FILE_SYMBOLS ||
        t->count * sizeof *t->entries + t->names_length > TABLE_FILE_BYTES_MAX)
        return;
    h.entries = t->count;
    h.names_bytes = t->names_length + sizeof end; /* so that they end with two NULs */
    const struct iovec piece[] = {{&h, sizeof h},
                                  {(void *)f->id, f->id_bytes},
                                  {f->more, f->more_bytes},
                                  {t->entries, t->count * sizeof *t->entries},
                                  {t->names, t->names_length},
                                  {(void *)end, sizeof end}};
    cache_file_store(f->folder, f->prefix, f->name, piece, 6, f->most);
}
