#include "core/agent/guarded.h"
#include "core/agent/walk.h"

/*
 * A HotSpot stack on x86_64 and aarch64, towards higher addresses (source: frame_x86.cpp,
 * frame_aarch64.cpp, JDK 8-28):
 *
 *   compiled frame                 interpreted frame              entry frame (call stub)
 *   sp  ─▶ spills, locals          …                              fp+entry_wrapper ─▶ JavaCallWrapper*
 *          …                       fp-3w  Method*                                     holds the anchor of
 *          saved fp                fp-1w  caller's sp             fp     saved fp     the last Java frame
 *          return address          fp     saved fp                fp+1w  return address  before it
 *   sp + frame_words               fp+1w  return address
 */
#define WORD sizeof(uintptr_t)
#define SCAN_WORDS 512 /* stack words searched for a return address */
#define STACK_BYTES_MAX (64u << 20)
#define STEPS_MAX 8192
#define CHUNKS_MAX 64
#define CHUNK_END_WORDS 16 /* arguments of its oldest frame, at most */
#define RELATIVE_WORDS_MAX (1u << 20)
#define THREAD_IN_JAVA 8 /* JavaThreadState (source: globalDefinitions.hpp) */

struct cursor {
    uintptr_t pc, sp, fp;
    bool leaf; /* pc was interrupted, it is no return address */
};

struct walk {
    const struct walker *w;
    const struct vm *vm;
    const struct registers *r;
    struct stack *s;
    uintptr_t low, limit; /* of the stack being walked: the thread's live part, or a chunk's */
    bool frozen;          /* it is a chunk's */
    bool mounted;         /* the thread carries a virtual one */
};

static bool fail(struct walk *k, enum wire_failure why) {
    k->s->failure = why;
    stack_add(k->s, wire_frame_address(WIRE_FRAME_ERROR, why));
    return false;
}

static bool in_stack(const struct walk *k, uintptr_t address) {
    return address >= k->low && address < k->limit && address % WORD == 0;
}

/* Adds a Java frame; false when there is no room for more. */
static bool add_java(struct walk *k, enum wire_frame_type type, const struct method_view *m,
                     int32_t bci) {
    uint32_t id = names_method(k->w->names, m);
    if (id == ID_TABLE_FULL || id == NAMES_NO_ROOM)
        return fail(k, id == ID_TABLE_FULL ? WIRE_FAILURE_METHODS_FULL : WIRE_FAILURE_NO_NAME);
    if (k->s->java == k->s->java_max || k->s->n + 1 >= k->s->max)
        return fail(k, WIRE_FAILURE_TRUNCATED);
    k->s->java++;
    return stack_add(k->s, wire_frame_java(type, id, bci < 0 ? WIRE_BCI_NONE : (uint32_t)bci));
}

/* Whether `pc` is the return barrier, behind which a mounted virtual thread's frozen frames come. It
 * is no call's return address, but its frame's end is a ContinuationEntry. */
static bool is_barrier(const struct walk *k, uintptr_t pc, uintptr_t entry) {
    struct frozen_stack f;
    if (!k->mounted || !code_contains(k->vm, pc))
        return false;
    struct code c = code_find(k->vm, pc);
    return c.kind == CODE_STUB && !c.frame_words &&
           continuation_frozen(&k->vm->continuation, entry, &f);
}

static bool in_interpreter(const struct walk *k, uintptr_t pc) {
    return pc >= k->vm->at.interpreter_begin && pc < k->vm->at.interpreter_end;
}

static bool has_interpreted_frame(const struct walk *k, uintptr_t fp, uintptr_t sp) {
    struct method_view m;
    return fp >= sp && in_stack(k, fp) &&
           method_look(k->vm, guarded_load64(fp - 3 * WORD), true, &m);
}

/* Whether a cursor that was guessed leads on: its own caller can be found where it should be. One
 * word that looks like a return address may be a leftover; two in the right distance are not. */
static bool leads_on(const struct walk *k, const struct cursor *c) {
    struct code code = code_find(k->vm, c->pc);
    switch (code.kind) {
    case CODE_INTERPRETER:
        return has_interpreted_frame(k, c->fp, c->sp);
    case CODE_ENTRY:
        return c->fp >= c->sp && in_stack(k, c->fp);
    case CODE_COMPILED:
    case CODE_NATIVE:
    case CODE_STUB: {
        struct cursor next = {.sp = c->sp + (uintptr_t)code.frame_words * WORD};
        if (!code.frame_words)
            return is_barrier(k, c->pc, c->sp);
        if (!in_stack(k, next.sp - WORD))
            return false;
        next.pc = guarded_load64(next.sp - WORD);
        if (in_interpreter(k, next.pc))
            return has_interpreted_frame(k, guarded_load64(next.sp - 2 * WORD), next.sp);
        return code_is_return_address(k->vm, next.pc) || is_barrier(k, next.pc, next.sp);
    }
    default:
        return false;
    }
}

