#include "symbols/unwind/unwind_program.h"

#include "symbols/unwind/unwind_opcodes.h"

#include <elf.h>
#include <errno.h>

/* The instructions that have no operand in their first byte. */
static const struct unwind_opcode unwind_opcodes[UNWIND_OPCODES] = {
    [DW_CFA_nop] = {true, UNWIND_NOTHING, UNWIND_NOTHING},
    [DW_CFA_set_loc] = {true, UNWIND_ADDRESS, UNWIND_NOTHING},
    [DW_CFA_advance_loc1] = {true, UNWIND_BYTE1, UNWIND_NOTHING},
    [DW_CFA_advance_loc2] = {true, UNWIND_BYTE2, UNWIND_NOTHING},
    [DW_CFA_advance_loc4] = {true, UNWIND_BYTE4, UNWIND_NOTHING},
    [DW_CFA_MIPS_advance_loc8] = {true, UNWIND_BYTE8, UNWIND_NOTHING},
    [DW_CFA_offset_extended] = {true, UNWIND_ULEB, UNWIND_ULEB},
    [DW_CFA_restore_extended] = {true, UNWIND_ULEB, UNWIND_NOTHING},
    [DW_CFA_undefined] = {true, UNWIND_ULEB, UNWIND_NOTHING},
    [DW_CFA_same_value] = {true, UNWIND_ULEB, UNWIND_NOTHING},
    [DW_CFA_register] = {true, UNWIND_ULEB, UNWIND_ULEB},
    [DW_CFA_remember_state] = {true, UNWIND_NOTHING, UNWIND_NOTHING},
    [DW_CFA_restore_state] = {true, UNWIND_NOTHING, UNWIND_NOTHING},
    [DW_CFA_def_cfa] = {true, UNWIND_ULEB, UNWIND_ULEB},
    [DW_CFA_def_cfa_register] = {true, UNWIND_ULEB, UNWIND_NOTHING},
    [DW_CFA_def_cfa_offset] = {true, UNWIND_ULEB, UNWIND_NOTHING},
    [DW_CFA_def_cfa_expression] = {true, UNWIND_BLOCK, UNWIND_NOTHING},
    [DW_CFA_expression] = {true, UNWIND_ULEB, UNWIND_BLOCK},
    [DW_CFA_offset_extended_sf] = {true, UNWIND_ULEB, UNWIND_SLEB},
    [DW_CFA_def_cfa_sf] = {true, UNWIND_ULEB, UNWIND_SLEB},
    [DW_CFA_def_cfa_offset_sf] = {true, UNWIND_SLEB, UNWIND_NOTHING},
    [DW_CFA_val_offset] = {true, UNWIND_ULEB, UNWIND_ULEB},
    [DW_CFA_val_offset_sf] = {true, UNWIND_ULEB, UNWIND_SLEB},
    [DW_CFA_val_expression] = {true, UNWIND_ULEB, UNWIND_BLOCK},
    [DW_CFA_AARCH64_negate_ra_state_with_pc] = {true, UNWIND_NOTHING, UNWIND_NOTHING},
    [DW_CFA_AARCH64_negate_ra_state] = {true, UNWIND_NOTHING, UNWIND_NOTHING},
    [DW_CFA_GNU_args_size] = {true, UNWIND_ULEB, UNWIND_NOTHING},
    [DW_CFA_GNU_negative_offset_extended] = {true, UNWIND_ULEB, UNWIND_ULEB},
};

/* How one register of the caller is found. */
enum how {
    UNSPECIFIED, /* the ABI's default: unchanged */
    SAME,
    GONE,
    AT_CFA, /* saved at CFA + offset */
    AT_FP,  /* saved at this frame's frame pointer + offset */
    OTHER,  /* in a way that a row cannot express */
};

struct rule {
    uint8_t how; /* enum how */
    int64_t offset;
};

struct state {
    uint8_t cfa;      /* enum unwind_cfa; PLT: see plt_step */
    uint64_t cfa_reg; /* kept for UNWIND_CFA_NONE too, because def_cfa_offset may follow */
    int64_t cfa_offset;
    uint8_t plt_step; /* from this byte of a 16-byte entry on, the stack has grown */
    struct rule fp, ra;
};

enum { STATES = 16 }; /* limit of remembered states; compilers use one or two */

