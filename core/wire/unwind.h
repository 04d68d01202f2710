/*
 * Unwind tables: how to find the caller's frame at every program counter of a loaded file. The
 * reader builds them from .eh_frame and .debug_frame of the files that /proc/PID/maps names and
 * writes them behind the ring; the agent's handlers look addresses up. The tables follow the
 * libraries: after each WIRE_LIBRARY the reader adds what was loaded and drops what is gone.
 *
 *      struct wire_unwind   which of the two lists of modules is in use
 *      module[0][], [1][]   one is read while the other is written; sorted by begin, disjoint
 *      row[]                append-only while modules refer to them
 *
 * Writing: fill the list that is not in use, then store its number in `current` (release) and
 * increment `generation`. A handler may still be reading the other list: it is written again only
 * after WIRE_UNWIND_GRACE_MS. Rows are never moved or written twice. When there is no room for more
 * rows, further modules are left out; their frames are walked by frame pointers.
 * Reading: load `current` (acquire), copy each number once and check it against the limits here.
 * The rows come from the reader and may be wrong: stacks are read by guarded loads only.
 *
 * Context: plain data, may be included anywhere.
 */
#ifndef JTOP_WIRE_UNWIND_H
#define JTOP_WIRE_UNWIND_H

#include "core/wire/layout.h"

#define WIRE_UNWIND_MODULES_MAX 2048u
#define WIRE_UNWIND_GRACE_MS 100u

/* How the canonical frame address, the caller's stack pointer, is found. */
enum wire_unwind_cfa {
    WIRE_CFA_NONE = 0, /* not known: there is no table entry here */
    WIRE_CFA_SP,       /* stack pointer + cfa_offset */
    WIRE_CFA_FP,       /* frame pointer + cfa_offset */
    WIRE_CFA_FP_DEREF, /* the word at frame pointer + cfa_offset (a realigned stack) */
    WIRE_CFA_PLT,      /* sp + 8, + 8 more where (pc & 15) >= 11: a lazy PLT entry on x86_64 */
    WIRE_CFA_SIGNAL,   /* a signal's return trampoline: registers are in the ucontext at sp */
    WIRE_CFA_END,      /* the thread's outermost frame: there is no caller */
    WIRE_CFAS
};

#define WIRE_UNWIND_SAME INT16_MIN /* the register is still what it was in this frame */

/* Valid from `pc` to the pc of the next row. Offsets are bytes from the canonical frame address.
 * With WIRE_CFA_FP_DEREF, fp_offset counts from this frame's own frame pointer. */
struct wire_unwind_row {
    uint32_t pc;        /* relative to the module's base */
    int32_t cfa_offset; /* see enum wire_unwind_cfa */
    int16_t fp_offset;  /* where the caller's frame pointer is saved, or WIRE_UNWIND_SAME */
    int16_t ra_offset;  /* where the return address is; WIRE_UNWIND_SAME: in the link register */
    uint8_t cfa;        /* enum wire_unwind_cfa */
    uint8_t reserved[3];
};

struct wire_unwind_module {
    uint64_t begin, end;      /* the mapping's executable range in the JVM */
    uint64_t base;            /* address of row.pc 0 */
    uint32_t first_row, rows; /* sorted by pc */
};

struct wire_unwind {
    _Atomic uint32_t current;    /* 0 or 1 */
    _Atomic uint32_t generation; /* 0: nothing was ever written */
    uint32_t modules[2];
    uint32_t rows; /* rows in use; only the reader needs this count */
    uint32_t reserved[11];
    struct wire_unwind_module module[2][WIRE_UNWIND_MODULES_MAX];
    struct wire_unwind_row row[];
};

#define WIRE_UNWIND_ROWS_MAX                                                                       \
    ((WIRE_UNWIND_BYTES - sizeof(struct wire_unwind)) / sizeof(struct wire_unwind_row))

static_assert(sizeof(struct wire_unwind_row) == 16, "wire ABI");
static_assert(sizeof(struct wire_unwind_module) == 32, "wire ABI");
static_assert(sizeof(struct wire_unwind) == 64 + 2 * 32 * WIRE_UNWIND_MODULES_MAX, "wire ABI");

#endif
