/*
 * The kernel's function names, from /proc/kallsyms.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_KALLSYMS_H
#define JTOP_SYMBOLS_KALLSYMS_H

#include "symbols/elf/symbol_table.h"

struct kallsyms {
    bool was_read;
    struct symbol_table table; /* empty if there is trouble */
    char trouble[384];         /* why there are no names and what to do; "" if there are names */
};

/* Reads `path` ("/proc/kallsyms") into a zeroed struct on the first call; later calls do nothing. A
 * failure is described in `trouble`. */
void kallsyms_read_once(struct kallsyms *k, const char *path);

/* The name of the function that covers a kernel address, or NULL. `*module` becomes "kernel" or, in
 * a loadable module, "[ext4]"; both are valid as long as the struct. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module);

void kallsyms_free(struct kallsyms *k);

#endif
