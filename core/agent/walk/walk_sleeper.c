#include "core/agent/process/guarded.h"
#include "core/agent/walk/walk.h"

#define WORD sizeof(uintptr_t)
#define LINK_WORDS_MAX 512                  /* of stack that are searched */
#define NATIVE_FRAME_BYTES_MAX (256u << 10) /* as in walk_native.c */

static bool is_code(const struct walker *w, uintptr_t word) {
    uintptr_t pc = registers_code_address(word);
    return libraries_contain(w->libraries, pc) || code_contains(w->vm, pc);
}

/* A frame pointer is a multiple of 16, and leads upwards to another one. */
static bool is_link(const struct walker *w, uintptr_t at) {
    uintptr_t next = guarded_load64(at);
    return next > at && next - at <= NATIVE_FRAME_BYTES_MAX && next % 16 == 0 &&
           is_code(w, guarded_load64(at + WORD)) && is_code(w, guarded_load64(next + WORD));
}

uintptr_t walk_find_link(const struct walker *w, uintptr_t sp, uintptr_t limit) {
    uintptr_t at = (sp + 15) & ~(uintptr_t)15;
    for (uint32_t i = 0; i < LINK_WORDS_MAX / 2 && at < limit; i++, at += 16)
        if (is_link(w, at))
            return at;
    return 0;
}
