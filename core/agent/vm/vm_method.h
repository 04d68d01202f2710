/*
 * HotSpot's methods: what identifies one, and its names (source: method.hpp, constMethod.hpp,
 * constantPool.hpp, symbol.hpp, JDK 8-28).
 *
 * The frame on the stack keeps the method's class alive, so the names are copied the first time
 * the method is seen on one. A Method* alone does not identify a method: after a class is
 * unloaded another one may lie at the same address. So its identity is a hash over the address,
 * the constant part's, and its and its class's name symbols with the symbols' own random bits.
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

/* False if `method` does not lead to a method with names. `strict` also wants what holds them to
 * be a constant pool, with a tag for each entry and those of the names for text: the test for an
 * address that may be anything. A method that was replaced by a redefinition of its class passes
 * it. Its pool has the class for its holder, which has got another pool. */
bool method_look(const struct vm *vm, uintptr_t method, bool strict, struct method_view *out);

/* The bci that `bcp` stands for in this method, or -1. */
int32_t method_bci(const struct vm *vm, const struct method_view *m, uintptr_t bcp);

/* Length of a symbol's text. */
uint32_t symbol_length(const struct vm *vm, uintptr_t symbol);

static inline uintptr_t symbol_text(const struct vm *vm, uintptr_t symbol) {
    return symbol + (uintptr_t)vm->at.symbol_body;
}

/* The method's line table as pairs of bci and line, at most `max` pairs; returns their number. With
 * `out` NULL it only counts. */
uint32_t method_lines(const struct vm *vm, const struct method_view *m, uint16_t (*out)[2],
                      uint32_t max);

uint16_t method_flags(const struct vm *vm, uintptr_t method);

#endif
