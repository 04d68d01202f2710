/*
 * Distinguishes classes of the same name, for --precise, by their Klass.
 *
 * Source: javaClasses.hpp, JDK 8-28.
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_CLASS_H
#define JTOP_AGENT_PRECISE_PRECISE_CLASS_H

#include "core/agent/vm/vm_structs.h"

#include <jni.h>

/* Returns the offset of the Klass* in a java.lang.Class; 0: this offset or the form of references
 * is not known; the VM has the offset in its tables from JDK 21 on. */
uint32_t precise_klass_offset(const struct vm *vm);

/* Whether `c` is the java.lang.Class of this Klass, whose name is the symbol `name`. A collector
 * may move the object between two loads; then the function tries again, a few times. */
bool precise_class_is(const struct vm *vm, uint32_t klass_offset, jclass c, uintptr_t klass,
                      uintptr_t name);

#endif
