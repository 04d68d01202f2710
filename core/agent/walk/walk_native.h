/*
 * Native frames: by the reader's unwind tables if the walker has them and they have a row for the
 * pc, else by frame pointers. After a signal handler's frame comes the code that it interrupted.
 *
 * Context: signal-safe; guarded reads, bounded loops.
 */
#ifndef JTOP_AGENT_WALK_WALK_NATIVE_H
#define JTOP_AGENT_WALK_WALK_NATIVE_H

#include "core/agent/walk/unwind.h"
#include "core/agent/walk/walk.h"

enum native_stop {
    NATIVE_CODE,    /* the frame is in generated code */
    NATIVE_WRAPPER, /* the frame contains the wrapper */
    NATIVE_LIMIT,   /* the frame is beyond the limit */
    NATIVE_END,     /* it was the thread's outermost frame */
    NATIVE_LOST,    /* its caller could not be found */
    NATIVE_FULL,    /* the stack has no room for more frames */
};

struct native_bounds {
    uintptr_t limit;   /* end of the stack, or of its native part */
    uintptr_t wrapper; /* a JavaCallWrapper that may be in one of the frames, or 0 */
};

/* Walks from `f` and adds its callers, but not `f` itself. Returns why the walk stopped, with the
 * last frame in `f`. If it passed a signal handler, *interrupted has the registers of the
 * interrupted code. *exact (if not NULL): all steps were made by unwind tables, none by a frame
 * pointer. */
enum native_stop native_walk(const struct walker *w, const struct native_bounds *b,
                             struct native_frame *f, struct registers *interrupted, struct stack *s,
                             bool *exact);

#endif
