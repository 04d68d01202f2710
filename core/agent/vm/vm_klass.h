/*
 * The class of a Java object (source: oop.hpp, compressedKlass.hpp, markWord.hpp, JDK 8-28): a
 * pointer or a narrow one behind the header's first word, or some of that word's upper bits
 * (-XX:+UseCompactObjectHeaders).
 *
 * Context: klass_learn in the agent's thread or an attach callback; klass_of is signal-safe.
 */
#ifndef JTOP_AGENT_VM_VM_KLASS_H
#define JTOP_AGENT_VM_VM_KLASS_H

#include "core/agent/vm/vm_structs.h"

void klass_learn(struct vm *vm);

/* The Klass* of the object that a register refers to. Whether it is one is the caller's to check:
 * the object may be moved meanwhile. 0: not known. */
uintptr_t klass_of(const struct vm *vm, uint64_t reference);

#endif
