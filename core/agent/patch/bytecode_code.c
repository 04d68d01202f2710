#include "core/agent/patch/bytecode_code.h"

#include <errno.h>
#include <string.h>

#define STUB 8u /* bytes of sipush; invokestatic; nop; nop: switches stay aligned */
#define STACK_MAX 65535u
#define CODE_MAX 65535u
#define NOT_AN_INSTRUCTION UINT32_MAX

enum {
    OP_NOP = 0,
    OP_SIPUSH = 17,
    OP_IINC = 132,
    OP_IFEQ = 153,
    OP_JSR = 168,
    OP_TABLESWITCH = 170,
    OP_LOOKUPSWITCH = 171,
    OP_IRETURN = 172,
    OP_RETURN = 177,
    OP_INVOKESTATIC = 184,
    OP_ATHROW = 191,
    OP_WIDE = 196,
    OP_IFNULL = 198,
    OP_IFNONNULL = 199,
    OP_GOTO_W = 200,
    OP_JSR_W = 201,
    OPCODES = 202
};

/* Bytes of an instruction, a digit an opcode, fifty a row; 0: depends. */
static const char op_length[] = "11111111111111112323322222111111111111111111111111"
                                "11112222211111111111111111111111111111111111111111"
                                "11111111111111111111111111111111311111111111111111"
                                "11133333333333333332001111113333333553231133110433"
                                "55";

struct rewrite {
    const struct bytecode_context *c;
    const uint8_t *code;
    uint32_t length;
    uint32_t *to; /* by old offset, length + 1 entries: the new one; NOT_AN_INSTRUCTION */
    struct bytes_out *out;
    int error;
};

static bool is_return(uint8_t op) {
    return op >= OP_IRETURN && op <= OP_RETURN;
}

static bool is_short_jump(uint8_t op) {
    return (op >= OP_IFEQ && op <= OP_JSR) || op == OP_IFNULL || op == OP_IFNONNULL;
}

static uint32_t u4_at(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint32_t padding(uint32_t pc) {
    return 3 - pc % 4;
}

/* Bytes of a switch, or 0. */
static uint32_t switch_length(const uint8_t *code, uint32_t length, uint32_t pc) {
    uint32_t at = pc + 1 + padding(pc);
    uint64_t entries;
    bool table = code[pc] == OP_TABLESWITCH;
    if (at + (table ? 12 : 8) > length)
        return 0;
    if (table) {
        int64_t low = (int32_t)u4_at(code + at + 4);
        int64_t high = (int32_t)u4_at(code + at + 8);
        if (low > high)
            return 0;
        entries = 3 + (uint64_t)(high - low + 1);
    } else {
        entries = 2 + 2 * (uint64_t)u4_at(code + at + 4);
    }
    return entries <= CODE_MAX ? (uint32_t)(at - pc + 4 * entries) : 0;
}

/* Bytes of the instruction at pc, or 0 if there is no valid one. */
static uint32_t instruction_length(const uint8_t *code, uint32_t length, uint32_t pc) {
    uint8_t op = code[pc];
    uint32_t n = 0;
    if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH)
        n = switch_length(code, length, pc);
    else if (op == OP_WIDE)
        n = pc + 1 < length && code[pc + 1] == OP_IINC ? 6 : 4;
    else if (op < OPCODES)
        n = (uint32_t)(op_length[op] - '0');
    return n <= length - pc ? n : 0;
}

static bool find_places(struct rewrite *w) {
    uint32_t shift = STUB;
    for (uint32_t i = 0; i <= w->length; i++)
        w->to[i] = NOT_AN_INSTRUCTION;
    for (uint32_t pc = 0; pc < w->length;) {
        uint32_t n = instruction_length(w->code, w->length, pc);
        if (!n)
            return false;
        w->to[pc] = pc + shift;
        if (is_return(w->code[pc]))
            shift += STUB;
        pc += n;
    }
    w->to[w->length] = w->length + shift;
    return true;
}

