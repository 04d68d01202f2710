#include "core/agent/walk/walk_native.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/registers.h"

#define WORD sizeof(uintptr_t)
#define NATIVE_FRAMES_MAX 1024
#define NATIVE_FRAME_BYTES_MAX (256u << 10)

/* Whether this is the frame of the call stub that was given the wrapper. */
static bool is_entry(const struct vm *vm, uintptr_t frame, uintptr_t wrapper) {
    uintptr_t slot = frame + (uintptr_t)((intptr_t)WORD * vm->at.entry_wrapper);
    return wrapper && guarded_load64(slot) == wrapper;
}

/* A frame pointer points to the saved one, which the return address lies above. Generated code may
 * leave it as it found it: the chain then leads from a C function that Java called to the call
 * stub's caller, past all of Java. */
static enum unwind_result step_by_fp(const struct vm *vm, const struct native_bounds *b,
                                     struct native_frame *f) {
    uintptr_t frame = f->fp;
    if (!frame && !f->interrupted)
        return UNWIND_END;
    if (frame % WORD || frame < f->sp || frame >= b->limit ||
        frame - f->sp > NATIVE_FRAME_BYTES_MAX || is_entry(vm, frame, b->wrapper))
        return UNWIND_BAD;
    *f = (struct native_frame){.pc = registers_code_address(guarded_load64(frame + WORD)),
                               .sp = frame + 2 * WORD,
                               .fp = guarded_load64(frame)};
    return UNWIND_CALLER;
}

/* From a signal handler's trampoline to what it interrupted. */
static enum unwind_result step_over_signal(uintptr_t limit, struct native_frame *f,
                                           struct registers *interrupted) {
    struct registers r = registers_saved(f->sp + REGISTERS_UCONTEXT_OFFSET);
    if (!r.pc || r.sp <= f->sp || r.sp >= limit || r.sp % WORD)
        return UNWIND_BAD;
    *interrupted = r;
    *f = (struct native_frame){r.pc, r.sp, r.fp, r.lr, true};
    return UNWIND_CALLER;
}

static enum unwind_result step(const struct walker *w, const struct native_bounds *b,
                               struct native_frame *f, struct registers *interrupted, bool *exact) {
    enum unwind_result r = unwind_step(w->unwind, b->limit, f);
    if (r == UNWIND_SIGNAL ||
        (r == UNWIND_NO_ROW && !f->interrupted && registers_is_trampoline(f->pc)))
        return step_over_signal(b->limit, f, interrupted);
    if (r != UNWIND_NO_ROW)
        return r;
    *exact = false;
    return step_by_fp(w->vm, b, f);
}

enum native_stop native_walk(const struct walker *w, const struct native_bounds *b,
                             struct native_frame *f, struct registers *interrupted, struct stack *s,
                             bool *exact) {
    bool unused = true;
    exact = exact ? exact : &unused;
    *exact = true;
    for (uint32_t i = 0; i < NATIVE_FRAMES_MAX; i++) {
        struct native_frame caller = *f;
        enum unwind_result r = step(w, b, &caller, interrupted, exact);
        if (r != UNWIND_CALLER)
            return r == UNWIND_END ? NATIVE_END : NATIVE_LOST;
        if (f->sp <= b->wrapper && caller.sp > b->wrapper)
            return NATIVE_WRAPPER;
        bool stands = caller.sp == f->sp && i > 0;
        *f = caller;
        if (code_contains(w->vm, f->pc))
            return NATIVE_CODE;
        if (!libraries_contain(w->libraries, f->pc) || stands)
            return NATIVE_LOST;
        if (f->sp >= b->limit)
            return NATIVE_LIMIT;
        if (w->walk != WIRE_WALK_NO &&
            (s->n + 1 >= s->max || !stack_add(s, wire_frame_address(WIRE_FRAME_NATIVE, f->pc))))
            return NATIVE_FULL;
    }
    return NATIVE_LOST;
}

uintptr_t walk_native(const struct walker *w, uintptr_t pc, uintptr_t *sp, uintptr_t *fp,
                      uintptr_t limit, struct stack *s) {
    struct native_bounds bounds = {.limit = limit};
    struct native_frame f = {.pc = pc, .sp = *sp, .fp = *fp, .interrupted = true};
    struct registers interrupted;
    if (!stack_add(s, wire_frame_address(WIRE_FRAME_NATIVE, pc)))
        return 0;
    enum native_stop stop = native_walk(w, &bounds, &f, &interrupted, s, NULL);
    *sp = f.sp;
    *fp = f.fp;
    return stop == NATIVE_CODE ? f.pc : 0;
}