/* The caller when its return address lies at `slot`. */
static bool caller_at(const struct walk *k, uintptr_t slot, uintptr_t fp, struct cursor *next) {
    if (!in_stack(k, slot))
        return false;
    struct cursor c = {.pc = guarded_load64(slot), .sp = slot + WORD, .fp = fp};
    if (!code_contains(k->vm, c.pc) || !leads_on(k, &c) ||
        !(code_is_return_address(k->vm, c.pc) || is_barrier(k, c.pc, c.sp)))
        return false;
    *next = c;
    return true;
}

/* Searches the live stack from `sp` on for the return address of a Java caller. */
static bool scan(const struct walk *k, uintptr_t sp, uintptr_t fp, struct cursor *next) {
    for (uint32_t i = 0; i < SCAN_WORDS && in_stack(k, sp); i++, sp += WORD) {
        if (!code_contains(k->vm, guarded_load64(sp)))
            continue;
        /* A frame that was entered leaves the caller's frame pointer right below. */
        uintptr_t saved = i ? guarded_load64(sp - WORD) : 0;
        if ((saved > sp && in_stack(k, saved) && caller_at(k, sp, saved, next)) ||
            caller_at(k, sp, fp, next))
            return true;
    }
    return false;
}

/* The caller of a leaf that has no frame of its own yet, or none any more. */
static bool caller_of_frameless(const struct walk *k, const struct cursor *c, struct cursor *next) {
    if (k->r->lr && code_is_return_address(k->vm, k->r->lr)) {
        *next = (struct cursor){.pc = k->r->lr, .sp = c->sp, .fp = c->fp};
        return true;
    }
    return caller_at(k, c->sp, c->fp, next);
}

enum frame_stage { STAGE_NONE, STAGE_PUSHED, STAGE_WHOLE };

/* How much of a compiled frame stands while its own code is interrupted at `pc`. */
#if defined(__x86_64__)
static bool is_sub_rsp(uint64_t bytes) {
    return (bytes & 0xffffff) == 0xec8148 || (bytes & 0xffffff) == 0xec8348;
}

static enum frame_stage leaf_stage(const struct code *c, uintptr_t pc) {
    if (c->frame_complete >= 0 && pc < c->begin + (uintptr_t)c->frame_complete) {
        /* Prologue: [stack bang] push rbp; sub rsp, N — or sub rsp, N; mov [rsp+…], rbp. */
        uintptr_t from =
            c->frame_complete > 96 ? c->begin + (uintptr_t)c->frame_complete - 96 : c->begin;
        bool pushed = false;
        for (uintptr_t p = from; p < pc; p++) {
            uint64_t bytes = guarded_load64(p);
            if (is_sub_rsp(bytes) && p + 4 <= pc)
                return STAGE_WHOLE;
            pushed = (bytes & 0xff) == 0x55 && p + 1 == pc;
        }
        return pushed ? STAGE_PUSHED : STAGE_NONE;
    }
    /* Epilogue: add rsp, N; pop rbp; [poll]; ret. */
    uint64_t here = guarded_load64(pc);
    uint8_t op = here & 0xff;
    if (op == 0xc3 || op == 0xc2)
        return STAGE_NONE;
    if (op == 0x5d)
        return STAGE_PUSHED;
    uint8_t before = guarded_load8(pc - 1);
    bool poll = (here & 0xffff) == 0x3b49 || (here & 0xffff) == 0x0585; /* cmp/test the poll */
    if (before == 0x5d && poll)
        return STAGE_NONE;
    if ((here & 0xffff) == 0x870f && (guarded_load64(pc - 7) & 0xffff) == 0x3b49 &&
        guarded_load8(pc - 8) == 0x5d)
        return STAGE_NONE;
    return STAGE_WHOLE;
}
#else
static enum frame_stage leaf_stage(const struct code *c, uintptr_t pc) {
    if (c->frame_complete >= 0 && pc < c->begin + (uintptr_t)c->frame_complete)
        return STAGE_NONE;
    return guarded_load32(pc) == 0xd65f03c0 ? STAGE_NONE : STAGE_WHOLE; /* ret */
}
#endif

