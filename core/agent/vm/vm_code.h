/*
 * HotSpot's generated code: which blob a program counter is in, and what a compiled method
 * records about its frames (source: codeCache.cpp, codeBlob.hpp, nmethod.hpp, pcDesc.hpp,
 * scopeDesc.cpp, debugInfo.hpp, JDK 8-28).
 *
 * Context: signal-safe; every read is guarded and every loop bounded.
 */
#ifndef JTOP_AGENT_VM_VM_CODE_H
#define JTOP_AGENT_VM_VM_CODE_H

#include "core/agent/vm/vm_structs.h"

enum code_kind {
    CODE_NONE = 0,
    CODE_INTERPRETER,
    CODE_ENTRY,    /* the call stub, by which the VM calls Java */
    CODE_COMPILED, /* a method compiled by C1 or C2 */
    CODE_NATIVE,   /* a Java native method's wrapper */
    CODE_STUB,     /* anything else */
};

struct code {
    enum code_kind kind;
    uintptr_t blob;
    uintptr_t begin, end;   /* of its instructions */
    uint32_t frame_words;   /* size of its frame; 0: has none of fixed size */
    int32_t frame_complete; /* bytes from begin until the frame stands; -1: not known */
    uint32_t level;         /* 1-3: C1, 4: C2, for CODE_COMPILED */
};

static inline bool code_contains(const struct vm *vm, uintptr_t pc) {
    return pc >= vm->code_low && pc < vm->code_high;
}

/* What `pc` is in; kind CODE_NONE: in no live code. */
struct code code_find(const struct vm *vm, uintptr_t pc);

/* One method of the (inlined) methods at a program counter. */
struct code_scope {
    uintptr_t method;
    int32_t bci; /* < 0: none */
};

/* The scopes at `pc` of compiled code, innermost first; at most `max`. Returns their number, 0: no
 * description. `of_pc`, if not NULL, tells whether the description is of this very pc, as a return
 * address's is; else it is that of the next place the VM described. */
uint32_t code_scopes(const struct vm *vm, const struct code *c, uintptr_t pc, bool *of_pc,
                     struct code_scope *out, uint32_t max);

/* True if `pc` can be the return address of a call out of Java code: the strong test that lets
 * a stack be searched for one. */
bool code_is_return_address(const struct vm *vm, uintptr_t pc);
/* The same where what `pc` is in is known already. */
bool code_is_return(const struct code *c, uintptr_t pc);

/* True if a call instruction is in front of `pc`. */
bool code_follows_call(uintptr_t pc);

/* True if the call in front of this return address goes straight to a compiled method. */
bool code_called_method(const struct vm *vm, uintptr_t pc);

/* True in one of the VM's hand-written routines: copies, mathematics, cryptography. */
bool code_is_routine(const struct vm *vm, const struct code *c);

/* The method a compiled blob was made of. */
uintptr_t code_method(const struct vm *vm, const struct code *c);

/* A deoptimized frame's return address points to its handler; the true one is in the frame. Gives
 * `pc` itself if it is no such address. `sp` is the frame's own stack pointer. */
uintptr_t code_original_pc(const struct vm *vm, const struct code *c, uintptr_t pc, uintptr_t sp);

#endif