struct run {
    struct unwind_program *program;
    const struct unwind_section *section;
    const struct unwind_cie *cie;
    uint64_t location, end;
    uint64_t sp_reg, fp_reg;
    struct state now, initial;
    struct state remembered[STATES];
    unsigned depth;
    bool in_cie;
    int result; /* result of emit */
};

/* Limits a number, so that a sum of two never overflows. */
static int64_t bound(int64_t n) {
    return n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n;
}

static int64_t scaled(const struct run *r, uint64_t factor) {
    int64_t product;
    if (__builtin_mul_overflow((int64_t)factor, r->cie->data_align, &product))
        return INT32_MAX; /* too large for any row */
    return bound(product);
}

static bool fits(int64_t offset) {
    return offset > INT16_MIN && offset <= INT16_MAX;
}

/* Where the frame pointer was saved. False: a row cannot express it. */
static bool fp_offset(const struct state *s, int16_t *out) {
    int64_t offset = UNWIND_SAME;
    if (s->fp.how == OTHER)
        return false;
    if (s->fp.how == AT_CFA || s->fp.how == AT_FP) {
        offset = s->fp.offset;
        bool from_fp = s->cfa == UNWIND_CFA_FP_DEREF;
        if (s->fp.how == AT_FP && s->cfa == UNWIND_CFA_FP)
            offset -= s->cfa_offset;
        else if (from_fp != (s->fp.how == AT_FP))
            return false;
        if (!fits(offset))
            return false;
    }
    *out = (int16_t)offset;
    return true;
}

static struct unwind_row make_row(const struct run *r) {
    const struct state *s = &r->now;
    struct unwind_row row = {.fp_offset = UNWIND_SAME, .ra_offset = UNWIND_SAME};
    if (r->cie->signal) {
        row.cfa = UNWIND_CFA_SIGNAL;
        return row;
    }
    if (s->ra.how == GONE) {
        row.cfa = UNWIND_CFA_END;
        return row;
    }
    bool in_register = s->ra.how == SAME || s->ra.how == UNSPECIFIED;
    if (s->cfa == UNWIND_CFA_NONE || !fp_offset(s, &row.fp_offset) ||
        s->cfa_offset > INT32_MAX - 16 || s->cfa_offset == INT32_MIN ||
        (in_register ? r->program->machine != EM_AARCH64
                     : s->ra.how != AT_CFA || !fits(s->ra.offset)))
        return (struct unwind_row){.fp_offset = UNWIND_SAME, .ra_offset = UNWIND_SAME};
    row.cfa = s->cfa;
    row.cfa_offset = (int32_t)s->cfa_offset;
    if (!in_register)
        row.ra_offset = (int16_t)s->ra.offset;
    return row;
}

/* Only entries whose stack grows at their eleventh byte have a row of their own (UNWIND_CFA_PLT).
 * For others, this emits two plain rows per entry. */
static void emit_plt(struct run *r, uint64_t end, struct unwind_row row) {
    struct unwind_program *p = r->program;
    row.cfa = UNWIND_CFA_SP;
    for (uint64_t at = r->location; at < end && !r->result;) {
        bool grown = (at & 15) >= r->now.plt_step;
        uint64_t next = (at & ~UINT64_C(15)) + (grown ? 16 : r->now.plt_step);
        if (p->budget == 0) {
            r->result = -ELOOP;
            return;
        }
        p->budget--;
        row.cfa_offset = grown ? 16 : 8;
        r->result = p->emit(p->arg, at, next < end ? next : end, &row);
        at = next;
    }
}

/* Emits what is known now; it is valid up to `to`. */
static void advance(struct run *r, uint64_t to) {
    uint64_t end = to < r->end ? to : r->end;
    if (r->in_cie || to < r->location)
        return;
    if (end > r->location && !r->result) {
        struct unwind_row row = make_row(r);
        if (row.cfa == UNWIND_CFA_PLT && r->now.plt_step != 11)
            emit_plt(r, end, row);
        else
            r->result = r->program->emit(r->program->arg, r->location, end, &row);
    }
    r->location = to;
}

static void define_cfa(struct run *r, uint64_t reg, int64_t offset) {
    struct state *s = &r->now;
    s->cfa = reg == r->sp_reg ? UNWIND_CFA_SP : reg == r->fp_reg ? UNWIND_CFA_FP : UNWIND_CFA_NONE;
    s->cfa_reg = reg;
    s->cfa_offset = bound(offset);
}

