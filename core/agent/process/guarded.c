#include "core/agent/process/guarded.h"

#include "core/agent/process/chain.h"
#include "core/agent/process/registers.h"

#include <stdatomic.h>

/* The only instructions that may fault lie between guarded_begin and guarded_end; the handler
 * continues at guarded_zero (loads) or guarded_rest (copy). */
#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".local guarded_begin, guarded_copy_begin, guarded_end, guarded_zero, guarded_rest\n"
        ".globl guarded_load64, guarded_load32, guarded_copy\n"
        ".hidden guarded_load64, guarded_load32, guarded_copy\n"
        ".type guarded_load64, @function\n"
        ".type guarded_load32, @function\n"
        ".type guarded_copy, @function\n"
        "guarded_begin:\n"
        "guarded_load64: mov (%rdi), %rax\n"
        "ret\n"
        "guarded_load32: mov (%rdi), %eax\n"
        "ret\n"
        "guarded_copy_begin:\n"
        "guarded_copy: mov %rdx, %rcx\n"
        "rep movsb\n"
        "guarded_end:\n"
        "guarded_rest: mov %rcx, %rax\n"
        "ret\n"
        "guarded_zero: xor %eax, %eax\n"
        "ret\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".p2align 4\n"
        ".local guarded_begin, guarded_copy_begin, guarded_end, guarded_zero, guarded_rest\n"
        ".globl guarded_load64, guarded_load32, guarded_copy\n"
        ".hidden guarded_load64, guarded_load32, guarded_copy\n"
        ".type guarded_load64, @function\n"
        ".type guarded_load32, @function\n"
        ".type guarded_copy, @function\n"
        "guarded_begin:\n"
        "guarded_load64: ldr x0, [x0]\n"
        "ret\n"
        "guarded_load32: ldr w0, [x0]\n"
        "ret\n"
        "guarded_copy: cbz x2, guarded_rest\n"
        "guarded_copy_begin:\n"
        "ldrb w3, [x1], #1\n"
        "strb w3, [x0], #1\n"
        "sub x2, x2, #1\n"
        "b guarded_copy\n"
        "guarded_end:\n"
        "guarded_rest: mov x0, x2\n"
        "ret\n"
        "guarded_zero: mov x0, #0\n"
        "ret\n");
#else
#error "no guarded loads for this architecture"
#endif

/* Hidden, so that no global offset table comes between: for a symbol that only the assembler knows,
 * its entry is wrong on aarch64. */
#pragma GCC visibility push(hidden)
extern const char guarded_begin[], guarded_copy_begin[], guarded_end[], guarded_zero[],
    guarded_rest[];
#pragma GCC visibility pop

static _Atomic uint64_t faults;

static bool on_fault(siginfo_t *info, void *context) {
    (void)info;
    uintptr_t pc = registers_pc(context);
    if (pc < (uintptr_t)guarded_begin || pc >= (uintptr_t)guarded_end)
        return false;
    atomic_fetch_add_explicit(&faults, 1, memory_order_relaxed);
    registers_set_pc(context, pc >= (uintptr_t)guarded_copy_begin ? (uintptr_t)guarded_rest
                                                                  : (uintptr_t)guarded_zero);
    return true;
}

static struct chain_place places[2][CHAIN_PLACES];
static struct chain chains[] = {
    {.signo = SIGSEGV, .handle = on_fault, .flags = -1, .place = places[0]},
    {.signo = SIGBUS, .handle = on_fault, .flags = -1, .place = places[1]}};
#define CHAINS (sizeof chains / sizeof chains[0])

int guarded_install(void) {
    for (size_t i = 0; i < CHAINS; i++) {
        int r = chain_enter(&chains[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

void guarded_remove(void) {
    for (size_t i = 0; i < CHAINS; i++)
        chain_leave(&chains[i]);
}

void guarded_know_vm(int (*handle)(int, siginfo_t *, void *, int)) {
    for (size_t i = 0; i < CHAINS; i++)
        chains[i].vm = handle;
}

uint64_t guarded_faults(void) {
    return atomic_load_explicit(&faults, memory_order_relaxed);
}
