/*
 * Symbol tables shared by the symbols of several processes: fifty JVMs of one JDK read its
 * libraries once.
 *
 * Two files are the same if device, inode, size and both of their times are equal, and if the
 * processes see them from the same mount namespace: another namespace may have another debug file
 * beside it.
 *
 * Context: frontend only; any thread. Tables are read-only once they are here.
 */
#ifndef JTOP_SYMBOLS_SYMBOL_STORE_H
#define JTOP_SYMBOLS_SYMBOL_STORE_H

#include "symbols/elf/elf_symbols.h"
#include "symbols/kallsyms.h"

struct symbol_store;
struct symbol_file; /* one file's table; it lives as long as it has users */

/* NULL: no memory. */
struct symbol_store *symbol_store_new(void);
/* All tables must have been put back. NULL is fine. */
void symbol_store_free(struct symbol_store *s);

/* The table of the file at `fd`, which a process of the mount namespace `mounts` (its inode number)
 * maps. If the table does not exist yet, `read` makes it, and other threads that want the same
 * table wait for it. `read` may return NULL: then the file has no table. Returns NULL if the table
 * was neither shared nor read, because memory ran out or the thread that reads it takes too
 * long. */
struct symbol_file *symbol_store_get(struct symbol_store *s, int fd, uint64_t mounts,
                                     struct elf_symbols *(*read)(void *arg), void *arg);
const struct elf_symbols *symbol_file_elf(const struct symbol_file *f); /* NULL: none */
void symbol_store_put(struct symbol_store *s, struct symbol_file *f);

/* The kernel's names; they are read on the first call. */
const struct kallsyms *symbol_store_kernel(struct symbol_store *s);
/* kallsyms_read_again. */
void symbol_store_kernel_again(struct symbol_store *s);

#endif
