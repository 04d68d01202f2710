/*
 * Unwind tables of files that were read before: a table is mapped in a fraction of the time that it
 * takes to build it.
 *
 *      unwind-DEVICE-INODE   the identity of the ELF file, the table's shape, its rows
 *
 * In ordinary file systems a file's last change (ctime) cannot be set, so a table is of exactly the
 * file whose identity it states. Only files of two images whose times were set to the same value can
 * be taken for each other, which gives worse walks, no harm. Without a cache (cache_file.h) tables
 * are built.
 *
 * Context: frontend only, any thread while no thread changes the environment.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_CACHE_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_CACHE_H

#include "symbols/unwind/unwind_table.h"

enum {
    UNWIND_CACHE_ROWS = 1000, /* smaller tables are built at least as fast */
    UNWIND_CACHE_FILES = 64,  /* the oldest ones above that number are removed */
};

/* Identifies a file. An inode number may be reused for another file, and a file may be rewritten in
 * place. */
struct unwind_identity {
    uint64_t device, inode, size;
    int64_t second, nanosecond; /* of its last change */
};

/* Fills `out` with the table of that file. False: there is none in the cache that can be trusted. */
bool unwind_cache_load(const struct unwind_identity *id, struct unwind_table *out);

/* Keeps the table for later processes. */
void unwind_cache_store(const struct unwind_identity *id, const struct unwind_table *t);

#endif
