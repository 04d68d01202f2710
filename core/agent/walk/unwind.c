#include "core/agent/walk/unwind.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/registers.h"

#define WORD sizeof(uintptr_t)
#define RED_ZONE 128u /* bytes below the stack pointer that a signal leaves alone */
#define FRAME_BYTES_MAX (16u << 20)

/* The reader may be writing: each number is loaded once, and what it says is checked. */
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

struct rows {
    uintptr_t at; /* of the first */
    uint32_t n;
    uintptr_t base;
};

/* The rows of the module that `pc` is in. */
static bool find_rows(const struct wire_unwind *u, uintptr_t pc, struct rows *out) {
    uint32_t current = atomic_load_explicit(&u->current, memory_order_acquire) & 1;
    const struct wire_unwind_module *module = u->module[current];
    uint32_t low = 0;
    uint32_t high = LOAD(u->modules[current]);
    if (high > WIRE_UNWIND_MODULES_MAX)
        high = WIRE_UNWIND_MODULES_MAX;
    while (low < high) { /* the first one that begins behind pc */
        uint32_t middle = low + (high - low) / 2;
        if (LOAD(module[middle].begin) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || pc >= LOAD(module[low - 1].end))
        return false;
    uint32_t first = LOAD(module[low - 1].first_row);
    out->n = LOAD(module[low - 1].rows);
    out->base = LOAD(module[low - 1].base);
    out->at = (uintptr_t)u->row + sizeof u->row[0] * (uintptr_t)first;
    return first < WIRE_UNWIND_ROWS_MAX && out->n <= WIRE_UNWIND_ROWS_MAX - first &&
           pc >= out->base && pc - out->base <= UINT32_MAX;
}

static bool find_row(const struct wire_unwind *u, uintptr_t pc, struct wire_unwind_row *out) {
    struct rows r;
    if (!u || !atomic_load_explicit(&u->generation, memory_order_acquire) || !find_rows(u, pc, &r))
        return false;
    uint32_t want = (uint32_t)(pc - r.base);
    uint32_t low = 0;
    uint32_t high = r.n;
    while (low < high) { /* the first one behind pc */
        uint32_t middle = low + (high - low) / 2;
        if (guarded_load32(r.at + middle * sizeof *out) <= want)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && guarded_copy(out, r.at + (low - 1) * sizeof *out, sizeof *out) == 0 &&
           out->cfa != WIRE_CFA_NONE;
}

/* The caller's stack pointer; 0: none. */
static uintptr_t find_cfa(const struct wire_unwind_row *row, const struct native_frame *f) {
    uintptr_t offset = (uintptr_t)(intptr_t)row->cfa_offset;
    switch (row->cfa) {
    case WIRE_CFA_SP:
        return f->sp + offset;
    case WIRE_CFA_FP:
        return f->fp + offset;
    case WIRE_CFA_FP_DEREF:
        return guarded_load64(f->fp + offset);
    case WIRE_CFA_PLT:
        return f->sp + WORD + ((f->pc & 15) >= 11 ? WORD : 0);
    default:
        return 0;
    }
}

/* The word that was saved `offset` bytes from `from`, in the frame that ends at `cfa`. */
static bool load_saved(const struct native_frame *f, uintptr_t cfa, uintptr_t from, int16_t offset,
                       uintptr_t *out) {
    uintptr_t slot = from + (uintptr_t)(intptr_t)offset;
    if (slot % WORD || slot < f->sp - RED_ZONE || slot > cfa - WORD)
        return false;
    *out = guarded_load64(slot);
    return true;
}

enum unwind_result unwind_step(const struct wire_unwind *u, uintptr_t limit,
                               struct native_frame *f) {
    struct wire_unwind_row row;
    /* A call that never returns may be the last instruction of its function. */
    if (!find_row(u, f->interrupted ? f->pc : f->pc - 1, &row))
        return UNWIND_NO_ROW;
    if (row.cfa == WIRE_CFA_SIGNAL)
        return UNWIND_SIGNAL;
    if (row.cfa == WIRE_CFA_END)
        return UNWIND_END;
    struct native_frame caller = {.sp = find_cfa(&row, f), .fp = f->fp};
    /* Only a leaf that keeps its return address in a register may have no frame at all. */
    bool in_register = row.ra_offset == WIRE_UNWIND_SAME;
    if (caller.sp % WORD || caller.sp > limit || caller.sp < f->sp + (in_register ? 0 : WORD) ||
        caller.sp - f->sp > FRAME_BYTES_MAX)
        return UNWIND_BAD;
    if (in_register)
        caller.pc = f->interrupted ? f->lr : 0;
    else if (!load_saved(f, caller.sp, caller.sp, row.ra_offset, &caller.pc))
        return UNWIND_BAD;
    uintptr_t from = row.cfa == WIRE_CFA_FP_DEREF ? f->fp : caller.sp;
    if (row.fp_offset != WIRE_UNWIND_SAME &&
        !load_saved(f, caller.sp, from, row.fp_offset, &caller.fp))
        return UNWIND_BAD;
    if (!caller.pc)
        return in_register ? UNWIND_BAD : UNWIND_END;
    caller.pc = registers_code_address(caller.pc);
    *f = caller;
    return UNWIND_CALLER;
}