/* The caller of an interrupted frame, by what its code has done to the stack so far. */
static bool caller_of_leaf(const struct walk *k, const struct code *c, const struct cursor *at,
                           struct cursor *next) {
    enum frame_stage stage =
        c->kind == CODE_STUB || !c->frame_words ? STAGE_WHOLE : leaf_stage(c, at->pc);
    if (stage == STAGE_NONE && caller_of_frameless(k, at, next))
        return true;
    if (stage == STAGE_PUSHED && caller_at(k, at->sp + WORD, guarded_load64(at->sp), next))
        return true;
    if (c->frame_words) {
        uintptr_t end = at->sp + (uintptr_t)c->frame_words * WORD;
        if (caller_at(k, end - WORD, guarded_load64(end - 2 * WORD), next))
            return true;
    }
    if (caller_of_frameless(k, at, next))
        return true;
    /* Stubs that have a frame have an ordinary one. */
    if (at->fp >= at->sp && in_stack(k, at->fp) &&
        caller_at(k, at->fp + WORD, guarded_load64(at->fp), next))
        return true;
    return scan(k, at->sp, at->fp, next);
}

/* A saved frame pointer. In a frozen stack the one of an interpreted frame counts words from where
 * it is saved, so that the stack can be moved. */
static uintptr_t load_fp(uintptr_t slot) {
    uintptr_t fp = guarded_load64(slot);
    return fp < RELATIVE_WORDS_MAX ? slot + fp * WORD : fp;
}

/* The caller of a frame that called. */
static bool caller_of_sized(const struct walk *k, const struct code *c, const struct cursor *at,
                            struct cursor *next) {
    uintptr_t end = at->sp + (uintptr_t)c->frame_words * WORD;
    if (k->frozen && end + CHUNK_END_WORDS * WORD >= k->limit) {
        /* Perhaps the oldest one, whose return address means nothing: walk_chunk decides. */
        *next = (struct cursor){
            .pc = guarded_load64(end - WORD), .sp = end, .fp = load_fp(end - 2 * WORD)};
        return true;
    }
    if (!c->frame_words || !in_stack(k, end - WORD))
        return false;
    *next =
        (struct cursor){.pc = guarded_load64(end - WORD), .sp = end, .fp = load_fp(end - 2 * WORD)};
    return code_contains(k->vm, next->pc);
}

static bool step_compiled(struct walk *k, struct code *c, struct cursor *at) {
    uintptr_t pc = at->leaf ? at->pc : code_original_pc(k->vm, c, at->pc, at->sp);
    struct code_scope scope[64];
    uint32_t n = code_scopes(k->vm, c, pc, !at->leaf, scope, 64);
    if (n == 0 && !at->leaf)
        n = code_scopes(k->vm, c, pc, false, scope, 64);
    if (n == 0) {
        scope[0] = (struct code_scope){code_method(k->vm, c), -1};
        n = 1;
    }
    enum wire_frame_type tier = c->kind == CODE_NATIVE           ? WIRE_FRAME_NATIVE_METHOD
                                : c->level >= 1 && c->level <= 3 ? WIRE_FRAME_C1
                                                                 : WIRE_FRAME_C2;
    for (uint32_t i = 0; i < n; i++) {
        struct method_view m;
        if (!method_look(k->vm, scope[i].method, false, &m))
            return fail(k, WIRE_FAILURE_BAD_FRAME);
        if (!add_java(k, i + 1 < n ? WIRE_FRAME_INLINED : tier, &m, scope[i].bci))
            return false;
    }
    struct cursor next;
    if (!(at->leaf ? caller_of_leaf(k, c, at, &next) : caller_of_sized(k, c, at, &next)))
        return fail(k, WIRE_FAILURE_NO_CALLER);
    *at = next;
    return true;
}

