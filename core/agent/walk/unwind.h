/*
 * One step to a native caller by the reader's unwind tables (core/wire/unwind.h). The tables say
 * where the caller's registers are; what is read there counts only if it leads towards the
 * stack's base, so a step never leaves the stack and a walk always ends.
 *
 * Context: signal-safe; every read of the stack and of a row is guarded, every loop bounded.
 */
#ifndef JTOP_AGENT_WALK_UNWIND_H
#define JTOP_AGENT_WALK_UNWIND_H

#include "core/wire/unwind.h"

#include <stdbool.h>

/* What is known about a native frame. */
struct native_frame {
    uintptr_t pc, sp, fp;
    uintptr_t lr;     /* where `interrupted`, on an architecture that has one; else 0 */
    bool interrupted; /* pc was interrupted there; else it is a return address */
};

enum unwind_result {
    UNWIND_CALLER = 0, /* the frame is its caller's now */
    UNWIND_SIGNAL,     /* a handler's return trampoline: the ucontext is at sp */
    UNWIND_END,        /* it was the thread's outermost */
    UNWIND_NO_ROW,     /* the tables say nothing about this pc */
    UNWIND_BAD,        /* they do, and it leads nowhere */
};

/* `u` may be NULL. The stack ends at `limit`. The frame is changed by UNWIND_CALLER only. */
enum unwind_result unwind_step(const struct wire_unwind *u, uintptr_t limit,
                               struct native_frame *f);

#endif
