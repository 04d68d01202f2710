#include "core/agent/vm/vm_compiler.h"

#include "core/agent/process/guarded.h"
#include "core/agent/walk/walk.h"
#include "core/agent/walk/walk_frames.h"
#include "core/agent/walk/walk_seam.h"

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

/* Whether a return address into this code can be the return barrier, behind which a mounted virtual
 * thread's frozen frames come. It is no call's return address. */
static bool frozen_is_barrier(const struct walk *k, const struct code *c) {
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

/* At the return barrier: the frames that are still in the heap. They are walked where they are,
 * then the walk goes on behind the barrier. False: failed. */
static bool frozen_walk(struct walk *k, uintptr_t entry) {
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

/* Whether the walk met code that mounts or unmounts a virtual thread: the stack is in pieces. */
static bool frozen_is_switching(const struct walk *k) {
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

#define STACK_BYTES_MAX (64u << 20)
#define SEAMS_MAX 512 /* times a stack changes from native to Java frames */

bool walk_fail(struct walk *k, enum wire_failure why) {
    bool broken = why == WIRE_FAILURE_NO_CALLER || why == WIRE_FAILURE_BAD_FRAME ||
                  why == WIRE_FAILURE_UNKNOWN_PC || why == WIRE_FAILURE_LOOP ||
                  why == WIRE_FAILURE_UNMAPPED;
    if (broken && frozen_is_switching(k))
        why = WIRE_FAILURE_SWITCHING;
    if (why == WIRE_FAILURE_SWITCHING && k->s->java) {
        /* What looked like Java frames may be what another virtual thread has left. */
        k->s->n = k->before_java;
        k->s->java = 0;
    }
    k->s->failure = why;
    stack_add(k->s, wire_frame_address(WIRE_FRAME_ERROR, why));
    return false;
}

bool walk_add(struct walk *k, uint64_t frame) {
    if (k->s->n + 1 >= k->s->max)
        return walk_fail(k, WIRE_FAILURE_TRUNCATED);
    return stack_add(k->s, frame);
}

/* Walks Java frames from `at` on. True: at the VM code that called the last of them, with native
 * frames still wanted. */
static bool walk_java(struct walk *k, struct cursor at, struct seam *seam) {
    while (k->steps++ < STEPS_MAX) {
        uintptr_t sp = at.sp;
        if (k->last && walk_rest_is_known(k, &at))
            return false;
        if (java_step_cached(k, &at))
            continue;
        struct code c = code_find(k->vm, at.pc);
        if (c.kind == CODE_ENTRY) {
            if (!seam_at_entry(k, &at, seam))
                return false;
            if (k->w->walk == WIRE_WALK_VMX) {
                c.begin = at.pc; /* the call stub's own name, not that of the blob it is in */
                return walk_add(k, names_stub(k->w->names, &c, at.pc));
            }
            if (!seam->java.pc) {
                k->complete = true; /* the thread's first */
                return false;
            }
            at = seam->java;
        } else {
            bool barrier = !at.leaf && frozen_is_barrier(k, &c);
            if (barrier && k->last)
                last_stack_drop(k->last);
            if ((barrier && !frozen_walk(k, at.sp)) || !java_step(k, &c, &at))
                return false;
        }
        if (at.sp < sp || (at.sp == sp && c.kind != CODE_STUB && !k->r.lr))
            return walk_fail(k, WIRE_FAILURE_LOOP);
    }
    return walk_fail(k, WIRE_FAILURE_LOOP);
}

static void walk_thread(struct walk *k, struct cursor at) {
    struct cursor java = at;
    bool native = !code_contains(k->vm, at.pc) || seam_leave_stub(k, &at);
    if (k->s->failure)
        return;
    if (!native && !k->thread) {
        walk_fail(k, WIRE_FAILURE_UNKNOWN_PC);
        return;
    }
    struct seam seam = {.native = at};
    if (k->thread)
        seam_read_anchor(k, k->thread + (uintptr_t)k->vm->at.thread_anchor, &seam.java);
    for (uint32_t i = 0; i < SEAMS_MAX; i++) {
        if ((i || native) && !seam_cross(k, &seam, i == 0, &java))
            return;
        if (!walk_java(k, java, &seam))
            return;
    }
    walk_fail(k, WIRE_FAILURE_LOOP);
}

/* A carrier's current thread is another object than its own. */
static bool carries_another(const struct vm *vm, uintptr_t thread) {
    const struct vm_layout *l = &vm->at;
    if (l->thread_vthread < 0 || l->thread_object < 0)
        return false;
    uintptr_t own = guarded_load64(thread + (uintptr_t)l->thread_object);
    uintptr_t current = guarded_load64(thread + (uintptr_t)l->thread_vthread);
    return own && current && oop_in_handle(&vm->oops, own) != oop_in_handle(&vm->oops, current);
}

static void find_stack(struct walk *k) {
    const struct vm_layout *l = &k->vm->at;
    uintptr_t base = guarded_load64(k->thread + (uintptr_t)l->thread_stack_base);
    uintptr_t size = guarded_load64(k->thread + (uintptr_t)l->thread_stack_size);
    bool own = k->r.sp < base && k->r.sp >= base - size;
    if (own)
        k->limit = base;
    k->mounted = k->vm->continuation.known && carries_another(k->vm, k->thread);
    /* With VMX, native frames come between; frames of a virtual thread are moved. */
    if (own && !k->mounted && !k->w->sleeper && k->w->walk != WIRE_WALK_VMX)
        k->last = last_stack_enter(
            k->w->last, k->vm, k->thread,
            atomic_load_explicit(&k->w->names->methods.turns, memory_order_relaxed), k->r.sp, base);
}

/* A compiler thread's outermost frame: what it works for. */
static void add_compiled_method(struct walk *k) {
    struct method_view m;
    uintptr_t method = compiler_method(k->vm);
    if (!method || !method_look(k->vm, method, true, &m))
        return;
    uint32_t id = names_method(k->w->names, &m);
    if (id != ID_TABLE_FULL && id != NAMES_NO_ROOM)
        stack_add(k->s, wire_frame_java(WIRE_FRAME_COMPILING, id, WIRE_BCI_NONE));
}

void walk_vm(const struct walker *w, const struct registers *r, struct stack *s) {
    struct walk k = {.w = w,
                     .vm = w->vm,
                     .s = s,
                     .r = *r,
                     .thread = w->sleeper ? *w->sleeper : vm_current_java_thread(w->vm),
                     .low = r->sp,
                     .limit = r->sp + STACK_BYTES_MAX,
                     .last_from = LAST_NONE};
    if (k.thread)
        find_stack(&k);
    walk_thread(&k, (struct cursor){.pc = r->pc, .sp = r->sp, .fp = r->fp, .leaf = true});
    if (k.last && k.complete && !s->failure)
        last_stack_keep(k.last, s->frame, k.last_from == LAST_NONE ? s->n : k.last_frames,
                        k.last_from);
    else if (k.last)
        last_stack_give_up(k.last);
    last_stack_leave(k.last);
    if (w->walk != WIRE_WALK_NO && !s->java && !s->failure && !w->sleeper) {
        if (w->features & WIRE_FEATURE_COMPTASK)
            add_compiled_method(&k);
    } else if (w->walk == WIRE_WALK_NO && !s->java && !s->failure)
        walk_fail(&k, WIRE_FAILURE_NO_JAVA);
}
