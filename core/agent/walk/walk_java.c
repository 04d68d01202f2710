#include "core/agent/vm/vm_klass.h"
#include "core/agent/walk/stub_names.h"
#include "core/agent/walk/walk_frames.h"

#include <string.h>

#define SCOPES_MAX 64
#define RELATIVE_WORDS_MAX (1u << 20)

/* Adds a Java frame; false when there is no room for more. */
static bool add_java(struct walk *k, enum wire_frame_type type, const struct method_view *m,
                     int32_t bci) {
    uint32_t id = names_method(k->w->names, m);
    if (id == ID_TABLE_FULL || id == NAMES_NO_ROOM)
        return walk_fail(k, id == ID_TABLE_FULL ? WIRE_FAILURE_METHODS_FULL : WIRE_FAILURE_NO_NAME);
    if (k->s->java == k->s->java_max || k->s->n + 1 >= k->s->max)
        return walk_fail(k, WIRE_FAILURE_TRUNCATED);
    if (k->s->java == 0)
        k->before_java = k->s->n;
    if (k->s->java < WALK_FIRST_METHODS)
        k->first_method[k->s->java] = m->method;
    k->s->java++;
    return stack_add(k->s, wire_frame_java(type, id, bci < 0 ? WIRE_BCI_NONE : (uint32_t)bci));
}

static enum wire_frame_type tier_of(const struct code *c) {
    if (c->kind == CODE_NATIVE)
        return WIRE_FRAME_NATIVE_METHOD;
    return c->level >= 1 && c->level <= 3 ? WIRE_FRAME_C1 : WIRE_FRAME_C2;
}

/* The methods at the cursor, innermost first; at least one. */
static uint32_t find_scopes(struct walk *k, const struct code *c, const struct cursor *at,
                            struct code_scope *scope) {
    struct precise *precise = k->w->precise;
    bool of_pc;
    uintptr_t pc = at->leaf ? at->pc : code_original_pc(k->vm, c, at->pc, at->sp);
    uint32_t n = code_scopes(k->vm, c, pc, &of_pc, scope, SCOPES_MAX);
    if (!k->s->java && !of_pc && c->kind == CODE_COMPILED && precise && precise->on)
        precise_note(precise, k->vm, c);
    if (n == 0)
        scope[n++] = (struct code_scope){code_method(k->vm, c), -1};
    return n;
}

static uint32_t ids_turn(const struct walk *k) {
    return atomic_load_explicit(&k->w->names->methods.turns, memory_order_relaxed);
}

/* Keeps what java_step has added for a return address: frames from `first` on. */
static void keep(const struct walk *k, struct cached_place *place, uint32_t first) {
    place->frames = k->s->n - first;
    if (place->frames > CACHED_FRAMES_MAX)
        return;
    memcpy(place->frame, &k->s->frame[first], place->frames * sizeof place->frame[0]);
    frame_cache_keep(k->w->cache, k->vm, place);
}

bool walk_rest_is_known(struct walk *k, const struct cursor *at) {
    struct last_stack *l = k->last;
    struct stack *s = k->s;
    if (at->leaf) {
        last_stack_drop(l);
        return false;
    }
    uint32_t from = last_stack_find(l, at->pc, at->sp, at->fp);
    if (from != LAST_NONE) {
        uint32_t word = l->place[from].frame, frames = WIRE_FRAMES_MAX - word;
        if (s->java + frames <= s->java_max && s->n + frames < s->max) {
            k->last_from = from;
            k->last_frames = s->n;
            memcpy(&s->frame[s->n], &l->frame[word], frames * sizeof s->frame[0]);
            s->n += frames;
            s->java += frames;
            return k->complete = true;
        }
    }
    last_stack_arrive(l, at->pc, at->sp, s->n);
    return false;
}

/* For the last stack: that a compiled frame was left by the return address at `slot`. */
static void note_compiled(const struct walk *k, const struct cached_place *p, uintptr_t slot,
                          uintptr_t pc) {
    if (!k->last)
        return;
    uint64_t word = guarded_load64(slot); /* a code address may be signed (aarch64) */
    if (registers_code_address(word) != pc) {
        last_stack_drop(k->last); /* the VM has just changed it, to deoptimize the caller */
        return;
    }
    last_stack_note_code(k->last, slot, word, p->blob, p->compile_id);
}

bool java_step_cached(struct walk *k, struct cursor *at) {
    struct cached_place p;
    struct stack *s = k->s;
    if (at->leaf || s->java < WALK_FIRST_METHODS ||
        !frame_cache_find(k->w->cache, k->vm, at->pc, ids_turn(k), &p) ||
        s->java + p.frames > s->java_max || s->n + p.frames >= s->max)
        return false;
    uintptr_t end = at->sp + (uintptr_t)p.frame_words * WORD;
    if (!walk_in_stack(k, end - WORD))
        return false;
    uintptr_t pc = walk_load_pc(end - WORD);
    if (!code_contains(k->vm, pc))
        return false;
    memcpy(&s->frame[s->n], p.frame, p.frames * sizeof p.frame[0]);
    s->n += p.frames;
    s->java += p.frames;
    note_compiled(k, &p, end - WORD, pc);
    *at = (struct cursor){
        .pc = pc, .sp = end, .fp = caller_load_fp(end - 2 * WORD), .fp_slot = end - 2 * WORD};
    return true;
}

