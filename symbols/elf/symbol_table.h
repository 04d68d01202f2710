/*
 * Function symbols of one file (or of the kernel), sorted by address.
 *
 *     names   "memcpy\0memmove\0…"      copied string tables, one after another
 *     entries { start, size, name → }   by start; one for each start
 *
 * An address belongs to the nearest symbol before it that is long enough to cover it. Symbols are
 * not stretched over a gap: in a stripped file, the functions between two exported ones would all
 * get the wrong name. Only symbols without a size (assembly) reach to the next one.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_ELF_SYMBOL_TABLE_H
#define JTOP_SYMBOLS_ELF_SYMBOL_TABLE_H

#include "core/base/cache_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SYMBOL_ALIGNMENT = 16, /* bytes; padding up to here still belongs to the function */
};

enum symbol_binding { SYMBOL_LOCAL, SYMBOL_WEAK, SYMBOL_GLOBAL };

struct symbol_entry {
    uint64_t start;
    uint32_t size; /* bytes, at least 1 once the table is finished */
    uint32_t name; /* offset in names */
    uint32_t rank; /* of two symbols at one address, the higher is kept */
    bool sized;    /* the file gave the size */
    bool plt;      /* a jump to function `name`, not the function itself */
};

struct symbol_table {
    struct symbol_entry *entries;
    size_t count, cap;
    char *names;
    size_t names_length;
    struct cache_map map; /* what entries and names lie in, if they are not allocated: the table is
                             then finished */
};

/* Adds a string table; the offsets of symbols that are added next count from `*base`. -ENOMEM, or
 * -E2BIG if there would be more names than an entry can point to. */
int symbol_table_names(struct symbol_table *t, const char *data, size_t length, uint32_t *base);

/* Adds one symbol. `size` is the size in the file; if `entry->sized` is false, it is how far the
 * symbol may reach at most. `entry->name` must be within the names; a symbol with an empty name is
 * left out. 0 or -ENOMEM. */
int symbol_table_add(struct symbol_table *t, const struct symbol_entry *entry,
                     enum symbol_binding binding);

/* Sorts the symbols: needed after the last add and before the first find. May be called again after
 * more adds. */
void symbol_table_finish(struct symbol_table *t);

/* The symbol that covers `address`, or NULL. */
const struct symbol_entry *symbol_table_find(const struct symbol_table *t, uint64_t address);

const char *symbol_table_name(const struct symbol_table *t, const struct symbol_entry *entry);

/* Bytes of memory held. */
size_t symbol_table_bytes(const struct symbol_table *t);
void symbol_table_free(struct symbol_table *t);

#endif
