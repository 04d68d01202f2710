/*
 * The files mapped into a target. Each one is read when its first address is looked up. Reading
 * them takes at most a few seconds of CPU time, and in the long run a twentieth of the time: a
 * target may map any number of files made to be slow. Further files get no names.
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
    const char *placeholder;       /* "[libc.so.6]", for addresses without a symbol; interned */
    const struct elf_symbols *elf; /* NULL: not readable, not ELF, not code */
};

struct module_entry;

struct modules {
    const struct target_files *files; /* borrowed, as the next two */
    struct intern *names;
    struct symbol_store *store; /* source of shared tables; borrowed; NULL: we read files */
    uint64_t mounts;            /* the process's mount namespace, for the store */
    struct module_entry *table;
    size_t bytes;               /* of symbol tables that are held */
    int64_t spent_ns, begun_ns; /* CPU time of reading files so far; when the first was read */
};

/* The module of a mapping; it is read now if it was not yet. NULL for memory that has no name (the
 * heap, a JIT's code), and if memory ran out. Valid until it is swept. */
const struct module *modules_get(struct modules *m, const struct mapping *mapping);

/* Frees the modules that are in none of these maps. */
void modules_sweep(struct modules *m, const struct maps *maps);
void modules_free(struct modules *m);

#endif
