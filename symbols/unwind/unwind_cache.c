#include "symbols/unwind/unwind_cache.h"

#include "core/base/cache_file.h"

#include <stdio.h>
#include <string.h>

/* Increase the number if the same ELF file gets other rows, or the layout of rows changes. */
#define MAGIC "jtop unwind 1\n"
#define PREFIX "unwind-"
#define FOLDER "unwind"

/* The beginning of a file; `shape.count` rows follow. */
struct head {
    char magic[16];
    uint32_t head_bytes, row_bytes;
    struct unwind_identity id;
    struct unwind_table shape; /* its pointers are 0 */
};

static void name_of(const struct unwind_identity *id, char out[64]) {
    snprintf(out, 64, PREFIX "%llx-%llx", (unsigned long long)id->device,
             (unsigned long long)id->inode);
}

static bool is_same(const struct unwind_identity *a, const struct unwind_identity *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->second == b->second && a->nanosecond == b->nanosecond;
}

static bool is_sound_head(const struct head *h, const struct unwind_identity *id, size_t bytes) {
    return memcmp(h->magic, MAGIC, sizeof MAGIC) == 0 && h->head_bytes == sizeof *h &&
           h->row_bytes == sizeof(struct unwind_row) && is_same(&h->id, id) && h->shape.count > 0 &&
           h->shape.count <= UNWIND_ROWS_LIMIT && h->shape.segment_count <= UNWIND_SEGMENTS &&
           bytes == sizeof *h + h->shape.count * sizeof(struct unwind_row);
}

/* The last row says that nothing is known after it. */
static bool are_sound_rows(const struct unwind_row *row, size_t count) {
    bool good = row[count - 1].cfa == UNWIND_CFA_NONE && row[0].cfa < UNWIND_CFAS;
    for (size_t i = 1; i < count; i++)
        good &= (row[i].pc >= row[i - 1].pc) & (row[i].cfa < UNWIND_CFAS);
    return good;
}

bool unwind_cache_load(const struct unwind_identity *id, struct unwind_table *out) {
    struct cache_map map;
    char name[64];
    *out = (struct unwind_table){0};
    name_of(id, name);
    if (!cache_file_map(FOLDER, name, &map))
        return false;
    const struct head *h = map.data;
    struct unwind_row *rows = (struct unwind_row *)((char *)map.data + sizeof *h);
    if (map.bytes < sizeof *h || !is_sound_head(h, id, map.bytes) ||
        !are_sound_rows(rows, h->shape.count)) {
        cache_file_unmap(&map);
        return false;
    }
    *out = h->shape;
    out->rows = rows;
    out->map = map.data;
    out->map_bytes = map.bytes;
    return true;
}

void unwind_cache_store(const struct unwind_identity *id, const struct unwind_table *t) {
    char name[64];
    struct head h;
    if (t->count < UNWIND_CACHE_ROWS)
        return;
    memset(&h, 0, sizeof h); /* padding, too */
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    h.head_bytes = sizeof h;
    h.row_bytes = sizeof *t->rows;
    h.id = *id;
    h.shape = *t;
    h.shape.rows = NULL;
    const struct iovec piece[] = {{&h, sizeof h}, {t->rows, t->count * sizeof *t->rows}};
    name_of(id, name);
    cache_file_store(FOLDER, PREFIX, name, piece, 2, UNWIND_CACHE_FILES);
}
