#include "core/agent/walk/walk_seam.h"

#include "core/agent/walk/walk_native.h"

#define WRAPPER_WORDS 512 /* stack words searched for a JavaCallWrapper */
#define WRAPPER_ANCHOR_WORDS 4
#define THREAD_IN_JAVA 8 /* JavaThreadState (source: globalDefinitions.hpp) */

static bool add_native(struct walk *k, uintptr_t pc) {
    return k->w->walk == WIRE_WALK_NO || walk_add(k, wire_frame_address(WIRE_FRAME_NATIVE, pc));
}

bool seam_read_anchor(const struct walk *k, uintptr_t anchor, struct cursor *out) {
    const struct vm_layout *at = &k->vm->at;
    out->sp = guarded_load64(anchor + (uintptr_t)at->anchor_sp);
    out->pc = registers_code_address(guarded_load64(anchor + (uintptr_t)at->anchor_pc));
    out->fp = guarded_load64(anchor + (uintptr_t)at->anchor_fp);
    out->leaf = false;
    if (out->sp && walk_in_stack(k, out->sp)) {
        if (!out->pc) /* the VM leaves it out where it lies right below */
            out->pc = walk_load_pc(out->sp - WORD);
        return true;
    }
    *out = (struct cursor){0};
    return false;
}

/* For the last stack: all that is read at an entry frame. */
static void note_entry(const struct walk *k, const struct cursor *at, uintptr_t wrapper_slot,
                       uintptr_t anchor, const struct cursor *java) {
    const struct vm_layout *l = &k->vm->at;
    const uintptr_t slot[] = {wrapper_slot, anchor + (uintptr_t)l->anchor_sp,
                              anchor + (uintptr_t)l->anchor_pc, anchor + (uintptr_t)l->anchor_fp,
                              java->sp - WORD};
    /* The last one is read only if the anchor has no pc; it does no harm otherwise. */
    uint32_t slots = java->pc ? 5 : 4;
    last_stack_note_fp(k->last, at->fp, at->fp_slot);
    for (uint32_t i = 0; i < slots; i++)
        last_stack_note(k->last, slot[i], guarded_load64(slot[i]));
}

bool seam_at_entry(struct walk *k, const struct cursor *at, struct seam *seam) {
    uintptr_t slot = at->fp + (uintptr_t)((intptr_t)WORD * k->vm->at.entry_wrapper);
    uintptr_t wrapper = walk_in_stack(k, at->fp) ? guarded_load64(slot) : 0;
    if (!walk_in_stack(k, wrapper))
        return walk_fail(k, WIRE_FAILURE_NO_CALLER);
    *seam = (struct seam){.native = {.pc = walk_load_pc(at->fp + WORD),
                                     .sp = at->fp + 2 * WORD,
                                     .fp = guarded_load64(at->fp)}};
    uintptr_t anchor = wrapper + (uintptr_t)k->vm->at.wrapper_anchor;
    seam_read_anchor(k, anchor, &seam->java);
    if (k->last)
        note_entry(k, at, slot, anchor, &seam->java);
    return true;
}

/* The VM about to enter Java code, or just back from it, has its note of the last Java frame in a
 * JavaCallWrapper on the stack (source: javaCalls.hpp: the thread, handles, the method called, a
 * receiver, the anchor). */
static uintptr_t find_wrapper(const struct walk *k, uintptr_t sp) {
    const struct vm_layout *at = &k->vm->at;
    if (at->wrapper_anchor != WRAPPER_ANCHOR_WORDS * WORD)
        return 0;
    for (uint32_t i = 0; i < WRAPPER_WORDS && walk_in_stack(k, sp); i++, sp += WORD) {
        struct method_view m;
        if (guarded_load64(sp) != k->thread)
            continue;
        uintptr_t anchor = sp + (uintptr_t)at->wrapper_anchor;
        uintptr_t last = guarded_load64(anchor + (uintptr_t)at->anchor_sp);
        if ((last ? walk_in_stack(k, last) && last > sp
                  : !guarded_load64(anchor + (uintptr_t)at->anchor_pc)) &&
            method_look(k->vm, guarded_load64(sp + 2 * WORD), true, &m))
            return sp;
    }
    return 0;
}

bool seam_leave_stub(struct walk *k, struct cursor *at) {
    struct code c = code_find(k->vm, at->pc);
    if (c.kind != CODE_STUB && c.kind != CODE_ENTRY)
        return false;
    struct cursor next = {.sp = at->sp + WORD, .fp = at->fp, .pc = walk_load_pc(at->sp)};
#if defined(__aarch64__)
    next.sp = at->sp;
    next.pc = registers_code_address(k->r.lr);
#endif
    if (!libraries_contain(k->w->libraries, next.pc)) {
        /* If Java code jumped to the stub, it has no frame: fp belongs to another one. */
        if (code_contains(k->vm, next.pc) || at->fp < at->sp || !walk_in_stack(k, at->fp))
            return false;
        next = (struct cursor){.pc = walk_load_pc(at->fp + WORD),
                               .sp = at->fp + 2 * WORD,
                               .fp = guarded_load64(at->fp)};
        if (!libraries_contain(k->w->libraries, next.pc))
            return false;
    }
    uintptr_t pc = at->pc;
    if (c.kind == CODE_ENTRY)
        c.begin = pc; /* names_stub gives it a name of its own */
    *at = next;
    return k->w->walk == WIRE_WALK_NO || walk_add(k, names_stub(k->w->names, &c, pc));
}

static bool has_tables(const struct walker *w) {
    return w->unwind && atomic_load_explicit(&w->unwind->generation, memory_order_acquire);
}