static bool step_compiled(struct walk *k, struct code *c, struct cursor *at) {
    struct code_scope scope[SCOPES_MAX];
    struct cached_place place;
    uint32_t first = k->s->n;
    /* A deoptimized frame has another return address for a while. */
    bool keeps = !at->leaf && c->frame_words &&
                 code_original_pc(k->vm, c, at->pc, at->sp) == at->pc &&
                 frame_cache_begin(k->vm, c, at->pc, ids_turn(k), &place);
    uint32_t n = find_scopes(k, c, at, scope);
    for (uint32_t i = 0; i < n; i++) {
        struct method_view m;
        if (!method_look(k->vm, scope[i].method, false, &m))
            return walk_fail(k, WIRE_FAILURE_BAD_FRAME);
        if (!add_java(k, i + 1 < n ? WIRE_FRAME_INLINED : tier_of(c), &m, scope[i].bci))
            return false;
    }
    struct cursor next;
    if (!(at->leaf ? caller_of_leaf(k, c, at, &next) : caller_of_sized(k, c, at, &next)))
        return walk_fail(k, WIRE_FAILURE_NO_CALLER);
    if (keeps) {
        note_compiled(k, &place, next.sp - WORD, next.pc);
        if (c->kind == CODE_COMPILED)
            keep(k, &place, first);
    } else if (k->last) {
        last_stack_drop(k->last);
    }
    *at = next;
    return true;
}

/* The bytecode pointer is in its register while the frame's own code runs, else in the frame. On
 * aarch64 its place moved by a word within a release's life: it must be in the method's code. */
static int32_t interpreted_bci(const struct walk *k, const struct method_view *m,
                               const struct cursor *at) {
    uintptr_t slot = at->fp + (uintptr_t)((intptr_t)WORD * k->vm->at.interpreter_bcp);
    int32_t bci = at->leaf ? method_bci(k->vm, m, k->r.bcp) : -1;
    if (bci < 0)
        bci = method_bci(k->vm, m, guarded_load64(slot));
#if defined(__aarch64__)
    if (bci < 0)
        bci = method_bci(k->vm, m, guarded_load64(slot + WORD));
#endif
    return bci;
}

/* For the last stack: all that is read of an interpreted frame that has made a call. */
static void note_interpreted(const struct walk *k, const struct method_view *m,
                             const struct cursor *at) {
    struct last_stack *l = k->last;
    uintptr_t bcp = at->fp + (uintptr_t)((intptr_t)WORD * k->vm->at.interpreter_bcp);
    const uintptr_t slot[] = {at->fp - 3 * WORD, at->fp - WORD, at->fp + WORD, bcp, bcp + WORD};
    uint32_t slots = 4;
#if defined(__aarch64__)
    slots = 5;
#endif
    if (!l || at->leaf)
        return;
    last_stack_note_fp(l, at->fp, at->fp_slot);
    last_stack_note_method(l, m);
    for (uint32_t i = 0; i < slots; i++)
        last_stack_note(l, slot[i], guarded_load64(slot[i]));
}

static bool step_interpreted(struct walk *k, struct cursor *at) {
    struct method_view m;
    struct cursor next = {.fp = at->fp};
    bool looks = walk_in_stack(k, at->fp) &&
                 method_look(k->vm, guarded_load64(at->fp - 3 * WORD), at->leaf, &m);
    if (!looks) {
        /* The interpreter's entry code: its frame does not stand yet. */
        if (at->leaf &&
            (caller_of_frameless(k, at, &next) || caller_scan(k, at, k->limit, &next))) {
            *at = next;
            return true;
        }
        return walk_fail(k, WIRE_FAILURE_BAD_FRAME);
    }
    if (!add_java(k, WIRE_FRAME_INTERPRETED, &m, interpreted_bci(k, &m, at)))
        return false;
    note_interpreted(k, &m, at);
    next.pc = walk_load_pc(at->fp + WORD);
    next.sp = guarded_load64(at->fp - WORD);
    if (next.sp < RELATIVE_WORDS_MAX)
        next.sp = at->fp + next.sp * WORD;
    next.fp = caller_load_fp(at->fp);
    next.fp_slot = at->fp;
    if (!walk_in_stack(k, next.sp) || next.sp <= at->fp)
        next.sp = at->fp + 2 * WORD;
    *at = next;
    return true;
}

/* The class whose method a virtual or interface call goes to, where its stub is being run. */
static bool add_receiver(struct walk *k, uintptr_t pc) {
    struct stub_name routine;
    if (!(k->w->features & WIRE_FEATURE_VTABLE) || !stub_names_find(pc, &routine) ||
        (strcmp(routine.name, "vtable stub") != 0 && strcmp(routine.name, "itable stub") != 0))
        return true;
    uintptr_t klass = klass_of(k->vm, k->r.receiver);
    uint64_t frame = klass ? names_class(k->w->names, klass) : 0;
    return wire_frame_type(frame) != WIRE_FRAME_CLASS || walk_add(k, frame);
}

static bool step_stub(struct walk *k, const struct code *c, struct cursor *at) {
    k->stub = c->blob;
    if (at->leaf && k->w->walk != WIRE_WALK_NO &&
        (!add_receiver(k, at->pc) || !walk_add(k, names_stub(k->w->names, c, at->pc))))
        return false;
    struct cursor next;
    if (at->leaf ? !caller_of_leaf(k, c, at, &next)
                 : !caller_of_sized(k, c, at, &next) && !caller_scan(k, at, k->limit, &next))
        return walk_fail(k, WIRE_FAILURE_NO_CALLER);
    if (k->last)
        last_stack_drop(k->last);
    *at = next;
    return true;
}

bool java_step(struct walk *k, struct code *c, struct cursor *at) {
    switch (c->kind) {
    case CODE_COMPILED:
    case CODE_NATIVE:
        return step_compiled(k, c, at);
    case CODE_INTERPRETER:
        return step_interpreted(k, at);
    case CODE_STUB:
        return step_stub(k, c, at);
    default:
        return walk_fail(k, at->leaf ? WIRE_FAILURE_UNKNOWN_PC : WIRE_FAILURE_NO_CALLER);
    }
}