/* The new place of an old one. An invalid place stays as it is, and the error is set. */
static uint32_t place(struct rewrite *w, uint32_t old) {
    if (old <= w->length && w->to[old] != NOT_AN_INSTRUCTION)
        return w->to[old];
    w->error = -EINVAL;
    return old;
}

static void put_call(struct rewrite *w, uint16_t method) {
    bytes_put1(w->out, OP_SIPUSH);
    bytes_put2(w->out, w->c->id);
    bytes_put1(w->out, OP_INVOKESTATIC);
    bytes_put2(w->out, method);
    bytes_put1(w->out, OP_NOP);
    bytes_put1(w->out, OP_NOP);
}

static int32_t jump(struct rewrite *w, uint32_t pc, int32_t offset) {
    int64_t target = (int64_t)pc + offset;
    if (target < 0 || target >= w->length) {
        w->error = -EINVAL;
        return 0;
    }
    return (int32_t)place(w, (uint32_t)target) - (int32_t)w->to[pc];
}

static void put_long_jump(struct rewrite *w, uint32_t pc, uint32_t at) {
    bytes_put4(w->out, (uint32_t)jump(w, pc, (int32_t)u4_at(w->code + at)));
}

static void put_switch(struct rewrite *w, uint32_t pc, uint32_t length) {
    uint32_t at = pc + 1 + padding(pc);
    bytes_put(w->out, w->code + pc, at - pc);
    put_long_jump(w, pc, at);
    if (w->code[pc] == OP_TABLESWITCH) {
        bytes_put(w->out, w->code + at + 4, 8);
        for (at += 12; at < pc + length; at += 4)
            put_long_jump(w, pc, at);
        return;
    }
    bytes_put(w->out, w->code + at + 4, 4);
    for (at += 8; at < pc + length; at += 8) {
        bytes_put(w->out, w->code + at, 4);
        put_long_jump(w, pc, at + 4);
    }
}

static void put_instruction(struct rewrite *w, uint32_t pc, uint32_t length) {
    uint8_t op = w->code[pc];
    if (is_return(op))
        put_call(w, w->c->constants->exit);
    if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH) {
        put_switch(w, pc, length);
    } else if (is_short_jump(op)) {
        int16_t old = (int16_t)(w->code[pc + 1] << 8 | w->code[pc + 2]);
        int32_t offset = jump(w, pc, old);
        if (offset < INT16_MIN || offset > INT16_MAX)
            w->error = -E2BIG;
        bytes_put1(w->out, op);
        bytes_put2(w->out, (uint32_t)offset);
    } else if (op == OP_GOTO_W || op == OP_JSR_W) {
        bytes_put1(w->out, op);
        put_long_jump(w, pc, pc + 1);
    } else {
        bytes_put(w->out, w->code + pc, length);
    }
}

static void put_code(struct rewrite *w) {
    put_call(w, w->c->constants->enter);
    for (uint32_t pc = 0; pc < w->length;) {
        uint32_t n = instruction_length(w->code, w->length, pc);
        put_instruction(w, pc, n);
        pc += n;
    }
    if (!w->c->handler)
        return;
    put_call(w, w->c->constants->exit);
    bytes_put1(w->out, OP_ATHROW);
}

static void put_exceptions(struct rewrite *w, struct bytes_in *in) {
    uint32_t n = bytes_u2(in);
    if (n + w->c->handler > UINT16_MAX)
        w->error = -E2BIG;
    bytes_put2(w->out, n + w->c->handler);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        for (int k = 0; k < 3; k++)
            bytes_put2(w->out, place(w, bytes_u2(in)));
        bytes_put2(w->out, bytes_u2(in));
    }
    if (!w->c->handler)
        return;
    bytes_put2(w->out, STUB); /* behind the first call */
    bytes_put2(w->out, w->to[w->length]);
    bytes_put2(w->out, w->to[w->length]);
    bytes_put2(w->out, 0);
}