/* The end of native frames that no Java frame is behind. Always false: the walk is over. */
static bool end_native(struct walk *k, enum native_stop stop) {
    bool want_all = k->w->walk == WIRE_WALK_VMX && has_tables(k->w);
    if (want_all && (stop == NATIVE_LOST || stop == NATIVE_CODE))
        return walk_fail(k, WIRE_FAILURE_NO_CALLER);
    return false;
}

/* Native frames from `f` on, which has been added, to the Java frame that the VM noted. */
static bool cross_noted(struct walk *k, const struct seam *seam, struct native_frame f,
                        struct cursor *java) {
    struct native_bounds bounds = {.limit = seam->java.pc ? seam->java.sp : k->limit};
    enum native_stop stop = native_walk(k->w, &bounds, &f, &k->r, k->s, NULL);
    if (stop == NATIVE_FULL)
        return walk_fail(k, WIRE_FAILURE_TRUNCATED);
    if (!seam->java.pc)
        return end_native(k, stop);
    *java = seam->java;
    return true;
}

/* Where C code has no frame pointers, their chain leaves out the nearest Java frames: the first
 * return address on the stack that leads on is the better one. */
static bool find_caller(struct walk *k, const struct cursor *leaf, uintptr_t limit,
                        struct cursor *java) {
    struct cursor found;
    bool chained = java->pc != 0;
    if (chained && caller_above(k, java, java))
        return true;
    if (k->w->walk == WIRE_WALK_FP || !caller_scan(k, leaf, limit, &found) ||
        (chained && found.sp > java->sp && caller_leads_on(k, java)))
        return chained;
    *java = found;
    return true;
}

static bool is_in_java(const struct walk *k) {
    return guarded_load32(k->thread + (uintptr_t)k->vm->at.thread_state) == THREAD_IN_JAVA;
}

/* Whether this Java frame can be walked on from. Where frames are being thawed, what lies behind is
 * not theirs yet. */
static bool is_whole(struct walk *k, const struct cursor *java) {
    return java->leaf || !frozen_is_stub(k, code_find(k->vm, java->pc).blob) ||
           walk_fail(k, WIRE_FAILURE_SWITCHING);
}

/* From `leaf` on by frame pointers, if tables do not lead to the end: they may lead past the nearest
 * Java frames. The stack and the VM's notes on it are searched for these. */
static bool search_unnoted(struct walk *k, struct seam *seam, struct native_frame leaf,
                           struct cursor *java) {
    const struct vm_layout *at = &k->vm->at;
    struct native_frame f = leaf;
    uint32_t frames = k->s->n;
    uintptr_t wrapper = find_wrapper(k, f.sp);
    struct native_bounds bounds = {.limit = k->limit, .wrapper = wrapper};
    enum native_stop stop = native_walk(k->w, &bounds, &f, &k->r, k->s, NULL);
    if (wrapper)
        seam_read_anchor(k, wrapper + (uintptr_t)at->wrapper_anchor, &seam->java);
    if (stop == NATIVE_FULL)
        return walk_fail(k, WIRE_FAILURE_TRUNCATED);
    if (stop == NATIVE_WRAPPER)
        return cross_noted(k, seam, f, java);
    *java = (struct cursor){.pc = stop == NATIVE_CODE ? f.pc : 0, f.sp, f.fp, f.interrupted};
    if (java->pc && java->leaf)
        return true;
    if (!is_in_java(k) && !wrapper)
        return end_native(k, stop);
    if (find_caller(k, &seam->native, wrapper ? wrapper : k->limit, java)) {
        if (java->sp < f.sp) { /* what was added beyond it was none */
            k->s->n = frames;
            bounds.limit = java->sp;
            native_walk(k->w, &bounds, &leaf, &k->r, k->s, NULL);
        }
        return is_whole(k, java);
    }
    *java = seam->java;
    return java->pc || (wrapper ? end_native(k, stop) : walk_fail(k, WIRE_FAILURE_NO_CALLER));
}

/* A C function that Java calls without leaving Java, or the VM on its way into Java or back. */
static bool cross_unnoted(struct walk *k, struct seam *seam, struct native_frame f,
                          struct cursor *java) {
    struct native_frame leaf = f;
    struct registers r = k->r;
    uint32_t frames = k->s->n;
    struct native_bounds bounds = {.limit = k->limit};
    if (!has_tables(k->w) || k->w->walk == WIRE_WALK_FP)
        return search_unnoted(k, seam, leaf, java);
    bool exact;
    enum native_stop stop = native_walk(k->w, &bounds, &f, &k->r, k->s, &exact);
    if (stop == NATIVE_FULL)
        return walk_fail(k, WIRE_FAILURE_TRUNCATED);
    /* Nothing needs to be searched for; and what earlier calls have left on the stack, return
     * addresses and wrappers, would be found there. But compiled code may have lowered its stack
     * pointer for the call: in slow paths of ZGC's barriers, for example. */
    *java = (struct cursor){.pc = f.pc, .sp = f.sp, .fp = f.fp, .leaf = f.interrupted};
    if (exact && stop == NATIVE_CODE && (java->leaf || caller_leads_on(k, java)))
        return is_whole(k, java);
    if (exact && stop == NATIVE_END && !is_in_java(k))
        return end_native(k, stop);
    k->s->n = frames;
    k->r = r;
    return search_unnoted(k, seam, leaf, java);
}

bool seam_cross(struct walk *k, struct seam *seam, bool innermost, struct cursor *java) {
    const struct cursor *at = &seam->native;
    struct native_frame f = {at->pc, at->sp, at->fp, at->leaf ? k->r.lr : 0, at->leaf};
    if (!add_native(k, at->pc))
        return false;
    return innermost && k->thread && !seam->java.pc ? cross_unnoted(k, seam, f, java)
                                                    : cross_noted(k, seam, f, java);
}
