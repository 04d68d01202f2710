#include "core/agent/walk/walk_frames.h"

#include <string.h>

#define CHUNKS_MAX 64
#define CHUNK_END_WORDS 16 /* arguments of its oldest frame, at most */

bool frozen_is_stub(const struct walk *k, uintptr_t blob) {
    static const char word[] =
        "ontinuation"; /* StubRoutines (continuation stubs), and later names */
    char name[48] = "";
    if (!blob || !k->vm->continuation.known)
        return false;
    guarded_copy(name, guarded_load64(blob + (uintptr_t)k->vm->at.blob_name), sizeof name - 1);
    return memmem(name, strnlen(name, sizeof name), word, sizeof word - 1) != NULL;
}

bool frozen_is_barrier(const struct walk *k, const struct code *c) {
    /* The thread may have made itself its carrier for a moment, while its own frames stand. */
    return c->kind == CODE_STUB && !c->frame_words && (k->mounted || frozen_is_stub(k, c->blob));
}

bool frozen_is_entered(const struct walk *k, const struct code *c, uintptr_t entry) {
    struct frozen_stack f;
    return frozen_is_barrier(k, c) && continuation_frozen(&k->vm->continuation, entry, &f);
}

/* One chunk: to the return barrier, or the end of its stack. */
static bool walk_chunk(struct walk *k, const struct frozen_stack *f) {
    struct cursor at = {.pc = walk_load_pc(f->sp - WORD), .sp = f->sp};
    at.fp = caller_load_fp(f->sp - 2 * WORD);
    k->frozen = true;
    k->low = f->begin;
    k->limit = f->end;
    while (at.sp < f->end && k->steps++ < STEPS_MAX) {
        struct code c = code_find(k->vm, at.pc);
        uintptr_t sp = at.sp;
        /* The return barrier; or behind the oldest frame, whose return address means nothing. */
        bool java = c.kind == CODE_COMPILED || c.kind == CODE_INTERPRETER;
        if ((c.kind == CODE_STUB && !c.frame_words) ||
            (!java && f->end - at.sp <= CHUNK_END_WORDS * WORD))
            return true;
        if (!java_step(k, &c, &at))
            return false;
        if (at.sp <= sp)
            return walk_fail(k, WIRE_FAILURE_LOOP);
    }
    return true;
}

bool frozen_walk(struct walk *k, uintptr_t entry) {
    struct frozen_stack f;
    uintptr_t low = k->low;
    uintptr_t limit = k->limit;
    bool ok = continuation_frozen(&k->vm->continuation, entry, &f);
    for (uint32_t chunks = 0; ok && chunks < CHUNKS_MAX; chunks++) {
        ok = walk_chunk(k, &f);
        if (ok && !continuation_next(&k->vm->continuation, &f))
            break;
    }
    k->frozen = false;
    k->low = low;
    k->limit = limit;
    return ok || !k->s->failure;
}

static bool is_class(const struct vm *vm, const struct method_view *m, const char *name,
                     uint32_t length) {
    char text[32];
    return length <= sizeof text && symbol_length(vm, m->class_symbol) == length &&
           guarded_copy(text, symbol_text(vm, m->class_symbol), length) == 0 &&
           memcmp(text, name, length) == 0;
}

bool frozen_is_switching(const struct walk *k) {
    static const char continuation[] = "jdk/internal/vm/Continuation";
    /* Native code without a note that no Java frame is found behind: who thaws frames. */
    if (k->mounted && !k->s->java)
        return true;
    for (uint32_t i = 0; k->vm->continuation.known && i < WALK_FIRST_METHODS; i++) {
        struct method_view m;
        if (k->first_method[i] && method_look(k->vm, k->first_method[i], true, &m) &&
            is_class(k->vm, &m, continuation, sizeof continuation - 1))
            return true;
    }
    return frozen_is_stub(k, k->stub);
}
