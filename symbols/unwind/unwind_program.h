/*
 * Runs the program of one function's FDE and emits its result, range by range.
 * Source: DWARF 5, 6.4.2; register numbers: the psABIs of x86_64 and aarch64.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_UNWIND_UNWIND_PROGRAM_H
#define JTOP_SYMBOLS_UNWIND_UNWIND_PROGRAM_H

#include "symbols/unwind/unwind_entry.h"
#include "symbols/unwind/unwind_table.h"

/* Receives the row that is valid in [begin, end), addresses as linked; row->pc is not set. It is
 * called with a plain row for each range, in rising order. A result other than 0 stops the
 * program. */
typedef int unwind_emit(void *arg, uint64_t begin, uint64_t end, const struct unwind_row *row);

struct unwind_program {
    uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
    uint64_t budget;  /* instructions that may still be run; counts down */
    unwind_emit *emit;
    void *arg;
};

/* A range for which the program is invalid is emitted as UNWIND_CFA_NONE. 0, or what emit returned,
 * or -ELOOP: the budget is used up. */
int unwind_program_run(struct unwind_program *p, const struct unwind_section *s,
                       const struct unwind_fde *fde);

#endif
