/*
 * The class of a Java object (source: oop.hpp, compressedKlass.hpp, markWord.hpp, JDK 8-28). It is
 * a pointer or a compressed pointer after the header's first word, or it is in upper bits of that
 * word (-XX:+UseCompactObjectHeaders).
 *
 * Context: klass_learn in the agent's thread or an attach callback; klass_of is signal-safe.
 */
#ifndef JTOP_AGENT_VM_VM_KLASS_H
#define JTOP_AGENT_VM_VM_KLASS_H

#include "core/agent/vm/vm_structs.h"

void klass_learn(struct vm *vm);

/* Returns the Klass* of the object that a register refers to; 0: not known. The caller must check
 * that it is a Klass*, because the object may be moved during the read. */
uintptr_t klass_of(const struct vm *vm, uint64_t reference);

#endif
