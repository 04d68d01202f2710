/*
 * What a shared library wants of the process that loads it: the machine, libraries, and the newest
 * version of glibc that it names. And what a glibc says it is.
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
    unsigned glibc_minor; /* it names GLIBC_2.N at most; 0: no version */
    char beyond_libc[64]; /* the first library it needs that musl's libc is not; "" */
    uint64_t bytes;
};

/* Over the file's bytes. -ENOEXEC: not an ELF file of this byte order, or cut. */
int library_needs_parse(const void *data, size_t size, struct library_needs *out);
int library_needs_read(const char *path, struct library_needs *out); /* or -errno */

/* The N of "GNU C Library … version 2.N" in the bytes of a libc; 0: it does not say. */
unsigned library_glibc_minor(const void *data, size_t size);

/* e_machine as people call it. */
const char *library_machine(int machine);

#endif
