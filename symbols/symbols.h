/*
 * Files:
 *   find          lookup of symbols by name in all mapped files
 *   intern        pool of strings that are stored once each
 *   kallsyms      kernel function names from /proc/kallsyms
 *   modules       files mapped into a process, with their symbol tables
 *   symbol_store  symbol tables shared by several processes
 *   symbols       names for native and kernel addresses of one process
 *
 * Names for native and kernel addresses of one process. They come from /proc/PID/maps, the ELF
 * files named there (libelf: .symtab, .dynsym, and a separate debug file found by build-id or
 * .gnu_debuglink), the vdso, and /proc/kallsyms. C++ and Rust names are demangled (libiberty).
 *
 * ELF files and maps belong to the target and are treated as hostile: sizes, offsets and indices
 * are checked; a broken file yields no symbols and no crash. Files are opened through
 * /proc/PID/root, so that a container's libraries are found. They are never written and never
 * executed.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_SYMBOLS_H
#define JTOP_SYMBOLS_SYMBOLS_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum symbol_language {
    SYMBOL_C = 0,
    SYMBOL_CPP, /* was mangled (C++ or Rust); the name is demangled */
    SYMBOL_KERNEL,
};

struct symbol {
    const char *name;   /* valid as long as the struct symbols; never NULL */
    const char *module; /* base name of the file: libc.so.6; "kernel"; "" if unknown */
    enum symbol_language language;
    bool exact; /* false: no symbol covers the address; name is then the module's name in
                   brackets, or "[unknown]" */
};

struct symbols;

/* Reads the process's maps. Fails with -ESRCH, -EACCES (message says what to try), -ENOMEM. */
int symbols_open(pid_t pid, struct symbols **out, struct err *e);
/* The same with tables from a store, which must live longer; NULL: own tables. */
struct symbol_store;
int symbols_open_shared(pid_t pid, struct symbol_store *store, struct symbols **out, struct err *e);
void symbols_free(struct symbols *s);

/* Reads the maps again, in case they have changed. Tables of files that are still mapped are kept.
 * If the process has ended, the last maps are kept, and -ESRCH is returned. */
int symbols_refresh(struct symbols *s);

/* Names an address. If no known mapping contains a user address, the maps are refreshed, at most
 * once a second. Results are cached by address, until a refresh changes the mapping of that
 * address. */
void symbols_resolve(struct symbols *s, uint64_t address, struct symbol *out);
/* Names a kernel address (high bit set). Without permission for kallsyms: "[kernel]", exact
 * false. */
void symbols_resolve_kernel(struct symbols *s, uint64_t address, struct symbol *out);

/* The place of a named symbol in the process and in its file. */
struct symbol_place {
    uint64_t address;
    uint64_t offset;  /* in the file; UINT64_MAX: not in its code */
    bool object;      /* data, not code */
    bool chosen_late; /* an "indirect function": calls by this name do not come through here */
    char path[256];   /* of the file, as the process sees it */
};

/* Finds a function or a variable by its name, as the symbol table spells it, or demangled without
 * parameters. `library`: a path, a base name ("libc.so.6") or the beginning of one ("libc"); NULL:
 * any, in the order of addresses. The library must be in the maps that were read last. `name` NULL:
 * the library itself, at offset 0. Debug files are searched as for names. 0; -ENOENT: nothing
 * mapped has it; -ENODEV: no such library is mapped; -EFBIG, -ENOMEM. */
int symbols_find(struct symbols *s, const char *library, const char *name,
                 struct symbol_place *out);

/* Whether the library is mapped and stripped, and has no debug file. If so, `build_id` is its
 * build-id in hex, and *replaced says whether another file is at its path now. */
bool symbols_are_missing(struct symbols *s, const char *library, char build_id[132],
                         bool *replaced);

/* Why kernel names are missing, in one line with the remedy; NULL if they are there. */
const char *symbols_kernel_trouble(const struct symbols *s);

#endif
