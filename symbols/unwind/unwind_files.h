/*
 * The code mapped into one process, and the unwind tables of its files. Files are opened as for
 * names (target_files.h); the vdso is read from the process's memory.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_FILES_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_FILES_H

#include "core/base/err.h"
#include "symbols/unwind/unwind_table.h"

#include <sys/types.h>

enum { UNWIND_FILES_LIMIT = 4096 }; /* of one process, over its life; further ones get none */

/* A piece of a file, mapped as code. */
struct unwind_mapping {
    uint64_t begin, end;
    uint64_t offset; /* of `begin` in the file */
    uint32_t file;   /* the file's number, from 0; it stays the same as long as the file itself
                        does */
};

struct unwind_files;

/* -ESRCH, -EACCES (message says what to try), -ENOMEM, … */
int unwind_files_open(pid_t pid, struct unwind_files **out, struct err *e);
void unwind_files_close(struct unwind_files *u);

/* Reads the process's maps and lists the code in files that can be opened: first the files that
 * stacks go through most (the VM, libc), then by size. *out is valid until the next call. 0, or
 * -ESRCH: the process has ended; -EACCES, -ENOMEM, … */
int unwind_files_list(struct unwind_files *u, const struct unwind_mapping **out, size_t *count);

/* Reads the table of a mapping of the last list: from the cache (unwind_cache.h), or else builds it,
 * which takes tens of milliseconds for a libjvm.so. 0, or an error as unwind_table_read(). */
int unwind_files_table(struct unwind_files *u, const struct unwind_mapping *m,
                       struct unwind_table *out, bool *built);

/* Takes over a table that was built, so that unwind_files_store() writes it into the cache when
 * there is time. Empties `t`. */
void unwind_files_keep(struct unwind_files *u, const struct unwind_mapping *m,
                       struct unwind_table *t);

/* Writes one of those tables. False: there is none left. */
bool unwind_files_store(struct unwind_files *u);

#endif
