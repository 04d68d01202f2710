/*
 * An ELF file for libelf, in memory that no other process can change.
 *
 * The file is never mapped: its owner could truncate it while we read (SIGBUS), or change a size
 * after it was checked. Instead, the needed parts are copied to their places in an empty mapping as
 * large as the file. The rest stays untouched zero pages, which cost nothing:
 *
 *     | Ehdr | Phdrs | 0 0 0 | .dynsym | .dynstr | 0 0 0 0 0 0 0 | .symtab | .strtab | Shdrs |
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_ELF_ELF_IMAGE_H
#define JTOP_SYMBOLS_ELF_ELF_IMAGE_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image {
    Elf *elf;
    int fd; /* borrowed; -1: everything is in memory already */
    char *base;
    size_t size;
    struct {
        uint64_t start, end; /* file header, program headers, section headers: see elf_image.c */
    } tables[3];
};

/* Reads the headers of a regular file, which the caller has checked to be one. -EINVAL: not an ELF
 * file of this machine's byte order, or headers outside the file; -EFBIG; -ENOMEM; -errno. */
int elf_image_open(int fd, struct elf_image *image);

/* The same for an image that was read already (a vdso); it is copied. */
int elf_image_copy(const void *data, size_t size, struct elf_image *image);

/* The contents of a section that is at most `limit` bytes; NULL if it is empty, larger, outside the
 * file, compressed or not in the file (SHT_NOBITS). Valid as long as the image. */
Elf_Data *elf_image_section(struct elf_image *image, size_t index, size_t limit);

/* `size` bytes of the file at `offset`; NULL if they are not all there, or belong to headers. Valid
 * as long as the image. */
const void *elf_image_part(struct elf_image *image, uint64_t offset, uint64_t size);

void elf_image_close(struct elf_image *image);

#endif
