/*
 * HotSpot's generated code: which blob a program counter is in, and what a compiled method's data
 * tell about its frames (source: codeCache.cpp, codeBlob.hpp, nmethod.hpp, pcDesc.hpp,
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
    uint32_t frame_words;   /* size of its frame; 0: the size is not fixed */
    int32_t frame_complete; /* bytes from begin until the frame is set up; -1: not known */
    uint32_t level;         /* 1-3: C1, 4: C2, for CODE_COMPILED */
};

static inline bool code_contains(const struct vm *vm, uintptr_t pc) {
    return pc >= vm->code_low && pc < vm->code_high;
}

/* Finds the code that `pc` is in. Kind CODE_NONE: there is no live code. */
struct code code_find(const struct vm *vm, uintptr_t pc);

/* A method at a program counter; with inlining there are several. */
struct code_scope {
    uintptr_t method;
    int32_t bci; /* < 0: none */
};

/* Finds the scopes at `pc` of compiled code, innermost first, at most `max`. Returns their number;
 * 0: the VM has no description. *of_pc (if not NULL) becomes true if the VM describes exactly this
 * pc, as it does for return addresses. If it becomes false, the scopes are those of the next
 * described pc. */
uint32_t code_scopes(const struct vm *vm, const struct code *c, uintptr_t pc, bool *of_pc,
                     struct code_scope *out, uint32_t max);

/* True if `pc` can be the return address of a call from Java code. The test is strict enough to
 * search a stack for return addresses. */
bool code_is_return_address(const struct vm *vm, uintptr_t pc);
/* The same, if the code that contains `pc` is known. */
bool code_is_return(const struct code *c, uintptr_t pc);

/* True if the instruction before `pc` is a call. */
bool code_follows_call(uintptr_t pc);

/* True if the call before this return address is a direct call of a compiled method. */
bool code_called_method(const struct vm *vm, uintptr_t pc);

/* True for the VM's hand-written routines: copies, mathematics, cryptography. */
bool code_is_routine(const struct vm *vm, const struct code *c);

/* Returns the Method* that a compiled blob was compiled from. */
uintptr_t code_method(const struct vm *vm, const struct code *c);

/* The return address of a deoptimized frame points to a handler; the original one is stored in the
 * frame. Returns the original one, or `pc` if the frame is not deoptimized. `sp`: the frame's stack
 * pointer. */
uintptr_t code_original_pc(const struct vm *vm, const struct code *c, uintptr_t pc, uintptr_t sp);

#endif
