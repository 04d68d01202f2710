#include "core/agent/walk/walk_frames.h"

#include "core/agent/walk/walk_stage.h"

#define SCAN_WORDS 512 /* stack words searched for a return address */
#define PUSHED_WORDS_MAX 4
#define C_FRAME_WORDS 64
#define SURE_FRAMES 4
#define CHUNK_END_WORDS 16 /* arguments of a chunk's oldest frame, at most */
#define RELATIVE_WORDS_MAX (1u << 20)

static bool in_interpreter(const struct walk *k, uintptr_t pc) {
    return pc >= k->vm->at.interpreter_begin && pc < k->vm->at.interpreter_end;
}

static bool has_interpreted_frame(const struct walk *k, uintptr_t fp, uintptr_t sp) {
    struct method_view m;
    return fp >= sp && walk_in_stack(k, fp) &&
           method_look(k->vm, guarded_load64(fp - 3 * WORD), true, &m);
}

/* `code` is what the cursor is in. One word that looks like a return address may be a leftover; two
 * in the right distance are not. */
static bool leads_on(const struct walk *k, const struct cursor *c, const struct code *code) {
    switch (code->kind) {
    case CODE_INTERPRETER:
        return has_interpreted_frame(k, c->fp, c->sp);
    case CODE_ENTRY:
        return c->fp >= c->sp && walk_in_stack(k, c->fp);
    case CODE_COMPILED:
    case CODE_NATIVE:
    case CODE_STUB: {
        struct cursor next = {.sp = c->sp + (uintptr_t)code->frame_words * WORD};
        if (!code->frame_words)
            return frozen_is_entered(k, code, c->sp);
        if (!walk_in_stack(k, next.sp - WORD))
            return false;
        next.pc = walk_load_pc(next.sp - WORD);
        if (in_interpreter(k, next.pc))
            return has_interpreted_frame(k, guarded_load64(next.sp - 2 * WORD), next.sp);
        struct code next_code = code_find(k->vm, next.pc);
        return code_is_return(&next_code, next.pc) || frozen_is_entered(k, &next_code, next.sp);
    }
    default:
        return false;
    }
}

bool caller_leads_on(const struct walk *k, const struct cursor *c) {
    struct code code = code_find(k->vm, c->pc);
    return leads_on(k, c, &code);
}

/* Takes a guessed cursor where it is a call's return address and leads on. */
static bool accept(const struct walk *k, const struct cursor *c, struct cursor *next) {
    if (!code_contains(k->vm, c->pc))
        return false;
    struct code code = code_find(k->vm, c->pc);
    if (!leads_on(k, c, &code) ||
        !(code_is_return(&code, c->pc) || frozen_is_entered(k, &code, c->sp)))
        return false;
    *next = *c;
    return true;
}

/* The caller whose return address lies at `slot`, if it is one that leads on. */
static bool caller_at(const struct walk *k, uintptr_t slot, uintptr_t fp, struct cursor *next) {
    if (!walk_in_stack(k, slot))
        return false;
    struct cursor c = {.pc = walk_load_pc(slot), .sp = slot + WORD, .fp = fp};
    return accept(k, &c, next);
}

#if defined(__aarch64__)
/* Whether a cursor leads on for several frames. */
static bool leads_far(const struct walk *k, struct cursor c) {
    for (uint32_t i = 0; i < SURE_FRAMES; i++) {
        struct code code = code_find(k->vm, c.pc);
        if (!leads_on(k, &c, &code))
            return false;
        if (code.kind == CODE_INTERPRETER || code.kind == CODE_ENTRY || !code.frame_words)
            return true;
        c.sp += (uintptr_t)code.frame_words * WORD;
        c.pc = walk_load_pc(c.sp - WORD);
        c.fp = guarded_load64(c.sp - 2 * WORD);
    }
    return true;
}

bool caller_above(const struct walk *k, const struct cursor *from, struct cursor *next) {
    if (!code_is_return_address(k->vm, from->pc))
        return false;
    struct cursor c = {.pc = from->pc, .sp = (from->sp + 15) & ~(uintptr_t)15, .fp = from->fp};
    for (uint32_t i = 0; i < C_FRAME_WORDS && walk_in_stack(k, c.sp); i += 2, c.sp += 2 * WORD) {
        if (leads_far(k, c)) {
            *next = c;
            return true;
        }
    }
    return false;
}
#else
bool caller_above(const struct walk *k, const struct cursor *from, struct cursor *next) {
    (void)k, (void)from, (void)next;
    return false;
}
#endif

