/*
 * The ID (Thread.getId()) and name of the virtual thread that a carrier runs at this moment
 * (source: javaThread.hpp, javaClasses.cpp, java.lang.Thread and VirtualThread, JDK 21-28).
 *
 * JavaThread::_vthread refers to the object of the current thread: the carrier's own, or a virtual
 * thread's. The garbage collector may move the object while it is read. The result is accepted only
 * if the object's carrierThread leads back to the carrier.
 *
 * There may be millions of virtual threads. A cache of fixed size holds the threads whose names
 * were announced. Threads that are no longer in it are announced again, which does no harm.
 *
 * Context: virtual_thread_learn in a Java thread at attach; the rest is signal-safe, in any thread.
 * The result for another thread may be outdated as soon as the function returns.
 */
#ifndef JTOP_AGENT_WALK_VIRTUAL_THREAD_H
#define JTOP_AGENT_WALK_VIRTUAL_THREAD_H

#include "core/agent/walk/names.h"

#include <jni.h>

#define VIRTUAL_NAME_BYTES 256 /* maximum length of a name */

/* Fills vm->virtual_threads; call it after oop_learn. `known` stays false if this VM has none. */
void virtual_thread_learn(struct vm *vm, JNIEnv *jni);

/* Returns the ID of the virtual thread that a thread (the calling one or another) carries; 0: none.
 * Announces its name, which may be empty, with `tid` as the carrier, unless that was done
 * recently. */
uint64_t virtual_thread_current(const struct vm *vm, struct names *names, uintptr_t java_thread,
                                uint32_t tid);

#endif
