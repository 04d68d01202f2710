/*
 * Names for native and kernel addresses of one process: /proc/PID/maps, the ELF files it names
 * (libelf: .symtab, .dynsym, and a separate debug file found by build-id or .gnu_debuglink), the
 * vdso, and /proc/kallsyms. C++ and Rust names come out demangled (libiberty).
 *
 * ELF files and maps belong to the target and are hostile: sizes, offsets and indices are checked,
 * a broken file yields no symbols and no crash. Files are opened through /proc/PID/root so that a
 * container's libraries are found, never written, never executed.
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
    SYMBOL_CPP, /* was mangled (C++ or Rust) and is demangled now */
    SYMBOL_KERNEL,
};

struct symbol {
    const char *name;   /* lives as long as the struct symbols; never NULL */
    const char *module; /* base name of the file: libc.so.6; "kernel"; "" where unknown */
    enum symbol_language language;
    bool exact; /* false: no symbol covers the address; name is then the module's name in
                   brackets, or "[unknown]" */
};

struct symbols;

/* Reads the process's maps. Fails with -ESRCH, -EACCES (message says what to try), -ENOMEM. */
int symbols_open(pid_t pid, struct symbols **out, struct err *e);
void symbols_free(struct symbols *s);

/* Reads the maps again when they may have changed. What was read of files still mapped is kept.
 * A process that is gone keeps the last maps read: returns -ESRCH and nothing is lost. */
int symbols_refresh(struct symbols *s);

/* Names an address. A user address in no known mapping makes it refresh the maps, at most once a
 * second. Answers are cached by address until a refresh that changes that address's mapping. */
void symbols_resolve(struct symbols *s, uint64_t address, struct symbol *out);
/* Kernel addresses (high bit set). Without permission for kallsyms: "[kernel]", exact false. */
void symbols_resolve_kernel(struct symbols *s, uint64_t address, struct symbol *out);

/* Why kernel names are missing, one line with the remedy, or NULL when they are there. */
const char *symbols_kernel_trouble(const struct symbols *s);

#endif
