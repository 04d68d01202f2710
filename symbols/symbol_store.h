/*
 * Symbol tables that several processes' symbols share: fifty JVMs of one JDK read its libraries once.
 *
 * A file is the same where device, inode, size and both of its times are, and the process looks at
 * it from the same mount namespace: another one may find another debug file beside it.
 *
 * Context: frontend only; any thread. Tables are read-only once they are here.
 */
#ifndef JTOP_SYMBOLS_SYMBOL_STORE_H
#define JTOP_SYMBOLS_SYMBOL_STORE_H

#include "symbols/elf/elf_symbols.h"
#include "symbols/kallsyms.h"

struct symbol_store;
struct symbol_file; /* one file's table, as long as somebody has it */

/* NULL: no memory. */
struct symbol_store *symbol_store_new(void);
/* Everything must have been given back. NULL is fine. */
void symbol_store_free(struct symbol_store *s);

/* The table of the file at `fd`, which a process of the mount namespace `mounts` (its inode number)
 * maps; `read` makes it where nobody has it yet, and is waited for by others who want the same. It
 * may return NULL: then there is none. NULL: neither shared nor read, as memory ran out or who
 * reads it takes too long. */
struct symbol_file *symbol_store_get(struct symbol_store *s, int fd, uint64_t mounts,
                                     struct elf_symbols *(*read)(void *arg), void *arg);
const struct elf_symbols *symbol_file_elf(const struct symbol_file *f); /* NULL: none */
void symbol_store_put(struct symbol_store *s, struct symbol_file *f);

/* The kernel's names, read when first asked for. */
const struct kallsyms *symbol_store_kernel(struct symbol_store *s);

#endif
