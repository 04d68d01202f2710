/*
 * The machine's registers as the kernel hands them to a signal handler, by their meaning in
 * HotSpot's frames.
 *
 * Context: signal-safe.
 */
#ifndef JTOP_AGENT_REGISTERS_H
#define JTOP_AGENT_REGISTERS_H

#include <stdint.h>
#include <ucontext.h>

struct registers {
    uintptr_t pc, sp, fp;
    uintptr_t lr;  /* return address of a leaf; 0 where the architecture keeps it on the stack */
    uintptr_t bcp; /* the interpreter's bytecode pointer, when it is the interpreter that runs */
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
    };
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
    };
}

#else
#error "no register layout for this architecture"
#endif

#endif
