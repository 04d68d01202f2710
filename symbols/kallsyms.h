/*
 * The kernel's function names, from /proc/kallsyms. To read it takes the kernel a tenth of a second,
 * so what is in it is kept in a file for later processes (elf/table_file.h), and used in the same
 * boot, with the same modules and the same first addresses. What comes and goes without them (BPF
 * programs, kprobes) is not in that file: if an address is not found, /proc/kallsyms is read.
 *
 * Context: frontend only; one thread at a time per struct. kallsyms_find may be called by several
 * threads at once after kallsyms_read_once.
 */
#ifndef JTOP_SYMBOLS_KALLSYMS_H
#define JTOP_SYMBOLS_KALLSYMS_H

#include "symbols/elf/symbol_table.h"

#include <stdatomic.h>

struct kallsyms {
    bool was_read;
    bool is_kept;              /* table is from the file of an earlier process */
    struct symbol_table table; /* empty if there is trouble */
    _Atomic bool was_read_again;
    struct symbol_table again; /* read because `table` lacked an address */
    char trouble[384];         /* why there are no names and what to do; "" if there are names */
};

/* Reads `path` ("/proc/kallsyms") into a zeroed struct on the first call; later calls do nothing. A
 * failure is described in `trouble`. */
void kallsyms_read_once(struct kallsyms *k, const char *path);
/* Whether an address that was not found may be found after kallsyms_read_again. */
bool kallsyms_may_be_old(const struct kallsyms *k);
void kallsyms_read_again(struct kallsyms *k, const char *path);

/* The name of the function that covers a kernel address, or NULL. `*module` becomes "kernel" or, in
 * a loadable module, "[ext4]"; both are valid as long as the struct. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module);

void kallsyms_free(struct kallsyms *k);

#endif
