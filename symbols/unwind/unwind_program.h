/*
 * Runs the program of one function's FDE and says what it amounts to, stretch by stretch.
 * Source: DWARF 5, 6.4.2; register numbers: the psABIs of x86_64 and aarch64.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_PROGRAM_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_PROGRAM_H

#include "symbols/unwind/unwind_entry.h"
#include "symbols/unwind/unwind_table.h"

/* Takes the row that is valid in [begin, end), addresses as linked; row->pc is not set. A plain
 * row for each stretch, in rising order. Not 0: stop. */
typedef int unwind_emit(void *arg, uint64_t begin, uint64_t end, const struct unwind_row *row);

struct unwind_program {
    uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
    uint64_t budget;  /* instructions that may still be run; counts down */
    unwind_emit *emit;
    void *arg;
};

/* A stretch that the program says nonsense about is emitted as UNWIND_CFA_NONE. 0, or what emit
 * returned, or -ELOOP: the budget is used up. */
int unwind_program_run(struct unwind_program *p, const struct unwind_section *s,
                       const struct unwind_fde *fde);

#endif
