/*
 * The method that a compiler thread is compiling (source: compilerThread.hpp, ciEnv.hpp,
 * compileTask.hpp, JDK 8-28): CompilerThread::_env → ciEnv::_task → CompileTask::_method.
 *
 * The VM hides its compiler threads from JVMTI. The agent recognizes them by their C++ vtable: it
 * is the vtable of those threads in the VM's own list that have the kernel's name of a C1 or C2
 * compiler thread.
 *
 * Context: compiler_learn in the agent's thread or an attach callback; compiler_method is
 * signal-safe, in the compiler thread itself.
 */
#ifndef JTOP_AGENT_VM_VM_COMPILER_H
#define JTOP_AGENT_VM_VM_COMPILER_H

#include "core/agent/vm/vm_structs.h"

/* Finds what compiler_method needs. If no compiler thread was running yet, it may be called again
 * when new threads start; handlers may run at the same time. */
void compiler_learn(struct vm *vm);

/* Returns the Method* that the calling thread is compiling; 0: it is not a compiler thread, or it
 * is idle. */
uintptr_t compiler_method(const struct vm *vm);

#endif
