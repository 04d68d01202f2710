/*
 * Files:
 *   debug_file    search for the separate debug file of a stripped library
 *   demangle      readable C++ and Rust names from mangled ones
 *   elf_function  lookup of one symbol of an ELF file by name
 *   elf_image     safe copy of the needed parts of an ELF file, for libelf
 *   elf_symbols   functions of one ELF file, found by file offset
 *   maps          parsed /proc/PID/maps, searchable by address
 *   symbol_table  function symbols sorted by address
 *   table_file    symbol tables kept in files for later processes
 *   target_files  safe opening of files as a target process sees them
 *   vdso          image and symbols of a process's vdso
 *
 * The functions of one ELF file: .symtab, .dynsym and PLT entries, found by file offset.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_ELF_ELF_SYMBOLS_H
#define JTOP_SYMBOLS_ELF_ELF_SYMBOLS_H

#include "symbols/elf/symbol_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ELF_SEGMENTS = 16, /* executable PT_LOADs that are kept */
    ELF_BUILD_ID = 64, /* bytes; usually 20 */
};

struct elf_symbols {
    struct symbol_table table;
    struct {
        uint64_t offset, size, address;
    } segments[ELF_SEGMENTS];
    unsigned segment_count;
    bool has_symtab; /* static functions are there: no separate debug file is needed */
    uint8_t build_id[ELF_BUILD_ID];
    size_t build_id_length; /* 0: none */
    char debug_link[256];   /* name of the separate debug file, "": none */
    uint32_t debug_link_crc;
};

/* Reads a regular file. 0, or -EINVAL (not ELF, or damaged), -EFBIG, -ENOMEM, -errno. A file
 * without symbols is no error. The caller keeps the descriptor. */
int elf_symbols_read(int fd, struct elf_symbols **out);
/* Identifies a file that may be kept: an inode number may be reused for another file, and a file may
 * be rewritten in place. In ordinary file systems a file's last change (ctime) can't be set. */
struct elf_identity {
    uint64_t device, inode, size;
    int64_t second, nanosecond; /* of its last change */
};

/* False: it is no file, or it has just been changed. To be called before the file is read. */
bool elf_identify(int fd, struct elf_identity *id);
/* As elf_symbols_read, for a file that was read before, maybe by another process. NULL: it was not
 * kept, or has another build-id now. */
struct elf_symbols *elf_symbols_kept(int fd, const struct elf_identity *id);
/* Keeps what was read from a file that has all of its symbols itself, and a build-id, if the file is
 * still the same. */
void elf_symbols_keep(const struct elf_symbols *s, int fd, const struct elf_identity *id);
/* As elf_symbols_read, from memory (a vdso). */
int elf_symbols_read_memory(const void *data, size_t size, struct elf_symbols **out);

/* Adds the .symtab of a separate debug file to `s`. 0 or an error as above; -ESTALE if `s` has a
 * build-id and the file has another one or none. */
int elf_symbols_add(struct elf_symbols *s, int fd);

/* The function at a file offset, as the symbol table spells it, or NULL. */
const struct symbol_entry *elf_symbols_find(const struct elf_symbols *s, uint64_t offset);

void elf_symbols_free(struct elf_symbols *s);

#endif
