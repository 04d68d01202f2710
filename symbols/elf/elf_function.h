/*
 * A symbol of an ELF file by its name, for breakpoints and probes. Not from a symbol_table, which
 * has one name for each address: what is asked for may be the other.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_ELF_ELF_FUNCTION_H
#define JTOP_SYMBOLS_ELF_ELF_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

struct elf_function {
    uint64_t address; /* as the file has it: st_value */
    uint64_t size;
    bool object;      /* data, no code */
    bool chosen_late; /* STT_GNU_IFUNC: the code at `address` only chooses the function */
};

/* Looks in .symtab and .dynsym of a regular file for `name` as it is spelled there or, with "::" in
 * it, demangled: without parameters, so the first of several overloads. The compiler's clones
 * (".cold", ".part.0") are not meant. 0; -ENOENT; or as elf_symbols_read. `stripped`: there is no
 * .symtab, so a debug file may have it. The descriptor stays the caller's. */
int elf_function_find(int fd, const char *name, struct elf_function *out, bool *stripped);

#endif
