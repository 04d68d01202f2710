/*
 * Which virtual thread a carrier runs at this moment, by Thread.getId(), and its name (source:
 * javaThread.hpp, javaClasses.cpp, java.lang.Thread and VirtualThread, JDK 21-28).
 *
 * JavaThread::_vthread is the current thread's object, _threadObj the carrier's own. Both are oops
 * in handles that a collector may change while we look: what is read is believed only if the
 * object's own carrierThread leads back to the carrier.
 *
 * Context: virtual_thread_learn in a Java thread at attach; the rest is signal-safe, in the
 * carrier itself.
 */
#ifndef JTOP_AGENT_VIRTUAL_THREAD_H
#define JTOP_AGENT_VIRTUAL_THREAD_H

#include "core/agent/names.h"

#include <jni.h>

/* Fills vm->virtual_threads; `known` stays false where this VM has none. */
void virtual_thread_learn(struct vm *vm, JNIEnv *jni);

/* The id of the virtual thread that the calling thread carries, 0: none. Announces its name with
 * `tid` as the carrier, unless that was done lately. */
uint64_t virtual_thread_current(const struct vm *vm, struct names *names, uintptr_t java_thread,
                                uint32_t tid);

#endif
