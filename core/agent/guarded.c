#include "core/agent/guarded.h"

#include "core/agent/registers.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

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

static struct {
    struct sigaction before[2]; /* of SIGSEGV, SIGBUS */
    bool in_chain[2];           /* we are, or somebody in front of us may call us */
    _Atomic uint64_t faults;
} guarded;

static const int guarded_signal[2] = {SIGSEGV, SIGBUS};

static void pass_on(int signo, siginfo_t *info, void *context) {
    const struct sigaction *before = &guarded.before[signo == SIGBUS];
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signo, info, context);
    } else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
        /* Nobody would have handled it: let the instruction fault again, with the default. */
        struct sigaction dfl = {.sa_handler = SIG_DFL};
        sigaction(signo, &dfl, NULL);
    } else {
        before->sa_handler(signo);
    }
}

static void on_fault(int signo, siginfo_t *info, void *context) {
    uintptr_t pc = registers_pc(context);
    if (pc >= (uintptr_t)guarded_begin && pc < (uintptr_t)guarded_end) {
        atomic_fetch_add_explicit(&guarded.faults, 1, memory_order_relaxed);
        registers_set_pc(context, pc >= (uintptr_t)guarded_copy_begin ? (uintptr_t)guarded_rest
                                                                      : (uintptr_t)guarded_zero);
        return;
    }
    pass_on(signo, info, context);
}

int guarded_install(void) {
    for (int i = 0; i < 2; i++) {
        struct sigaction now;
        if (sigaction(guarded_signal[i], NULL, &now) != 0)
            return -errno;
        if (guarded.in_chain[i]) {
            /* Somebody stands in front of us and may call us: what we pass on to must stay what it
             * was, and our own faults would go to them first. */
            if (now.sa_sigaction != on_fault)
                return -EBUSY;
            continue;
        }
        guarded.before[i] = now;
        now.sa_flags |= SA_SIGINFO;
        now.sa_sigaction = on_fault;
        if (sigaction(guarded_signal[i], &now, NULL) != 0)
            return -errno;
        guarded.in_chain[i] = true;
    }
    return 0;
}

void guarded_remove(void) {
    for (int i = 0; i < 2; i++) {
        struct sigaction now;
        if (guarded.in_chain[i] && sigaction(guarded_signal[i], NULL, &now) == 0 &&
            now.sa_sigaction == on_fault &&
            sigaction(guarded_signal[i], &guarded.before[i], NULL) == 0)
            guarded.in_chain[i] = false;
    }
}

uint64_t guarded_faults(void) {
    return atomic_load_explicit(&guarded.faults, memory_order_relaxed);
}
