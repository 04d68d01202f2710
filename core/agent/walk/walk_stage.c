#include "core/agent/walk/walk_stage.h"

#include <string.h>

/* ---- x86_64: instructions of any length, little endian ---- */

#define RET 0xc3
#define RET_IMMEDIATE 0xc2
#define PUSH_RBP 0x55
#define POP_RBP 0x5d
#define POLL_INSTRUCTIONS_MAX 3 /* of ten bytes at most: STAGE_BYTES_BEHIND holds them */

static bool is_sub_rsp(const uint8_t *b) {
    return b[0] == 0x48 && (b[1] == 0x81 || b[1] == 0x83) && b[2] == 0xec;
}

/* The instructions by which a method that returns asks whether a safepoint is wanted. */
static uint32_t poll_bytes(const uint8_t *b) {
    static const struct {
        uint8_t begin[3];
        uint8_t begin_bytes, bytes;
    } poll[] = {
        {{0x49, 0x3b, 0x67}, 3, 4}, /* cmp rsp, [r15 + disp8] */
        {{0x49, 0x3b, 0xa7}, 3, 7}, /* cmp rsp, [r15 + disp32] */
        {{0x0f, 0x87}, 2, 6},       /* ja the slow path */
        {{0x85, 0x05}, 2, 6},       /* test [rip + disp32], eax */
        {{0x49, 0xba}, 2, 10},      /* mov r10, the polling page */
        {{0x4d, 0x8b, 0x97}, 3, 7}, /* mov r10, [r15 + disp32] */
        {{0x41, 0x85, 0x02}, 3, 3}, /* test [r10], eax */
    };
    for (uint32_t i = 0; i < sizeof poll / sizeof poll[0]; i++)
        if (memcmp(b, poll[i].begin, poll[i].begin_bytes) == 0)
            return poll[i].bytes;
    return 0;
}

static bool is_jump(const uint8_t *b) { /* near, short, or by a register */
    if (b[0] == 0x41)
        b++;
    return b[0] == 0xe9 || b[0] == 0xeb || (b[0] == 0xff && (b[1] & 0xf8) == 0xe0);
}

/* [stack bang]; push rbp; sub rsp, N — or sub rsp, N; mov [rsp + …], rbp. */
static enum frame_stage prologue_x86_64(const struct stage_code *c) {
    bool pushed = false;
    for (uint32_t i = 0; i < c->pc; i++) {
        if (is_sub_rsp(c->byte + i) && i + 4 <= c->pc)
            return STAGE_WHOLE;
        pushed = c->byte[i] == PUSH_RBP && i + 1 == c->pc;
    }
    return pushed ? STAGE_PUSHED : STAGE_NONE;
}

enum frame_stage stage_x86_64(const struct stage_code *c) {
    if (c->prologue)
        return prologue_x86_64(c);
    /* Epilogue: add rsp, N; pop rbp; [poll]; ret — or a jump to what passes an exception on. */
    const uint8_t *pc = c->byte + c->pc;
    if (pc[0] == POP_RBP)
        return STAGE_PUSHED;
    if (c->pc >= 1 && pc[-1] == POP_RBP && is_jump(pc))
        return STAGE_NONE;
    for (uint32_t n = 0, bytes = 0; n < POLL_INSTRUCTIONS_MAX; n++, pc += bytes) {
        if (pc[0] == RET || pc[0] == RET_IMMEDIATE)
            return STAGE_NONE;
        bytes = poll_bytes(pc);
        if (!bytes)
            break;
    }
    return STAGE_WHOLE;
}

/* ---- aarch64: instructions of four bytes ---- */

#define EPILOGUE_WORDS 8u /* its length at most, a safepoint poll included */
#define IS_RET(i) ((i) == 0xd65f03c0)
#define IS_BRANCH(i) (((i)&0xfc000000) == 0x14000000)
#define IS_SUB_SP(i) (((i)&0xff8003ff) == 0xd10003ff)     /* sub sp, sp, #… */
#define IS_SUB_SP_REG(i) (((i)&0xffe0ffff) == 0xcb2063ff) /* sub sp, sp, x… */
#define IS_ADD_SP(i) (((i)&0xff8003ff) == 0x910003ff)     /* add sp, sp, #… */
#define IS_STORE_PAIR(i) (((i)&0xffc07fff) == 0xa9007bfd) /* stp x29, x30, [sp, #…] */
#define IS_PUSH_PAIR(i) (((i)&0xffc07fff) == 0xa9807bfd)  /* stp x29, x30, [sp, #…]! */
#define IS_LOAD_PAIR(i) (((i)&0xffc07fff) == 0xa9407bfd)  /* ldp x29, x30, [sp, #…] */
#define IS_POP_PAIR(i) (((i)&0xffc07fff) == 0xa8c07bfd)   /* ldp x29, x30, [sp], #… */

static uint32_t instruction(const struct stage_code *c, uint32_t at) {
    const uint8_t *b = c->byte + at;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* sub sp, sp, #N; stp x29, x30, [sp, #N-16] — or, for large frames, stp x29, x30, [sp, #-16]!;
 * sub sp, sp, x9. Signing the return address (paciasp and the like) changes neither. */
static enum frame_stage prologue_aarch64(const struct stage_code *c) {
    enum frame_stage stage = STAGE_NONE;
    for (uint32_t at = c->pc % 4; at + 4 <= c->pc; at += 4) {
        uint32_t i = instruction(c, at);
        bool lowers = IS_SUB_SP(i) || IS_SUB_SP_REG(i);
        if (IS_PUSH_PAIR(i))
            stage = STAGE_PUSHED;
        else if (IS_STORE_PAIR(i) || (lowers && stage == STAGE_PUSHED))
            return STAGE_WHOLE;
        else if (lowers)
            stage = STAGE_ALLOCATED;
    }
    return stage;
}

/* ldp x29, x30, [sp, #N-16]; add sp, sp, #N; [poll]; ret — or add sp, sp, …; ldp x29, x30, [sp],
 * #16; [poll]; ret. */
static enum frame_stage epilogue_aarch64(const struct stage_code *c) {
    bool returns = false;
    for (uint32_t n = 0, at = c->pc; n < EPILOGUE_WORDS && at + 4 <= sizeof c->byte; n++, at += 4)
        returns = returns || IS_RET(instruction(c, at));
    if (!returns)
        return STAGE_WHOLE;
    if (IS_POP_PAIR(instruction(c, c->pc)))
        return STAGE_PUSHED;
    bool raised = false;
    for (uint32_t n = 0, at = c->pc; n < EPILOGUE_WORDS && at >= 4; n++) {
        at -= 4;
        uint32_t i = instruction(c, at);
        if (IS_RET(i) || IS_BRANCH(i))
            break;
        if (IS_POP_PAIR(i))
            return STAGE_NONE;
        if (IS_LOAD_PAIR(i))
            return raised ? STAGE_NONE : STAGE_ALLOCATED;
        raised = raised || IS_ADD_SP(i);
    }
    return STAGE_WHOLE;
}

enum frame_stage stage_aarch64(const struct stage_code *c) {
    return c->prologue ? prologue_aarch64(c) : epilogue_aarch64(c);
}
