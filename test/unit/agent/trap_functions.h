/*
 * Functions of known first instructions for the tests of breakpoints: each adds 1 to its argument;
 * empty() returns, and nothing else.
 */
#ifndef JTOP_TEST_TRAP_FUNCTIONS_H
#define JTOP_TEST_TRAP_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef long function(long x, long second, long third, long fourth, long fifth);

function with_mark, with_push, with_room, with_jump, without_step, empty, other_without_step;

#define FUNCTION(name, code)                                                                       \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" code)

#if defined(__x86_64__)
FUNCTION(with_mark, "endbr64; lea 1(%rdi), %rax; ret\n");
FUNCTION(with_push, "push %rbp; mov %rsp, %rbp; push %r12; lea 1(%rdi), %rax\n"
                    "pop %r12; pop %rbp; ret\n");
FUNCTION(with_room, "sub $0x118, %rsp; lea 1(%rdi), %rax; add $0x118, %rsp; ret\n");
FUNCTION(with_jump, "jmp with_mark\n");
FUNCTION(without_step, "lea 1(%rdi), %rax; ret\n");
FUNCTION(other_without_step, "lea 1(%rdi), %rax; ret\n");
FUNCTION(empty, "ret\n");
#elif defined(__aarch64__)
FUNCTION(with_mark, "bti c; add x0, x0, #1; ret\n");
FUNCTION(with_push, "stp x29, x30, [sp, #-32]!; mov x29, sp; add x0, x0, #1\n"
                    "ldp x29, x30, [sp], #32; ret\n");
FUNCTION(with_room, "sub sp, sp, #0x110; add x0, x0, #1; add sp, sp, #0x110; ret\n");
FUNCTION(with_jump, "b with_mark\n");
FUNCTION(without_step, "add x0, x0, #1; ret\n");
FUNCTION(other_without_step, "add x0, x0, #1; ret\n");
FUNCTION(empty, "ret\n");
#endif

static inline uintptr_t address_of(function *f) {
    return (uintptr_t)f;
}

#endif
