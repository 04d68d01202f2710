/*
 * The first instruction of a function that has a breakpoint in its place, done for the thread that
 * ran into it. Only those that functions usually begin with, and that do not depend on where they
 * lie: marks for branch targets, saving a register, making room on the stack, jumps and returns.
 * At a function's entry nobody reads the condition flags, so they are not computed.
 *
 * Sources: Intel's Software Developer's Manual, volume 2; Arm's Architecture Reference Manual.
 *
 * Context: signal-safe; nothing of libc.
 */
#ifndef JTOP_AGENT_PATCH_TRAP_STEP_H
#define JTOP_AGENT_PATCH_TRAP_STEP_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)
#define TRAP_BYTES 4 /* brk #0 */
#define TRAP_AHEAD 0 /* how far behind its beginning the pc is when the signal comes */
typedef uint32_t trap_word;
#define TRAP_WORD 0xd4200000u
#else
#define TRAP_BYTES 1 /* int3 */
#define TRAP_AHEAD 1
typedef uint8_t trap_word;
#define TRAP_WORD 0xccu
#endif

#define TRAP_CODE_BYTES 8 /* what trap_step_read reads */

enum trap_step_kind {
    TRAP_STEP_NONE = 0, /* cannot be done for it */
    TRAP_STEP_SKIP,     /* does nothing */
    TRAP_STEP_PUSH,     /* saves register `a`, or `a` and `b`, `amount` bytes further down */
    TRAP_STEP_STACK,    /* takes `amount` bytes of the stack */
    TRAP_STEP_JUMP,     /* to `amount` from the instruction's beginning */
    TRAP_STEP_RETURN,
    TRAP_STEP_SIGN, /* aarch64: signs the return address */
};

struct trap_step {
    enum trap_step_kind kind;
    uint8_t bytes; /* of the instruction */
    uint8_t a, b;  /* the machine's numbers of registers */
    int32_t amount;
};

struct trap_step trap_step_read(const uint8_t *code);

/* For the thread whose context this is, which stands before the instruction at `at`. */
void trap_step_do(const struct trap_step *s, uintptr_t at, void *context);

/* As if the function at whose beginning the thread stands had returned. */
void trap_step_return(void *context);

/* The function's argument, 0 to 4: integers and pointers. */
uint64_t trap_argument(const void *context, int n);

#endif
