/*
 * One step to a native caller by the reader's unwind tables (core/wire/unwind.h). The tables tell
 * where the caller's registers are stored. A step is accepted only if it leads towards the stack's
 * base, so it never leaves the stack, and a walk always ends.
 *
 * Context: signal-safe; every read of the stack and of a row is guarded, every loop bounded.
 */
#ifndef JTOP_AGENT_WALK_UNWIND_H
#define JTOP_AGENT_WALK_UNWIND_H

#include "core/wire/unwind.h"

#include <stdbool.h>

/* The known registers of a native frame. */
struct native_frame {
    uintptr_t pc, sp, fp;
    uintptr_t lr;     /* link register, if `interrupted` and the architecture has one; else 0 */
    bool interrupted; /* the thread was interrupted at pc; else pc is a return address */
};

enum unwind_result {
    UNWIND_CALLER = 0, /* the frame is now that of the caller */
    UNWIND_SIGNAL,     /* a handler's return trampoline: the ucontext is at sp */
    UNWIND_END,        /* it was the thread's outermost frame */
    UNWIND_NO_ROW,     /* the tables have no row for this pc */
    UNWIND_BAD,        /* the row leads to an invalid caller */
};

/* `u` may be NULL. The stack ends at `limit`. *f is changed only if UNWIND_CALLER is returned. */
enum unwind_result unwind_step(const struct wire_unwind *u, uintptr_t limit,
                               struct native_frame *f);

#endif
