/*
 * CPU registers of a signal context, named by their use in HotSpot's frames.
 *
 * Context: signal-safe.
 */
#ifndef JTOP_AGENT_PROCESS_REGISTERS_H
#define JTOP_AGENT_PROCESS_REGISTERS_H

#include "core/agent/process/guarded.h"

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct registers {
    uintptr_t pc, sp, fp;
    uintptr_t lr;       /* return address of a leaf; 0 if the architecture keeps it on the stack */
    uintptr_t bcp;      /* the interpreter's bytecode pointer, if the interpreter was running */
    uintptr_t receiver; /* `this`, if a Java method has just been called; set only by registers_read
                           and registers_saved */
};

#if defined(__x86_64__)

static inline uintptr_t registers_pc(const void *context) {
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static inline void registers_set_pc(void *context, uintptr_t pc) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

static inline struct registers registers_read(const void *context) {
    const greg_t *r = ((const ucontext_t *)context)->uc_mcontext.gregs;
    return (struct registers){
        .pc = (uintptr_t)r[REG_RIP],
        .sp = (uintptr_t)r[REG_RSP],
        .fp = (uintptr_t)r[REG_RBP],
        .bcp = (uintptr_t)r[REG_R13],
        .receiver = (uintptr_t)r[REG_RSI],
    };
}

/* In a handler's return trampoline, the stack pointer points to the ucontext_t. */
#define REGISTERS_UCONTEXT_OFFSET 0u
#define REGISTERS_SLOT(n) (offsetof(ucontext_t, uc_mcontext.gregs) + sizeof(greg_t) * (n))

static inline struct registers registers_saved(uintptr_t context) {
    return (struct registers){
        .pc = guarded_load64(context + REGISTERS_SLOT(REG_RIP)),
        .sp = guarded_load64(context + REGISTERS_SLOT(REG_RSP)),
        .fp = guarded_load64(context + REGISTERS_SLOT(REG_RBP)),
        .bcp = guarded_load64(context + REGISTERS_SLOT(REG_R13)),
        .receiver = guarded_load64(context + REGISTERS_SLOT(REG_RSI)),
    };
}

/* mov $__NR_rt_sigreturn, %eax; syscall */
static inline int registers_is_trampoline(uintptr_t pc) {
    return guarded_load64(pc) == 0x0f0000000fc0c748 && (guarded_load32(pc + 8) & 0xff) == 0x05;
}

/* Where a thread was interrupted at the first instruction of a signal handler, the context of what
 * that signal has interrupted; otherwise `context`. The kernel passes the handler the address of the
 * saved context, which lies above its return address. Faults must be deliverable. */
static inline void *registers_before_handler(void *context) {
    const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t sp = (uintptr_t)r[REG_RSP], saved = sp + 8;
    return (uintptr_t)r[REG_RDX] == saved && registers_is_trampoline(guarded_load64(sp))
               ? (void *)saved
               : context;
}

/* Converts a return address from memory or a register to a code address. */
static inline uintptr_t registers_code_address(uintptr_t word) {
    return word;
}

#elif defined(__aarch64__)

static inline uintptr_t registers_pc(const void *context) {
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
}

static inline void registers_set_pc(void *context, uintptr_t pc) {
    ((ucontext_t *)context)->uc_mcontext.pc = pc;
}

static inline struct registers registers_read(const void *context) {
    const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
    return (struct registers){
        .pc = (uintptr_t)m->pc,
        .sp = (uintptr_t)m->sp,
        .fp = (uintptr_t)m->regs[29],
        .lr = (uintptr_t)m->regs[30],
        .bcp = (uintptr_t)m->regs[22],
        .receiver = (uintptr_t)m->regs[1],
    };
}

/* The kernel's signal frame: a siginfo_t, then the ucontext_t. */
#define REGISTERS_UCONTEXT_OFFSET 128u
#define REGISTERS_SLOT(n) (offsetof(ucontext_t, uc_mcontext.regs) + 8u * (n))

static inline struct registers registers_saved(uintptr_t context) {
    return (struct registers){
        .pc = guarded_load64(context + offsetof(ucontext_t, uc_mcontext.pc)),
        .sp = guarded_load64(context + offsetof(ucontext_t, uc_mcontext.sp)),
        .fp = guarded_load64(context + REGISTERS_SLOT(29)),
        .lr = guarded_load64(context + REGISTERS_SLOT(30)),
        .bcp = guarded_load64(context + REGISTERS_SLOT(22)),
        .receiver = guarded_load64(context + REGISTERS_SLOT(1)),
    };
}

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static inline int registers_is_trampoline(uintptr_t pc) {
    return guarded_load64(pc) == 0xd4000001d2801168;
}

static inline void *registers_before_handler(void *context) {
    const mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
    uintptr_t saved = (uintptr_t)m->sp + REGISTERS_UCONTEXT_OFFSET;
    return (uintptr_t)m->regs[2] == saved && registers_is_trampoline((uintptr_t)m->regs[30])
               ? (void *)saved
               : context;
}

/* Converts a return address from memory or a register to a code address. With pointer
 * authentication, the bits above bit 47 hold a signature; they are removed. */
static inline uintptr_t registers_code_address(uintptr_t word) {
    return word & ((UINT64_C(1) << 48) - 1);
}

#else
#error "no register layout for this architecture"
#endif

/* Returns the registers of the caller of the function that owns `frame`
 * (__builtin_frame_address(0)). */
static inline struct registers registers_of_caller(const void *frame) {
    const uintptr_t *saved = frame; /* the frame pointer and the return address */
    return (struct registers){
        .pc = registers_code_address(saved[1]),
        .sp = (uintptr_t)(saved + 2),
        .fp = saved[0],
    };
}

#endif