bool caller_scan(struct walk *k, const struct cursor *at, uintptr_t limit, struct cursor *next) {
    if (k->scans++ == SCANS_MAX)
        return false;
    struct code c = code_find(k->vm, at->pc);
    /* What calls these is no call of a method: such a word is left over from other frames. */
    bool no_method = c.kind == CODE_NONE || code_is_routine(k->vm, &c);
    uintptr_t sp = at->sp;
    struct cursor linked = {.pc = registers_code_address(k->r.lr), .sp = sp, .fp = at->fp};
    if (at->leaf && caller_above(k, &linked, next))
        return true;
    for (uint32_t i = 0; i < SCAN_WORDS && sp < limit && walk_in_stack(k, sp); i++, sp += WORD) {
        uintptr_t pc = walk_load_pc(sp);
        if (!code_contains(k->vm, pc) || (no_method && code_called_method(k->vm, pc)))
            continue;
        if (c.kind == CODE_NONE && frozen_is_stub(k, code_find(k->vm, pc).blob) &&
            code_follows_call(pc)) {
            *next = (struct cursor){.pc = pc, .sp = sp + WORD, .fp = at->fp};
            return true;
        }
        /* A frame that was entered leaves the caller's frame pointer right below. */
        uintptr_t saved = i ? guarded_load64(sp - WORD) : 0;
        if ((saved > sp && walk_in_stack(k, saved) && caller_at(k, sp, saved, next)) ||
            caller_at(k, sp, at->fp, next))
            return true;
        struct cursor low = {.pc = pc, .sp = sp + WORD, .fp = i ? saved : at->fp};
        if (caller_above(k, &low, next))
            return true;
    }
    return false;
}

bool caller_of_frameless(const struct walk *k, const struct cursor *at, struct cursor *next) {
    struct cursor c = {.pc = registers_code_address(k->r.lr), .sp = at->sp, .fp = at->fp};
    /* A stub that has made a frame may still have its return address there as well. */
    if (k->r.lr && accept(k, &c, next))
        return true;
    return caller_at(k, at->sp, at->fp, next);
}

static enum frame_stage leaf_stage(const struct code *c, uintptr_t pc) {
    struct stage_code code = {.prologue = c->frame_complete >= 0 &&
                                          pc < c->begin + (uintptr_t)c->frame_complete};
    uintptr_t from = c->begin;
    uintptr_t known = code.prologue ? c->begin + (uintptr_t)c->frame_complete : pc;
    if (known - from > STAGE_BYTES_BEFORE)
        from = known - STAGE_BYTES_BEFORE;
    if (pc < from)
        return STAGE_NONE;
    code.pc = (uint32_t)(pc - from);
    guarded_copy(code.byte, from, sizeof code.byte);
#if defined(__x86_64__)
    return stage_x86_64(&code);
#else
    return stage_aarch64(&code);
#endif
}

bool caller_of_leaf(struct walk *k, const struct code *c, const struct cursor *at,
                    struct cursor *next) {
    bool sized = c->kind != CODE_STUB && c->frame_words;
    enum frame_stage stage = sized ? leaf_stage(c, at->pc) : STAGE_WHOLE;
    uintptr_t end = at->sp + (uintptr_t)c->frame_words * WORD;
    if (stage == STAGE_NONE && caller_of_frameless(k, at, next))
        return true;
    if (stage == STAGE_PUSHED && caller_at(k, at->sp + WORD, guarded_load64(at->sp), next))
        return true;
    struct cursor raised = {.sp = end, .fp = at->fp};
    if (stage == STAGE_ALLOCATED && caller_of_frameless(k, &raised, next))
        return true;
    /* C1 pushes a few words around calls of its slow paths. */
    for (uint32_t pushed = 0; c->frame_words && pushed <= PUSHED_WORDS_MAX; pushed++, end += WORD)
        if (caller_at(k, end - WORD, guarded_load64(end - 2 * WORD), next))
            return true;
    /* Routines use their stack before they have written to it: old words lie in it. */
    if (caller_of_frameless(k, at, next) &&
        !(code_is_routine(k->vm, c) && code_called_method(k->vm, next->pc)))
        return true;
    /* Stubs that have a frame have an ordinary one; to methods fp is a register like any other. */
    if (c->kind == CODE_STUB && at->fp >= at->sp && walk_in_stack(k, at->fp) &&
        caller_at(k, at->fp + WORD, guarded_load64(at->fp), next))
        return true;
    return caller_scan(k, at, k->limit, next);
}

uintptr_t caller_load_fp(uintptr_t slot) {
    uintptr_t fp = guarded_load64(slot);
    return fp < RELATIVE_WORDS_MAX ? slot + fp * WORD : fp;
}

bool caller_of_sized(const struct walk *k, const struct code *c, const struct cursor *at,
                     struct cursor *next) {
    uintptr_t end = at->sp + (uintptr_t)c->frame_words * WORD;
    /* A chunk's oldest frame has a return address that means nothing: frozen_walk decides. */
    bool last = k->frozen && end + CHUNK_END_WORDS * WORD >= k->limit;
    if (!last && (!c->frame_words || !walk_in_stack(k, end - WORD)))
        return false;
    *next = (struct cursor){.pc = walk_load_pc(end - WORD),
                            .sp = end,
                            .fp = caller_load_fp(end - 2 * WORD),
                            .fp_slot = end - 2 * WORD};
    return last || code_contains(k->vm, next->pc);
}
