/*
 * Finds a symbol of an ELF file by its name, for breakpoints and probes. A symbol_table cannot be
 * used for this: it has one name for each address, and the requested one may be another.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_ELF_ELF_FUNCTION_H
#define JTOP_SYMBOLS_ELF_ELF_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct elf_function {
    uint64_t address; /* as in the file: st_value */
    uint64_t size;
    bool object;      /* data, not code */
    bool chosen_late; /* STT_GNU_IFUNC: the code at `address` only chooses the function */
};

/* Searches .symtab and .dynsym of a regular file for `name`, as it is spelled there or, if it
 * contains "::", demangled. Demangled names have no parameters, so the first of several overloads
 * is found. The compiler's clones (".cold", ".part.0") are ignored. 0; -ENOENT; or as
 * elf_symbols_read. `stripped`: there is no .symtab, so a debug file may have the symbol. The
 * caller keeps the descriptor. */
int elf_function_find(int fd, const char *name, struct elf_function *out, bool *stripped);

#endif
