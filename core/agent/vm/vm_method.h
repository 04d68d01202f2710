/*
 * HotSpot's methods: their identity and their names (source: method.hpp, constMethod.hpp,
 * constantPool.hpp, symbol.hpp, JDK 8-28).
 *
 * A frame on a stack keeps the class of its method alive, so the names are copied when a method is
 * first seen on a stack. A Method* alone does not identify a method: when its class was unloaded,
 * another method may have the same address. So the identity is a hash of that address, of the
 * ConstMethod's address, and of the symbols of the class's and the method's name, including the
 * symbols' random bits.
 *
 * Context: signal-safe; every read is guarded.
 */
#ifndef JTOP_AGENT_VM_VM_METHOD_H
#define JTOP_AGENT_VM_VM_METHOD_H

#include "core/agent/vm/vm_structs.h"

struct method_view {
    uintptr_t method, const_method;
    uintptr_t class_symbol, name_symbol, signature_symbol;
    uint64_t identity; /* never 0 */
};

/* Reads a method. False: `method` does not point to a method with names. `strict` is for an address
 * that may be anything: the names must also be in a constant pool that has a tag for each entry,
 * and tags for text at the names. A method that was replaced by a redefinition of its class passes
 * this test: the holder of its pool is the class, although the class now has another pool. */
bool method_look(const struct vm *vm, uintptr_t method, bool strict, struct method_view *out);

/* Returns the bytecode index of the pointer `bcp` in this method, or -1. */
int32_t method_bci(const struct vm *vm, const struct method_view *m, uintptr_t bcp);

/* Length of a symbol's text, in bytes. */
uint32_t symbol_length(const struct vm *vm, uintptr_t symbol);

static inline uintptr_t symbol_text(const struct vm *vm, uintptr_t symbol) {
    return symbol + (uintptr_t)vm->at.symbol_body;
}

/* Reads the method's line table as pairs of bytecode index and line, at most `max` pairs. Returns
 * their number. If `out` is NULL, only counts them. */
uint32_t method_lines(const struct vm *vm, const struct method_view *m, uint16_t (*out)[2],
                      uint32_t max);

uint16_t method_flags(const struct vm *vm, uintptr_t method);

#endif
