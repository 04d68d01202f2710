/*
 * Files:
 *   unwind_bytes    bounds-checked reader of numbers and LEB128 values
 *   unwind_entry    parser of CIE and FDE entries of .eh_frame and .debug_frame
 *   unwind_files    code mapped into a process, and the unwind tables of its files
 *   unwind_opcodes  DWARF frame instructions and their operands, as constants
 *   unwind_program  interpreter of one function's DWARF frame program
 *   unwind_table    sorted unwind rules of one ELF file, by address
 *
 * How to find the caller's frame, for every program counter of one ELF file: the contents of
 * .eh_frame and .debug_frame run through once and flattened into rows of what a walk of x86_64 or
 * aarch64 stacks needs, sorted and searchable.
 *
 * The file is hostile: every row and every program that makes rows is paid for with bytes of the
 * file, so that time and memory are bounded by its size; what makes no sense is left out.
 * .debug_frame sections that are compressed are not read.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_TABLE_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UNWIND_SEGMENTS = 16,        /* executable PT_LOADs that are looked at */
    UNWIND_ROWS_LIMIT = 1 << 22, /* of one file */
    UNWIND_SAME = INT16_MIN,     /* an offset: the register is still what it was */
};

/* How the canonical frame address (CFA), the caller's stack pointer, is found. */
enum unwind_cfa {
    UNWIND_CFA_NONE = 0, /* not known here */
    UNWIND_CFA_SP,       /* stack pointer + cfa_offset */
    UNWIND_CFA_FP,       /* frame pointer + cfa_offset */
    UNWIND_CFA_FP_DEREF, /* the word at frame pointer + cfa_offset */
    UNWIND_CFA_PLT,      /* sp + 8, + 8 more where (pc & 15) >= 11 */
    UNWIND_CFA_SIGNAL,   /* a signal's return trampoline */
    UNWIND_CFA_END,      /* the outermost frame of a thread */
    UNWIND_CFAS
};

/* Valid from `pc` on to the next row's. */
struct unwind_row {
    uint32_t pc;        /* from the table's `address` */
    int32_t cfa_offset; /* bytes */
    int16_t fp_offset;  /* the saved frame pointer, from the CFA (UNWIND_CFA_FP_DEREF: from the
                           frame pointer); UNWIND_SAME: it is still in its register */
    int16_t ra_offset;  /* the return address, from the CFA; UNWIND_SAME: in the link register */
    uint8_t cfa;        /* enum unwind_cfa */
};

struct unwind_table {
    struct unwind_row *rows; /* by pc; the last one is UNWIND_CFA_NONE */
    size_t count;
    uint64_t address; /* of pc 0, as linked */
    uint64_t covered; /* bytes of code that have rows */
    struct {
        uint64_t offset, size, address; /* `offset` in the file */
    } segments[UNWIND_SEGMENTS];
    unsigned segment_count;
};

/* Reads a regular file, and with it `debug_fd`, the separate debug file where there is one, else
 * -1. 0, or -EINVAL (not an ELF file of a machine that we know, damaged), -EFBIG, -ENOMEM, -errno.
 * A file without tables is no error. The descriptors stay the caller's. */
int unwind_table_read(int fd, int debug_fd, struct unwind_table *out);
/* The same from memory (a vdso). */
int unwind_table_read_memory(const void *data, size_t size, struct unwind_table *out);

void unwind_table_free(struct unwind_table *t);

/* Bytes of code of the file. */
uint64_t unwind_table_code(const struct unwind_table *t);

/* Where pc 0 is in a process that has the file's byte at `offset` at `address`. False: that byte
 * is no code. */
bool unwind_table_base(const struct unwind_table *t, uint64_t offset, uint64_t address,
                       uint64_t *base);

/* The row that is valid at `pc`, or NULL in front of the first one. */
const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint32_t pc);

#endif