/* Reads "breg REG": the register + an offset. */
static bool take_breg(struct unwind_bytes *b, uint64_t reg, int64_t *offset) {
    if (reg > 31 || unwind_bytes_number(b, 1) != DW_OP_breg0 + reg)
        return false;
    *offset = bound(unwind_bytes_sleb(b));
    return !b->bad;
}

/* Recognizes the expression that binutils writes for a lazy PLT: sp + 8 + (((pc & 15) >= N) << 3).
 * Returns N, or 0. */
static uint8_t plt_step(struct unwind_bytes b) {
    static const uint8_t text[] = {0x77,       8,    0x80, 0,    0x3f, 0x1a,
                                   DW_OP_lit0, 0x2a, 0x33, 0x24, 0x22};
    if (unwind_bytes_left(&b) != sizeof text)
        return 0;
    for (size_t i = 0; i < sizeof text; i++)
        if (i != 6 && b.at[i] != text[i])
            return 0;
    return b.at[6] > DW_OP_lit0 && b.at[6] < DW_OP_lit0 + 16 ? (uint8_t)(b.at[6] - DW_OP_lit0) : 0;
}

static void define_cfa_expression(struct run *r, struct unwind_bytes b) {
    struct state *s = &r->now;
    s->cfa = UNWIND_CFA_NONE;
    s->cfa_reg = UINT64_MAX;
    s->plt_step = r->program->machine == EM_X86_64 ? plt_step(b) : 0;
    if (s->plt_step)
        s->cfa = UNWIND_CFA_PLT;
    else if (take_breg(&b, r->fp_reg, &s->cfa_offset) && unwind_bytes_left(&b) == 1 &&
             *b.at == DW_OP_deref)
        s->cfa = UNWIND_CFA_FP_DEREF;
    if (s->cfa != UNWIND_CFA_FP_DEREF)
        s->cfa_offset = 0;
}

static void set_rule(struct run *r, uint64_t reg, enum how how, int64_t offset) {
    struct rule rule = {(uint8_t)how, bound(offset)};
    if (reg == r->fp_reg)
        r->now.fp = rule;
    else if (reg == r->cie->ra_register)
        r->now.ra = rule;
}

static void set_expression(struct run *r, uint64_t reg, struct unwind_bytes b) {
    int64_t offset;
    bool plain = take_breg(&b, r->fp_reg, &offset) && unwind_bytes_left(&b) == 0;
    set_rule(r, reg, plain ? AT_FP : OTHER, plain ? offset : 0);
}

static void restore(struct run *r, uint64_t reg) {
    if (r->in_cie)
        return;
    if (reg == r->fp_reg)
        r->now.fp = r->initial.fp;
    else if (reg == r->cie->ra_register)
        r->now.ra = r->initial.ra;
}

static uint64_t take_operand(const struct run *r, uint8_t kind, struct unwind_bytes *b,
                             struct unwind_bytes *block) {
    switch (kind) {
    case UNWIND_ULEB:
        return unwind_bytes_uleb(b);
    case UNWIND_SLEB:
        return (uint64_t)unwind_bytes_sleb(b);
    case UNWIND_ADDRESS:
        return unwind_pointer(r->section, r->cie->encoding, b);
    case UNWIND_BYTE1:
    case UNWIND_BYTE2:
    case UNWIND_BYTE4:
    case UNWIND_BYTE8:
        return unwind_bytes_number(b, (size_t)1 << (kind - UNWIND_BYTE1));
    case UNWIND_BLOCK: {
        uint64_t length = unwind_bytes_uleb(b);
        block->at = unwind_bytes_skip(b, length);
        block->end = block->at ? block->at + length : NULL;
        return 0;
    }
    default:
        return 0;
    }
}

/* Locations never go back, not even if a sum overflows. */
static void advance_by(struct run *r, uint64_t delta) {
    uint64_t to;
    if (__builtin_mul_overflow(delta, r->cie->code_align, &delta) ||
        __builtin_add_overflow(r->location, delta, &to))
        to = UINT64_MAX;
    advance(r, to);
}

