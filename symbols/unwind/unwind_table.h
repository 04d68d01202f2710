/*
 * Files:
 *   unwind_bytes    bounds-checked reader of numbers and LEB128 values
 *   unwind_cache    tables of files that were read before, on disk
 *   unwind_entry    parser of CIE and FDE entries of .eh_frame and .debug_frame
 *   unwind_files    code mapped into a process, and the unwind tables of its files
 *   unwind_opcodes  DWARF frame instructions and their operands, as constants
 *   unwind_program  interpreter of one function's DWARF frame program
 *   unwind_table    sorted unwind rules of one ELF file, by address
 *
 * Rules to find the caller's frame, for every program counter of one ELF file. The programs in
 * .eh_frame and .debug_frame are run once and flattened into rows, which hold what a walk of x86_64
 * or aarch64 stacks needs. The rows are sorted and searchable.
 *
 * The file is treated as hostile. The number of rows and of programs that make rows is limited by
 * the number of bytes in the file, so its size bounds time and memory. Invalid parts are left out.
 * Compressed .debug_frame sections are not read.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_TABLE_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UNWIND_SEGMENTS = 16,        /* executable PT_LOADs that are used */
    UNWIND_ROWS_LIMIT = 1 << 22, /* limit of one file */
    UNWIND_SAME = INT16_MIN,     /* an offset that means: the register is unchanged */
};

/* How the canonical frame address (CFA), which is the caller's stack pointer, is computed. */
enum unwind_cfa {
    UNWIND_CFA_NONE = 0, /* not known here */
    UNWIND_CFA_SP,       /* stack pointer + cfa_offset */
    UNWIND_CFA_FP,       /* frame pointer + cfa_offset */
    UNWIND_CFA_FP_DEREF, /* the word at frame pointer + cfa_offset */
    UNWIND_CFA_PLT,      /* sp + 8, and 8 more if (pc & 15) >= 11 */
    UNWIND_CFA_SIGNAL,   /* a signal's return trampoline */
    UNWIND_CFA_END,      /* the outermost frame of a thread */
    UNWIND_CFAS
};

/* Valid from `pc` up to the next row's. */
struct unwind_row {
    uint32_t pc;        /* relative to the table's `address` */
    int32_t cfa_offset; /* bytes */
    int16_t fp_offset;  /* offset of the saved frame pointer from the CFA (UNWIND_CFA_FP_DEREF: from
                           the frame pointer); UNWIND_SAME: it is still in its register */
    int16_t ra_offset;  /* the return address, from the CFA; UNWIND_SAME: in the link register */
    uint8_t cfa;        /* enum unwind_cfa */
};

struct unwind_table {
    struct unwind_row *rows; /* sorted by pc; the last one is UNWIND_CFA_NONE */
    size_t count;
    uint64_t address; /* of pc 0, as linked */
    uint64_t covered; /* bytes of code that have rows */
    void *map;        /* the mapped file that `rows` is in; NULL: `rows` is allocated */
    size_t map_bytes;
    struct {
        uint64_t offset, size, address; /* `offset` in the file */
    } segments[UNWIND_SEGMENTS];
    unsigned segment_count;
};

/* Reads a regular file and, if there is one, its separate debug file `debug_fd` (-1: none). 0, or
 * -EINVAL (not an ELF file of a supported machine, or damaged), -EFBIG, -ENOMEM, -errno. A file
 * without tables is no error. The caller keeps the descriptors. */
int unwind_table_read(int fd, int debug_fd, struct unwind_table *out);
/* The same from memory (a vdso). */
int unwind_table_read_memory(const void *data, size_t size, struct unwind_table *out);

void unwind_table_free(struct unwind_table *t);

/* Bytes of code in the file. */
uint64_t unwind_table_code(const struct unwind_table *t);

/* The address of pc 0 in a process that maps the file's byte at `offset` to `address`. False: that
 * byte is not code. */
bool unwind_table_base(const struct unwind_table *t, uint64_t offset, uint64_t address,
                       uint64_t *base);

/* The row that is valid at `pc`, or NULL before the first one. */
const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint32_t pc);

#endif
