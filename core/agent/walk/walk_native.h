/*
 * Native frames: by the reader's unwind tables where the walker has them and they know the place,
 * else by frame pointers. A signal handler's frame is followed by what it interrupted.
 *
 * Context: signal-safe; guarded reads, bounded loops.
 */
#ifndef JTOP_AGENT_WALK_WALK_NATIVE_H
#define JTOP_AGENT_WALK_WALK_NATIVE_H

#include "core/agent/walk/unwind.h"
#include "core/agent/walk/walk.h"

enum native_stop {
    NATIVE_CODE,    /* the frame is in generated code */
    NATIVE_WRAPPER, /* the wrapper lies in it */
    NATIVE_LIMIT,   /* it lies behind the limit */
    NATIVE_END,     /* it was the thread's outermost */
    NATIVE_LOST,    /* its caller could not be found */
    NATIVE_FULL,    /* the stack has no room for more frames */
};

struct native_bounds {
    uintptr_t limit;   /* the stack, or the part of it that is native, ends here */
    uintptr_t wrapper; /* a JavaCallWrapper that may lie in one of the frames, or 0 */
};

/* Goes on from `f` and adds the callers it finds; `f` itself is not added. Returns where it
 * stopped, with `f` the frame there. `interrupted` is changed where a handler had interrupted. */
enum native_stop native_walk(const struct walker *w, const struct native_bounds *b,
                             struct native_frame *f, struct registers *interrupted,
                             struct stack *s);

#endif
