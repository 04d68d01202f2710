/*
 * Classes of one name, told apart for --precise by the Klass they stand for.
 *
 * Source: javaClasses.hpp, JDK 8-28.
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_CLASS_H
#define JTOP_AGENT_PRECISE_PRECISE_CLASS_H

#include "core/agent/vm/vm_structs.h"

#include <jni.h>

/* Where a java.lang.Class says which Klass it stands for: an offset, 0 where that, or where objects
 * are, is not known (before JDK 21). */
uint32_t precise_klass_offset(const struct vm *vm);

/* Whether `c` stands for this Klass, whose name is this symbol. A collector may move the object
 * between two loads: then it looks again, a few times. */
bool precise_class_is(const struct vm *vm, uint32_t klass_offset, jclass c, uintptr_t klass,
                      uintptr_t name);

#endif
