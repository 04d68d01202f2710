/*
 * What a compiler thread is compiling (source: compilerThread.hpp, ciEnv.hpp, compileTask.hpp,
 * JDK 8-28): CompilerThread::_env → ciEnv::_task → CompileTask::_method.
 *
 * The VM hides its compiler threads from JVMTI. They are known by their class: its vtable is that
 * of the threads in the VM's own list that the kernel knows as C1 or C2 compiler threads.
 *
 * Context: compiler_learn in the agent's thread or an attach callback; compiler_method is
 * signal-safe, in the compiler thread itself.
 */
#ifndef JTOP_AGENT_VM_VM_COMPILER_H
#define JTOP_AGENT_VM_VM_COMPILER_H

#include "core/agent/vm/vm_structs.h"

/* Finds what compiler_method needs. Where no compiler thread runs yet it may be called again, as
 * often as threads come; handlers may run meanwhile. */
void compiler_learn(struct vm *vm);

/* The Method* that the calling thread compiles; 0: it is no compiler thread, or idle. */
uintptr_t compiler_method(const struct vm *vm);

#endif
