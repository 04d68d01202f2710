/*
 * Emulates the first instruction of a function, which a breakpoint has replaced, for the thread
 * that ran into it. It supports only instructions with which functions usually begin, and whose
 * effect can be computed from the registers and the address: marks for branch targets, saving a
 * register, making room on the stack, jumps and returns. At a function's entry no code reads the
 * condition flags, so they are not computed.
 *
 * Sources: Intel's Software Developer's Manual, volume 2; Arm's Architecture Reference Manual.
 *
 * Context: signal-safe; does not call libc.
 */
#ifndef JTOP_AGENT_PATCH_TRAP_STEP_H
#define JTOP_AGENT_PATCH_TRAP_STEP_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)
#define TRAP_BYTES 4 /* brk #0 */
#define TRAP_AHEAD 0 /* bytes from the breakpoint to the pc in the signal context */
typedef uint32_t trap_word;
#define TRAP_WORD 0xd4200000u
#else
#define TRAP_BYTES 1 /* int3 */
#define TRAP_AHEAD 1
typedef uint8_t trap_word;
#define TRAP_WORD 0xccu
#endif

#define TRAP_CODE_BYTES 8 /* bytes that trap_step_read reads */

enum trap_step_kind {
    TRAP_STEP_NONE = 0, /* cannot be emulated */
    TRAP_STEP_SKIP,     /* does nothing */
    TRAP_STEP_PUSH,     /* saves register `a`, or `a` and `b`, `amount` bytes further down */
    TRAP_STEP_STACK,    /* allocates `amount` bytes on the stack */
    TRAP_STEP_JUMP,     /* to `amount` from the instruction's beginning */
    TRAP_STEP_RETURN,
    TRAP_STEP_SIGN, /* aarch64: signs the return address */
};

struct trap_step {
    enum trap_step_kind kind;
    uint8_t bytes; /* of the instruction */
    uint8_t a, b;  /* register numbers of the architecture */
    int32_t amount;
};

struct trap_step trap_step_read(const uint8_t *code);

/* Applies the step to the context of a thread whose next instruction is the one at `at`. */
/* Where another SIGTRAP came with the pc just behind a breakpoint: whether the breakpoint was hit, and
 * the instruction is still to be done. The kernel queues a SIGTRAP only once, so one that is already
 * to come (of perf, or sent by a thread) takes the place of the breakpoint's. False: the thread is
 * there because it has carried out the instruction. */
bool trap_step_is_to_do(const struct trap_step *s, const void *context);
void trap_step_do(const struct trap_step *s, uintptr_t at, void *context);

/* Changes the context of a thread at the beginning of a function as if the function had
 * returned. */
void trap_step_return(void *context);

/* Returns argument `n` (0 to 4) of the function: integers and pointers only. */
uint64_t trap_argument(const void *context, int n);

#endif
