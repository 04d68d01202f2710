/*
 * Which virtual thread a carrier runs at this moment, by Thread.getId(), and its name (source:
 * javaThread.hpp, javaClasses.cpp, java.lang.Thread and VirtualThread, JDK 21-28).
 *
 * JavaThread::_vthread is the current thread's object, the carrier's own or a virtual thread's. A
 * collector may move it while we look: what is read counts only if the object's own
 * carrierThread leads back to the carrier.
 *
 * There may be millions of virtual threads: whose name was announced is remembered for as many as
 * a cache of fixed size can hold. The others are announced again, which does no harm.
 *
 * Context: virtual_thread_learn in a Java thread at attach; the rest is signal-safe, in any thread:
 * what another thread carries may have changed when the answer is there.
 */
#ifndef JTOP_AGENT_WALK_VIRTUAL_THREAD_H
#define JTOP_AGENT_WALK_VIRTUAL_THREAD_H

#include "core/agent/walk/names.h"

#include <jni.h>

#define VIRTUAL_NAME_BYTES 256 /* of a name, at most */

/* Fills vm->virtual_threads, after oop_learn; `known` stays false if this VM has none. */
void virtual_thread_learn(struct vm *vm, JNIEnv *jni);

/* The id of the virtual thread that a thread carries, the calling one or another, 0: none.
 * Announces its name with `tid` as the carrier, unless that was done lately; an empty one if it
 * has none. */
uint64_t virtual_thread_current(const struct vm *vm, struct names *names, uintptr_t java_thread,
                                uint32_t tid);

#endif
