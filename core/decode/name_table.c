#include "core/decode/name_table.h"

#include "core/base/grow.h"
#include "core/profile/table/method_table.h"

#include <errno.h>
#include <stdlib.h>

void name_table_init(struct name_table *t, uint32_t names_max, size_t line_bytes_max) {
    *t = (struct name_table){.line_bytes_max = line_bytes_max};
    id_map_init(&t->index, names_max);
}

void name_table_clear(struct name_table *t) {
    for (uint32_t i = 0; i < t->count; i++)
        free(t->name[i].lines);
    id_map_clear(&t->index);
    t->count = 0;
    t->line_bytes = 0;
}

void name_table_free(struct name_table *t) {
    name_table_clear(t);
    id_map_free(&t->index);
    free(t->name);
    *t = (struct name_table){0};
}

struct known_name *name_table_get(const struct name_table *t, uint64_t key) {
    uint32_t i;
    return id_map_get(&t->index, key, &i) ? &t->name[i] : NULL;
}

static int add(struct name_table *t, uint64_t key, struct known_name **out) {
    if (!GROW(t->name, t->count, t->capacity))
        return -ENOMEM;
    int rc = id_map_put(&t->index, key, t->count);
    if (rc != 0)
        return rc;
    *out = &t->name[t->count++];
    **out = (struct known_name){.method = METHOD_NONE};
    return 0;
}

static bool replace_lines(struct name_table *t, struct known_name *n, struct line_table *lines) {
    t->line_bytes -= n->lines ? line_table_bytes(n->lines) : 0;
    free(n->lines);
    n->lines = NULL;
    if (!lines)
        return true;
    if (line_table_bytes(lines) > t->line_bytes_max - t->line_bytes) {
        free(lines);
        return false;
    }
    t->line_bytes += line_table_bytes(lines);
    n->lines = lines;
    return true;
}

int name_table_put(struct name_table *t, uint64_t key, uint32_t method, struct line_table *lines) {
    struct known_name *n = name_table_get(t, key);
    int rc = n ? 0 : add(t, key, &n);
    if (rc != 0) {
        free(lines);
        return rc;
    }
    n->method = method;
    n->variant = METHOD_NONE;
    return replace_lines(t, n, lines) ? 0 : 1;
}