static bool step_interpreted(struct walk *k, struct cursor *at) {
    struct method_view m;
    struct cursor next = {.fp = at->fp};
    bool looks =
        in_stack(k, at->fp) && method_look(k->vm, guarded_load64(at->fp - 3 * WORD), at->leaf, &m);
    if (!looks) {
        /* The interpreter's entry code: its frame does not stand yet. */
        if (at->leaf && (caller_of_frameless(k, at, &next) || scan(k, at->sp, at->fp, &next))) {
            *at = next;
            return true;
        }
        return fail(k, WIRE_FAILURE_BAD_FRAME);
    }
    int32_t bci = at->leaf ? method_bci(k->vm, &m, k->r->bcp) : -1;
    if (bci < 0)
        bci = method_bci(
            k->vm, &m,
            guarded_load64(at->fp + (uintptr_t)((intptr_t)WORD * k->vm->at.interpreter_bcp)));
    if (!add_java(k, WIRE_FRAME_INTERPRETED, &m, bci))
        return false;
    next.pc = guarded_load64(at->fp + WORD);
    next.sp = guarded_load64(at->fp - WORD);
    if (next.sp < RELATIVE_WORDS_MAX)
        next.sp = at->fp + next.sp * WORD;
    next.fp = load_fp(at->fp);
    if (!in_stack(k, next.sp) || next.sp <= at->fp)
        next.sp = at->fp + 2 * WORD;
    *at = next;
    return true;
}

static bool step_stub(struct walk *k, const struct code *c, struct cursor *at) {
    if (at->leaf && !stack_add(k->s, names_stub(k->w->names, c)))
        return false;
    struct cursor next;
    if (at->leaf ? !caller_of_leaf(k, c, at, &next)
                 : !caller_of_sized(k, c, at, &next) && !scan(k, at->sp, at->fp, &next))
        return fail(k, WIRE_FAILURE_NO_CALLER);
    *at = next;
    return true;
}

/* Reads a JavaFrameAnchor; false when there is no Java frame in it. */
static bool read_anchor(const struct walk *k, uintptr_t anchor, struct cursor *out) {
    const struct vm_layout *at = &k->vm->at;
    out->sp = guarded_load64(anchor + (uintptr_t)at->anchor_sp);
    out->pc = guarded_load64(anchor + (uintptr_t)at->anchor_pc);
    out->fp = guarded_load64(anchor + (uintptr_t)at->anchor_fp);
    out->leaf = false;
    if (!out->sp || !in_stack(k, out->sp))
        return false;
    if (!out->pc) /* the VM leaves it out where it lies right below */
        out->pc = guarded_load64(out->sp - WORD);
    return true;
}

static bool step(struct walk *k, struct code *c, struct cursor *at) {
    switch (c->kind) {
    case CODE_COMPILED:
    case CODE_NATIVE:
        return step_compiled(k, c, at);
    case CODE_INTERPRETER:
        return step_interpreted(k, at);
    case CODE_STUB:
        return step_stub(k, c, at);
    default:
        return fail(k, at->leaf ? WIRE_FAILURE_UNKNOWN_PC : WIRE_FAILURE_NO_CALLER);
    }
}

/* One chunk: to the return barrier, or the end of its stack. */
static bool walk_chunk(struct walk *k, const struct frozen_stack *f) {
    struct cursor at = {.pc = guarded_load64(f->sp - WORD), .sp = f->sp};
    at.fp = load_fp(f->sp - 2 * WORD);
    k->frozen = true;
    k->low = f->begin;
    k->limit = f->end;
    for (uint32_t steps = 0; steps < STEPS_MAX && at.sp < f->end; steps++) {
        struct code c = code_find(k->vm, at.pc);
        uintptr_t sp = at.sp;
        /* The return barrier; or behind the oldest frame, whose return address means nothing here. */
        bool java = c.kind == CODE_COMPILED || c.kind == CODE_INTERPRETER;
        if ((c.kind == CODE_STUB && !c.frame_words) ||
            (!java && f->end - at.sp <= CHUNK_END_WORDS * WORD))
            return true;
        if (!step(k, &c, &at))
            return false;
        if (at.sp <= sp)
            return fail(k, WIRE_FAILURE_LOOP);
    }
    return true;
}

/* At the return barrier of a mounted virtual thread: the frames that are still in the heap. They
 * are walked where they are, then the walk goes on behind the barrier. */
