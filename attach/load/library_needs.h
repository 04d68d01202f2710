/*
 * What a shared library requires of the process that loads it: the machine, libraries, and the
 * newest version of glibc that it names. Also reads the version from a glibc itself.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_LOAD_LIBRARY_NEEDS_H
#define JTOP_ATTACH_LOAD_LIBRARY_NEEDS_H

#include <stddef.h>
#include <stdint.h>

struct library_needs {
    int machine;          /* e_machine */
    int elf_class;        /* ELFCLASS64 */
    unsigned glibc_minor; /* newest version it names is GLIBC_2.N; 0: none is named */
    char beyond_libc[64]; /* the first needed library that musl's libc does not replace; "" */
    uint64_t bytes;
};

/* Parses the file's bytes. -ENOEXEC: not an ELF file of this byte order, or truncated. */
int library_needs_parse(const void *data, size_t size, struct library_needs *out);
int library_needs_read(const char *path, struct library_needs *out); /* 0 or -errno */

/* The N of "GNU C Library … version 2.N" in the bytes of a libc; 0: not found. */
unsigned library_glibc_minor(const void *data, size_t size);

/* The usual name of an e_machine. */
const char *library_machine(int machine);

#endif
