/*
 * What the agent's ids mean: methods, classes and stubs, by a tagged id. The number of ids and the
 * bytes of line tables are limited. An id that comes again replaces its old meaning.
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_DECODE_NAME_TABLE_H
#define JTOP_DECODE_NAME_TABLE_H

#include "core/base/id_map.h"
#include "core/decode/line_table.h"

#include <stddef.h>

struct known_name {
    uint32_t method;          /* of the profile's method table */
    uint32_t variant;         /* as `method`, for the method when it is being compiled or the class
                                 when it is allocated outside a TLAB; METHOD_NONE until needed */
    struct line_table *lines; /* owned; NULL: none */
};

struct name_table {
    struct id_map index; /* tagged id → name */
    struct known_name *name;
    uint32_t count, capacity;
    size_t line_bytes, line_bytes_max;
};

void name_table_init(struct name_table *t, uint32_t names_max, size_t line_bytes_max);
void name_table_free(struct name_table *t);
/* Removes all names. */
void name_table_clear(struct name_table *t);

/* NULL: not known. Valid until the next name_table_put. `key` is not 0. */
struct known_name *name_table_get(const struct name_table *t, uint64_t key);

/* Adds or replaces a name; takes ownership of `lines`. 0; 1: there was no room for the lines, the
 * rest is kept; -ENOSPC, -ENOMEM: nothing is kept. */
int name_table_put(struct name_table *t, uint64_t key, uint32_t method, struct line_table *lines);

#endif
