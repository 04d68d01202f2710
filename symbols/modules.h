/*
 * The files mapped into a target, each read when its first address is asked for. Reading them all
 * takes no more than a few seconds of CPU time, and in the long run a twentieth of it: a target may
 * map any number of files made to be slow. Those beyond go without names.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_MODULES_H
#define JTOP_SYMBOLS_MODULES_H

#include "symbols/elf/elf_symbols.h"
#include "symbols/elf/maps.h"
#include "symbols/elf/target_files.h"
#include "symbols/intern.h"
#include "symbols/symbol_store.h"

struct module {
    const char *name;              /* "libc.so.6", "[vdso]"; interned */
    const char *placeholder;       /* "[libc.so.6]", for what no symbol covers; interned */
    const struct elf_symbols *elf; /* NULL: not readable, not ELF, not code */
};

struct module_entry;

struct modules {
    const struct target_files *files; /* borrowed, as are the next two */
    struct intern *names;
    struct symbol_store *store; /* tables are had from there; borrowed; NULL: read for ourselves */
    uint64_t mounts;            /* the process's mount namespace, for the store */
    struct module_entry *table;
    size_t bytes;               /* held by symbol tables */
    int64_t spent_ns, begun_ns; /* CPU time of reading files so far; when the first was read */
};

/* The module of a mapping, read now if it was not yet. NULL for memory that has no name (the heap,
 * a JIT's code) and where memory ran out. Stays valid until it is swept. */
const struct module *modules_get(struct modules *m, const struct mapping *mapping);

/* Frees what is in none of these maps. */
void modules_sweep(struct modules *m, const struct maps *maps);
void modules_free(struct modules *m);

#endif