static void put_lines(struct rewrite *w, struct bytes_in *in) {
    uint32_t n = bytes_u2(in);
    bytes_put2(w->out, n);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint32_t pc = bytes_u2(in);
        bytes_put2(w->out, pc ? place(w, pc) : 0); /* the first line has the first call */
        bytes_put2(w->out, bytes_u2(in));
    }
}

static void put_variables(struct rewrite *w, struct bytes_in *in) {
    uint32_t n = bytes_u2(in);
    bytes_put2(w->out, n);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint32_t begin = bytes_u2(in);
        uint32_t end = begin + bytes_u2(in);
        bytes_put2(w->out, place(w, begin));
        bytes_put2(w->out, place(w, end) - place(w, begin));
        const uint8_t *rest = bytes_skip(in, 6);
        if (rest)
            bytes_put(w->out, rest, 6);
    }
}

/* Stack maps: a frame's offset is relative to the previous frame. */

enum {
    TYPE_OBJECT = 7,
    TYPE_UNINITIALIZED = 8,
    MAP_SAME_LAST = 63,
    MAP_ONE_ITEM_LAST = 127,
    MAP_ONE_ITEM_EXTENDED = 247,
    MAP_CHOP_LAST = 250,
    MAP_SAME_EXTENDED = 251,
    MAP_FULL = 255
};

static void put_types(struct rewrite *w, struct bytes_in *in, uint32_t n) {
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint8_t type = bytes_u1(in);
        bytes_put1(w->out, type);
        if (type == TYPE_OBJECT)
            bytes_put2(w->out, bytes_u2(in));
        else if (type == TYPE_UNINITIALIZED)
            bytes_put2(w->out, place(w, bytes_u2(in)));
    }
}

struct map_position {
    int64_t old, now;
};

static void put_map_offset(struct rewrite *w, struct map_position *p, uint32_t delta) {
    p->old += (int64_t)delta + 1;
    int64_t now = p->old < w->length ? (int64_t)place(w, (uint32_t)p->old) : -1;
    if (now <= p->now)
        w->error = -EINVAL;
    bytes_put2(w->out, (uint32_t)(now - p->now - 1));
    p->now = now;
}

/* Always in the form that has 16 bits for the offset. */
static void put_map(struct rewrite *w, struct bytes_in *in, struct map_position *p) {
    uint8_t type = bytes_u1(in);
    if (type <= MAP_SAME_LAST) {
        bytes_put1(w->out, MAP_SAME_EXTENDED);
        put_map_offset(w, p, type);
    } else if (type <= MAP_ONE_ITEM_LAST) {
        bytes_put1(w->out, MAP_ONE_ITEM_EXTENDED);
        put_map_offset(w, p, type - MAP_SAME_LAST - 1u);
        put_types(w, in, 1);
    } else if (type < MAP_ONE_ITEM_EXTENDED) {
        w->error = -EINVAL;
    } else {
        bytes_put1(w->out, type);
        put_map_offset(w, p, bytes_u2(in));
        if (type == MAP_ONE_ITEM_EXTENDED)
            put_types(w, in, 1);
        for (int k = 0; k < 2 && type == MAP_FULL; k++) {
            uint32_t n = bytes_u2(in);
            bytes_put2(w->out, n);
            put_types(w, in, n);
        }
        if (type > MAP_SAME_EXTENDED && type < MAP_FULL)
            put_types(w, in, type - MAP_SAME_EXTENDED);
    }
}

/* The handler has no locals and the thrown object on its stack. */
static void put_handler_map(struct rewrite *w, const struct map_position *p) {
    bytes_put1(w->out, MAP_FULL);
    bytes_put2(w->out, (uint32_t)((int64_t)w->to[w->length] - p->now - 1));
    bytes_put2(w->out, 0);
    bytes_put2(w->out, 1);
    bytes_put1(w->out, TYPE_OBJECT);
    bytes_put2(w->out, w->c->constants->throwable);
}

