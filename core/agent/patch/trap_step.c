#include "core/agent/patch/trap_step.h"

#include "core/agent/process/registers.h"

#if defined(__x86_64__)

#define REGISTERS(context) (((ucontext_t *)(context))->uc_mcontext.gregs)

static int32_t immediate32(const uint8_t *b) {
    return (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

static struct trap_step push(uint8_t bytes, uint8_t number) {
    return (struct trap_step){.kind = TRAP_STEP_PUSH, .bytes = bytes, .a = number, .amount = 8};
}

struct trap_step trap_step_read(const uint8_t *c) {
    if (c[0] == 0xf3 && c[1] == 0x0f && c[2] == 0x1e && c[3] == 0xfa) /* endbr64 */
        return (struct trap_step){.kind = TRAP_STEP_SKIP, .bytes = 4};
    if (c[0] == 0x90)
        return (struct trap_step){.kind = TRAP_STEP_SKIP, .bytes = 1};
    if ((c[0] & 0xf8) == 0x50)
        return push(1, c[0] & 7);
    if (c[0] == 0x41 && (c[1] & 0xf8) == 0x50)
        return push(2, 8 + (c[1] & 7));
    if (c[0] == 0x48 && c[1] == 0x83 && c[2] == 0xec) /* sub rsp, imm8 */
        return (struct trap_step){.kind = TRAP_STEP_STACK, .bytes = 4, .amount = (int8_t)c[3]};
    if (c[0] == 0x48 && c[1] == 0x81 && c[2] == 0xec)
        return (struct trap_step){
            .kind = TRAP_STEP_STACK, .bytes = 7, .amount = immediate32(c + 3)};
    if (c[0] == 0xeb)
        return (struct trap_step){.kind = TRAP_STEP_JUMP, .bytes = 2, .amount = 2 + (int8_t)c[1]};
    if (c[0] == 0xe9 && immediate32(c + 1) < INT32_MAX - 5)
        return (struct trap_step){
            .kind = TRAP_STEP_JUMP, .bytes = 5, .amount = 5 + immediate32(c + 1)};
    if (c[0] == 0xc3 || (c[0] == 0xf3 && c[1] == 0xc3))
        return (struct trap_step){.kind = TRAP_STEP_RETURN, .bytes = 1};
    return (struct trap_step){.kind = TRAP_STEP_NONE};
}

static uint64_t *word_at(greg_t address) {
    return (uint64_t *)(uintptr_t)address; /* of the thread's own stack */
}

static uint8_t place_of(uint8_t number) {
    static const uint8_t place[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                      REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                      REG_R12, REG_R13, REG_R14, REG_R15};
    return place[number & 15];
}

static void save(greg_t *r, uint8_t number) {
    uint64_t value = (uint64_t)r[place_of(number)];
    r[REG_RSP] -= 8;
    *word_at(r[REG_RSP]) = value;
}

void trap_step_return(void *context) {
    greg_t *r = REGISTERS(context);
    r[REG_RIP] = (greg_t)*word_at(r[REG_RSP]);
    r[REG_RSP] += 8;
}

bool trap_step_is_to_do(const struct trap_step *s, const void *context) {
    const greg_t *r = REGISTERS(context);
    if (s->kind == TRAP_STEP_PUSH && s->bytes == 1)
        return *word_at(r[REG_RSP]) != (uint64_t)r[place_of(s->a)];
    return s->kind != TRAP_STEP_SKIP || s->bytes > 1;
}

void trap_step_do(const struct trap_step *s, uintptr_t at, void *context) {
    greg_t *r = REGISTERS(context);
    registers_set_pc(context, at + s->bytes);
    switch (s->kind) {
    case TRAP_STEP_PUSH:
        save(r, s->a);
        break;
    case TRAP_STEP_STACK:
        r[REG_RSP] -= s->amount;
        break;
    case TRAP_STEP_JUMP:
        registers_set_pc(context, at + (uintptr_t)(intptr_t)s->amount);
        break;
    case TRAP_STEP_RETURN:
        trap_step_return(context);
        break;
    case TRAP_STEP_NONE:
        registers_set_pc(context, at);
        break;
    default:
        break;
    }
}

uint64_t trap_argument(const void *context, int n) {
    static const uint8_t place[5] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8};
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[place[n]];
}

#elif defined(__aarch64__)

#define REGISTERS(context) (&((ucontext_t *)(context))->uc_mcontext)
#define LINK 30

static int32_t signed_bits(uint32_t i, int low, int bits) {
    return (int32_t)(i << (32 - low - bits)) >> (32 - bits);
}

struct trap_step trap_step_read(const uint8_t *c) {
    uint32_t i = c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 | (uint32_t)c[3] << 24;
    struct trap_step s = {TRAP_STEP_NONE, .bytes = 4};
    if (i == 0xd503201f || (i & 0xffffff3f) == 0xd503241f) { /* nop, bti */
        s.kind = TRAP_STEP_SKIP;
    } else if (i == 0xd503233f) { /* paciasp */
        s.kind = TRAP_STEP_SIGN;
    } else if ((i & 0xffe003e0) == 0xa9a003e0) { /* stp xA, xB, [sp, #-N]! */
        s.kind = TRAP_STEP_PUSH;
        s.a = i & 31;
        s.b = i >> 10 & 31;
        s.amount = -8 * signed_bits(i, 15, 7);
    } else if ((i & 0xff8003ff) == 0xd10003ff) { /* sub sp, sp, #N */
        s.kind = TRAP_STEP_STACK;
        s.amount = (int32_t)((i >> 10 & 0xfff) << (i >> 22 & 1 ? 12 : 0));
    } else if ((i & 0xfc000000) == 0x14000000) { /* b */
        s.kind = TRAP_STEP_JUMP;
        s.amount = 4 * signed_bits(i, 0, 26);
    } else if (i == 0xd65f03c0) {
        s.kind = TRAP_STEP_RETURN;
    }
    return s;
}

static uint64_t value(const mcontext_t *m, uint8_t number) {
    return number < 31 ? m->regs[number] : 0;
}

void trap_step_return(void *context) {
    mcontext_t *m = REGISTERS(context);
    m->pc = m->regs[LINK];
}

/* With the process's own key, which the handler has too; a no-op where the processor has none. */
static uint64_t sign(uint64_t address, uint64_t sp) {
    register uint64_t x17 __asm__("x17") = address;
    register uint64_t x16 __asm__("x16") = sp;
    __asm__("hint #8" : "+r"(x17) : "r"(x16)); /* pacia1716 */
    return x17;
}

/* The pc stays at the breakpoint. */
bool trap_step_is_to_do(const struct trap_step *s, const void *context) {
    (void)s;
    (void)context;
    return false;
}

void trap_step_do(const struct trap_step *s, uintptr_t at, void *context) {
    mcontext_t *m = REGISTERS(context);
    m->pc = at + s->bytes;
    switch (s->kind) {
    case TRAP_STEP_PUSH: {
        uint64_t a = value(m, s->a), b = value(m, s->b);
        m->sp -= (unsigned long long)s->amount;
        ((uint64_t *)m->sp)[0] = a;
        ((uint64_t *)m->sp)[1] = b;
        break;
    }
    case TRAP_STEP_STACK:
        m->sp -= (unsigned long long)s->amount;
        break;
    case TRAP_STEP_JUMP:
        m->pc = at + (uint64_t)(int64_t)s->amount;
        break;
    case TRAP_STEP_RETURN:
        trap_step_return(context);
        break;
    case TRAP_STEP_SIGN:
        m->regs[LINK] = sign(m->regs[LINK], m->sp);
        break;
    case TRAP_STEP_NONE:
        m->pc = at;
        break;
    default:
        break;
    }
}

uint64_t trap_argument(const void *context, int n) {
    return REGISTERS((void *)(uintptr_t)context)->regs[n];
}

#else
#error "no breakpoints for this architecture"
#endif
