/*
 * The entries of .eh_frame and .debug_frame. An FDE describes the frames of one function by a
 * program, which continues the program of its CIE.
 * Source: DWARF 5, 6.4.1; the Linux Standard Base on .eh_frame for pointer encodings and
 * augmentations.
 *
 *     .eh_frame     | length | 0 / distance back to the CIE | … |   ends with a length of 0
 *     .debug_frame  | length | ~0 / offset of the CIE       | … |
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_ENTRY_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_ENTRY_H

#include "symbols/unwind/unwind_bytes.h"

struct unwind_section {
    const uint8_t *data;
    size_t size;      /* bytes */
    uint64_t address; /* of its first byte, as linked */
    bool eh;          /* .eh_frame, else .debug_frame */
};

/* What all functions of one CIE have in common. */
struct unwind_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_register;
    uint8_t encoding; /* of addresses in its FDEs and their programs: DW_EH_PE_… */
    bool sized;       /* the FDEs contain the length of their augmentation data */
    bool signal;      /* these FDEs are return trampolines of signals */
    struct unwind_bytes program;
};

struct unwind_fde {
    uint64_t begin, end; /* of the code, as linked */
    struct unwind_cie cie;
    struct unwind_bytes program;
};

/* Steps over the entry at *offset. 1: an FDE, 0: another entry, -1: the end, or an invalid
 * entry. */
int unwind_entry_next(const struct unwind_section *s, size_t *offset);

/* Reads the FDE at `offset` and its CIE. False: it is invalid or not supported. */
bool unwind_fde_read(const struct unwind_section *s, size_t offset, struct unwind_fde *out);

/* Reads a pointer in one of the encodings that need no registers and no memory: absolute, or
 * relative to its own place. For other encodings, sets b->bad. */
uint64_t unwind_pointer(const struct unwind_section *s, uint8_t encoding, struct unwind_bytes *b);

#endif
