#include "core/agent/process/guarded.h"
#include "core/agent/process/registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>

/* Known values in the registers, then an instruction that traps: what the handler sees is exactly
 * that. It lets the program go on behind it. Returns the stack pointer. */
extern const char trap_at[], trap_end[];
uintptr_t trap_with(uintptr_t fp, uintptr_t bcp, uintptr_t lr);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl trap_with, trap_at, trap_end\n"
        ".type trap_with, @function\n"
        "trap_with: push %rbp\n"
        "push %r13\n"
        "mov %rdi, %rbp\n"
        "mov %rsi, %r13\n"
        "trap_at: ud2\n"
        "trap_end: mov %rsp, %rax\n"
        "pop %r13\n"
        "pop %rbp\n"
        "ret\n");
#else
__asm__(".text\n"
        ".globl trap_with, trap_at, trap_end\n"
        ".type trap_with, %function\n"
        "trap_with: stp x29, x30, [sp, #-32]!\n"
        "str x22, [sp, #16]\n"
        "mov x29, x0\n"
        "mov x22, x1\n"
        "mov x30, x2\n"
        "trap_at: udf #0\n"
        "trap_end: mov x0, sp\n"
        "ldr x22, [sp, #16]\n"
        "ldp x29, x30, [sp], #32\n"
        "ret\n");
#endif

static struct registers seen, saved;
static uintptr_t interrupted_at, came_back_to, entered_with, context_at;
static uint32_t told_apart; /* of 4 contexts, one of which is at the handler's first instruction */

/* The registers with which the kernel has entered a handler, as another signal would save them. */
static void enter(ucontext_t *u, uintptr_t entered, uintptr_t passed, uintptr_t back) {
#if defined(__x86_64__)
    (void)back;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)(entered - 8);
    u->uc_mcontext.gregs[REG_RDX] = (greg_t)passed;
#else
    u->uc_mcontext.sp = entered;
    u->uc_mcontext.regs[2] = passed;
    u->uc_mcontext.regs[30] = back;
#endif
}

static void tell_apart(uintptr_t context, uintptr_t entered, uintptr_t back) {
    uintptr_t other[64] = {(uintptr_t)&told_apart}; /* not what a handler returns to */
    ucontext_t u = {0};
    told_apart = registers_before_handler(&u) == &u;
    enter(&u, entered, context, back);
    told_apart += registers_before_handler(&u) == (void *)context;
    enter(&u, entered, context + 8, back);
    told_apart += registers_before_handler(&u) == &u;
    enter(&u, (uintptr_t)&other[1], (uintptr_t)&other[1] + REGISTERS_UCONTEXT_OFFSET, other[0]);
    told_apart += registers_before_handler(&u) == &u;
}

static void on_trap(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)info;
    came_back_to = (uintptr_t)__builtin_return_address(0);
    entered_with = (uintptr_t)__builtin_dwarf_cfa();
    context_at = (uintptr_t)context;
    interrupted_at = registers_pc(context);
    seen = registers_read(context);
    saved = registers_saved((uintptr_t)context);
    tell_apart(context_at, entered_with, came_back_to);
    registers_set_pc(context, (uintptr_t)trap_end);
}

static void registers_by_their_meaning(void **state) {
    struct sigaction on = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    (void)state;
    assert_int_equal(sigaction(SIGILL, &on, &before), 0);
    uintptr_t sp = trap_with(0x1111, 0x2222, 0x3333);
    sigaction(SIGILL, &before, NULL);
    assert_int_equal(interrupted_at, (uintptr_t)trap_at);
    assert_int_equal(seen.pc, (uintptr_t)trap_at);
    assert_int_equal(seen.sp, sp);
    assert_int_equal(seen.fp, 0x1111);
    assert_int_equal(seen.bcp, 0x2222);
#if defined(__x86_64__)
    assert_int_equal(seen.lr, 0);
#else
    assert_int_equal(seen.lr, 0x3333);
#endif
}

/* What a walk through a signal's frame relies on: where the context lies, and what the handler
 * returns to. */
static void frame_of_a_handler(void **state) {
    struct sigaction on = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    (void)state;
    assert_int_equal(guarded_install(), 0);
    assert_int_equal(sigaction(SIGILL, &on, &before), 0);
    trap_with(0x1111, 0x2222, 0x3333);
    sigaction(SIGILL, &before, NULL);
    assert_memory_equal(&saved, &seen, sizeof seen);
    assert_int_equal(entered_with + REGISTERS_UCONTEXT_OFFSET, context_at);
    assert_true(registers_is_trampoline(came_back_to));
    assert_false(registers_is_trampoline((uintptr_t)trap_at));
    assert_int_equal(told_apart, 4);
    guarded_remove();
}

/* The registers are those of the stack that was left. */
static void alternate_stack(void **state) {
    enum { BYTES = 65536 };
    uint8_t *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction on = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction before;
    stack_t old;
    (void)state;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = BYTES}, &old), 0);
    assert_int_equal(sigaction(SIGILL, &on, &before), 0);
    uintptr_t sp = trap_with(1, 2, 3);
    sigaction(SIGILL, &before, NULL);
    sigaltstack(&old, NULL);
    assert_in_range(entered_with, (uintptr_t)memory, (uintptr_t)memory + BYTES);
    assert_int_equal(seen.sp, sp);
    munmap(memory, BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_by_their_meaning),
        cmocka_unit_test(frame_of_a_handler),
        cmocka_unit_test(alternate_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
