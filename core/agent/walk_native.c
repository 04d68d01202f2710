#include "core/agent/guarded.h"
#include "core/agent/walk.h"

#define NATIVE_FRAMES_MAX 128
#define NATIVE_FRAME_BYTES_MAX (256u << 10)

uintptr_t walk_native(const struct walker *w, uintptr_t pc, uintptr_t *sp, uintptr_t *fp,
                      uintptr_t limit, struct stack *s) {
    for (uint32_t i = 0; i < NATIVE_FRAMES_MAX; i++) {
        if (!stack_add(s, wire_frame_address(WIRE_FRAME_NATIVE, pc)))
            return 0;
        /* A frame pointer: saved frame pointer, then return address, up the stack. */
        uintptr_t frame = *fp;
        if (frame % sizeof(uintptr_t) || frame < *sp || frame >= limit ||
            frame - *sp > NATIVE_FRAME_BYTES_MAX)
            return 0;
        uintptr_t caller = guarded_load64(frame + sizeof(uintptr_t));
        *fp = guarded_load64(frame);
        *sp = frame + 2 * sizeof(uintptr_t);
        if (code_contains(w->vm, caller))
            return caller;
        if (!libraries_contain(w->libraries, caller))
            return 0;
        pc = caller;
    }
    return 0;
}