/* False: the instruction is invalid. */
static bool apply(struct run *r, unsigned op, uint64_t a, uint64_t b, struct unwind_bytes block) {
    switch (op) {
    case DW_CFA_set_loc:
        advance(r, a);
        break;
    case DW_CFA_advance_loc1:
    case DW_CFA_advance_loc2:
    case DW_CFA_advance_loc4:
    case DW_CFA_MIPS_advance_loc8:
        advance_by(r, a);
        break;
    case DW_CFA_offset_extended:
    case DW_CFA_offset_extended_sf:
        set_rule(r, a, AT_CFA, scaled(r, b));
        break;
    case DW_CFA_GNU_negative_offset_extended:
        set_rule(r, a, AT_CFA, -scaled(r, b));
        break;
    case DW_CFA_restore_extended:
        restore(r, a);
        break;
    case DW_CFA_undefined:
        set_rule(r, a, GONE, 0);
        break;
    case DW_CFA_same_value:
        set_rule(r, a, SAME, 0);
        break;
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
    case DW_CFA_val_expression:
        set_rule(r, a, OTHER, 0);
        break;
    case DW_CFA_expression:
        set_expression(r, a, block);
        break;
    case DW_CFA_remember_state:
        if (r->depth == STATES)
            return false;
        r->remembered[r->depth++] = r->now;
        break;
    case DW_CFA_restore_state:
        if (r->depth == 0)
            return false;
        r->now = r->remembered[--r->depth];
        break;
    case DW_CFA_def_cfa:
        define_cfa(r, a, b > INT32_MAX ? INT32_MAX : (int64_t)b);
        break;
    case DW_CFA_def_cfa_sf:
        define_cfa(r, a, scaled(r, b));
        break;
    case DW_CFA_def_cfa_register:
        define_cfa(r, a, r->now.cfa_offset);
        break;
    case DW_CFA_def_cfa_offset:
        define_cfa(r, r->now.cfa_reg, a > INT32_MAX ? INT32_MAX : (int64_t)a);
        break;
    case DW_CFA_def_cfa_offset_sf:
        define_cfa(r, r->now.cfa_reg, scaled(r, a));
        break;
    case DW_CFA_def_cfa_expression:
        define_cfa_expression(r, block);
        break;
    default: /* does not move the frame */
        break;
    }
    return true;
}

/* False: the rest of the program cannot be interpreted. */
static bool step(struct run *r, struct unwind_bytes *b) {
    struct unwind_bytes block = {0};
    unsigned byte = (unsigned)unwind_bytes_number(b, 1);
    unsigned low = byte & 0x3f;
    switch (byte & 0xc0) {
    case DW_CFA_advance_loc:
        advance_by(r, low);
        return true;
    case DW_CFA_offset: {
        uint64_t factor = unwind_bytes_uleb(b);
        set_rule(r, low, AT_CFA, scaled(r, factor));
        return !b->bad;
    }
    case DW_CFA_restore:
        restore(r, low);
        return true;
    default:
        break;
    }
    const struct unwind_opcode *op = &unwind_opcodes[low];
    if (!op->known)
        return false;
    uint64_t first = take_operand(r, op->first, b, &block);
    uint64_t second = take_operand(r, op->second, b, &block);
    return !b->bad && apply(r, low, first, second, block);
}

static bool run(struct run *r, struct unwind_bytes b) {
    while (unwind_bytes_left(&b) && r->location < r->end && !r->result) {
        if (r->program->budget == 0) {
            r->result = -ELOOP;
            return false;
        }
        r->program->budget--;
        if (!step(r, &b))
            return false;
    }
    return true;
}

int unwind_program_run(struct unwind_program *p, const struct unwind_section *s,
                       const struct unwind_fde *fde) {
    bool x86 = p->machine == EM_X86_64;
    struct run r = {
        .program = p,
        .section = s,
        .cie = &fde->cie,
        .location = fde->begin,
        .end = fde->end,
        .sp_reg = x86 ? 7 : 31,
        .fp_reg = x86 ? 6 : 29,
        .in_cie = true,
        .now = {.cfa_reg = UINT64_MAX},
    };
    bool sound = run(&r, fde->cie.program);
    r.in_cie = false;
    r.depth = 0;
    r.initial = r.now;
    if (sound)
        sound = run(&r, fde->program);
    if (!sound)
        r.now = (struct state){.cfa_reg = UINT64_MAX};
    if (r.location < r.end)
        advance(&r, r.end);
    return r.result;
}