static void put_maps(struct rewrite *w, struct bytes_in *in) {
    struct map_position p = {-1, -1};
    uint32_t n = bytes_u2(in);
    if (n + w->c->handler > UINT16_MAX)
        w->error = -E2BIG;
    bytes_put2(w->out, n + w->c->handler);
    for (uint32_t i = 0; i < n && !in->bad && !w->error; i++)
        put_map(w, in, &p);
    if (w->c->handler && !w->error)
        put_handler_map(w, &p);
}

static size_t begin_attribute(struct rewrite *w, uint16_t name) {
    bytes_put2(w->out, name);
    bytes_put4(w->out, 0);
    return w->out->n;
}

static void end_attribute(struct rewrite *w, size_t begin) {
    bytes_set4(w->out, begin - 4, (uint32_t)(w->out->n - begin));
}

static void put_attributes(struct rewrite *w, struct bytes_in *in) {
    static void (*const put[])(struct rewrite *, struct bytes_in *) = {
        [ATTRIBUTE_LINES] = put_lines,
        [ATTRIBUTE_VARIABLES] = put_variables,
        [ATTRIBUTE_STACK_MAP] = put_maps,
    };
    size_t count_at = w->out->n;
    uint32_t n = bytes_u2(in), kept = 0;
    bool mapped = false;
    bytes_put2(w->out, 0);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint16_t name = bytes_u2(in);
        uint32_t length = bytes_u4(in);
        const uint8_t *content = bytes_skip(in, length);
        enum bytecode_attribute a = w->c->attribute(w->c->pool, name);
        in->bad |= a == ATTRIBUTE_BAD;
        if (in->bad || a == ATTRIBUTE_OTHER || (a == ATTRIBUTE_STACK_MAP && mapped))
            continue;
        mapped |= a == ATTRIBUTE_STACK_MAP;
        struct bytes_in inner = {content, content + length, false};
        size_t begin = begin_attribute(w, name);
        put[a](w, &inner);
        end_attribute(w, begin);
        in->bad |= inner.bad;
        kept++;
    }
    if (!mapped && w->c->maps && w->c->handler) {
        static const uint8_t none[2];
        struct bytes_in empty = {none, none + 2, false};
        size_t begin = begin_attribute(w, w->c->constants->stack_map_table);
        put_maps(w, &empty);
        end_attribute(w, begin);
        kept++;
    }
    if (kept > UINT16_MAX)
        w->error = -E2BIG;
    bytes_set2(w->out, count_at, kept);
}

static void rewrite(struct rewrite *w, struct bytes_in *in, uint16_t max_stack,
                    uint16_t max_locals) {
    uint32_t stack = max_stack + 1u; /* beside the number: the method's own, or the exception */
    bytes_put2(w->out, stack > 1 ? stack : 1u + w->c->handler);
    bytes_put2(w->out, max_locals);
    uint32_t length = w->to[w->length] + (w->c->handler ? STUB + 1 : 0);
    if (length > CODE_MAX || stack > STACK_MAX) {
        w->error = -E2BIG;
        return;
    }
    bytes_put4(w->out, length);
    put_code(w);
    put_exceptions(w, in);
    put_attributes(w, in);
    if (in->bad)
        w->error = -EINVAL;
    else if (w->out->failed)
        w->error = -ENOMEM;
}

int bytecode_rewrite(const struct bytecode_context *c, const uint8_t *code, uint32_t length,
                     struct bytes_out *out) {
    struct bytes_in in = {code, code + length, false};
    uint16_t max_stack = bytes_u2(&in);
    uint16_t max_locals = bytes_u2(&in);
    uint32_t n = bytes_u4(&in);
    struct rewrite w = {.c = c, .code = bytes_skip(&in, n), .length = n, .out = out};
    if (!w.code || n == 0 || n > CODE_MAX)
        return -EINVAL;
    w.to = bytes_alloc((n + 1) * sizeof *w.to);
    if (!w.to)
        return -ENOMEM;
    if (find_places(&w))
        rewrite(&w, &in, max_stack, max_locals);
    else
        w.error = -EINVAL;
    bytes_free(w.to, (n + 1) * sizeof *w.to);
    return w.error;
}