static bool walk_frozen(struct walk *k, uintptr_t entry) {
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

/* From an entry frame to the Java frame the VM was called from; false at the thread's first. */
static bool leave_entry(struct walk *k, struct cursor *at) {
    uintptr_t slot = at->fp + (uintptr_t)((intptr_t)WORD * k->vm->at.entry_wrapper);
    uintptr_t wrapper = in_stack(k, at->fp) ? guarded_load64(slot) : 0;
    if (!in_stack(k, wrapper))
        return fail(k, WIRE_FAILURE_NO_CALLER);
    return read_anchor(k, wrapper + (uintptr_t)k->vm->at.wrapper_anchor, at);
}

/* Walks Java frames from `at` on, to the first one the VM called. */
static void walk_java(struct walk *k, struct cursor at) {
    for (uint32_t steps = 0; steps < STEPS_MAX; steps++) {
        uintptr_t sp = at.sp;
        struct code c = code_find(k->vm, at.pc);
        if (c.kind == CODE_ENTRY) {
            if (!leave_entry(k, &at))
                return;
        } else {
            bool barrier = k->mounted && c.kind == CODE_STUB && !at.leaf && !c.frame_words;
            if ((barrier && !walk_frozen(k, at.sp)) || !step(k, &c, &at))
                return;
        }
        if (at.sp < sp || (at.sp == sp && c.kind != CODE_STUB && !k->r->lr)) {
            fail(k, WIRE_FAILURE_LOOP);
            return;
        }
    }
    fail(k, WIRE_FAILURE_LOOP);
}

/* Generated code that the VM itself called, a stub: adds it and steps to its native caller. */
static bool leave_stub_of_vm(struct walk *k, struct cursor *at) {
    struct code c = code_find(k->vm, at->pc);
    uintptr_t above = guarded_load64(at->sp);
    uintptr_t framed = at->fp >= at->sp && in_stack(k, at->fp) ? guarded_load64(at->fp + WORD) : 0;
    struct cursor next = {.sp = at->sp + WORD, .fp = at->fp, .pc = above};
    if (c.kind != CODE_STUB)
        return false;
    if (!libraries_contain(k->w->libraries, above)) {
        next = (struct cursor){.pc = framed, .sp = at->fp + 2 * WORD};
        next.fp = framed ? guarded_load64(at->fp) : 0;
        if (!libraries_contain(k->w->libraries, framed))
            return false;
    }
    *at = next;
    return stack_add(k->s, names_stub(k->w->names, &c));
}

/* Native frames first, then the Java frames below them. */
static void walk_from_native(struct walk *k, uintptr_t thread, struct cursor at) {
    struct cursor anchor = {0};
    bool anchored = thread && read_anchor(k, thread + (uintptr_t)k->vm->at.thread_anchor, &anchor);
    struct cursor leaf = at;
    uintptr_t java_pc =
        walk_native(k->w, at.pc, &at.sp, &at.fp, anchored ? anchor.sp : k->limit, k->s);
    if (!thread)
        return;
    if (anchored) {
        walk_java(k, anchor);
        return;
    }
    /* A C function that Java calls without leaving Java: barriers, math, copies. */
    if (guarded_load32(thread + (uintptr_t)k->vm->at.thread_state) != THREAD_IN_JAVA)
        return;
    struct cursor caller;
    at.leaf = false;
    at.pc = java_pc;
    /* Where C code has no frame pointers, their chain leaves out the nearest Java frames: the first
     * return address on the stack that leads on is the better one. */
    if (scan(k, leaf.sp, leaf.fp, &caller) && (!java_pc || caller.sp <= at.sp || !leads_on(k, &at)))
        walk_java(k, caller);
    else if (java_pc)
        walk_java(k, at);
    else
        fail(k, WIRE_FAILURE_NO_CALLER);
}

/* A carrier's current thread is another object than its own. */
static bool carries_another(const struct vm_layout *l, uintptr_t thread) {
    if (l->thread_vthread < 0 || l->thread_object < 0)
        return false;
    uintptr_t own = guarded_load64(thread + (uintptr_t)l->thread_object);
    uintptr_t current = guarded_load64(thread + (uintptr_t)l->thread_vthread);
    return own && current && guarded_load64(own) != guarded_load64(current);
}

void walk_vm(const struct walker *w, const struct registers *r, struct stack *s) {
    struct walk k = {w, w->vm, r, s, r->sp, r->sp + STACK_BYTES_MAX, false, false};
    struct cursor at = {r->pc, r->sp, r->fp, true};
    uintptr_t thread = vm_current_java_thread(w->vm);
    if (thread) {
        const struct vm_layout *l = &w->vm->at;
        uintptr_t base = guarded_load64(thread + (uintptr_t)l->thread_stack_base);
        uintptr_t size = guarded_load64(thread + (uintptr_t)l->thread_stack_size);
        if (r->sp < base && r->sp >= base - size)
            k.limit = base;
        k.mounted = w->vm->continuation.known && carries_another(l, thread);
    }
    if (!code_contains(w->vm, r->pc) || leave_stub_of_vm(&k, &at))
        walk_from_native(&k, thread, at);
    else if (thread)
        walk_java(&k, at);
    else
        fail(&k, WIRE_FAILURE_UNKNOWN_PC);
}
