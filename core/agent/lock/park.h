/*
 * Putting a function of ours in the place of Unsafe.park's native one, and back.
 *
 * The native function of a method stands behind the Method in memory: the word there must be a
 * function of the VM before ours replaces it, and be that again afterwards. It is changed through
 * JNI's RegisterNatives (boot_natives.h), which makes the VM give up compiled calls of the old one.
 *
 * Source: method.hpp, jni.cpp (jni_RegisterNatives), JDK 8-28.
 * Context: the agent's thread, and VMDeath.
 */
#ifndef JTOP_AGENT_LOCK_PARK_H
#define JTOP_AGENT_LOCK_PARK_H

#include "core/agent/vm/vm_structs.h"

#include <jvmti.h>

typedef void(JNICALL *park_function)(JNIEnv *, jobject unsafe, jboolean absolute, jlong time);

struct park {
    uintptr_t slot;         /* where the VM keeps the function; 0: not known */
    park_function original; /* stays, since threads may be in ours after it was put back */
    jvmtiEnv *jvmti;
    jvmtiEventCallbacks *callbacks;
};

/* 0, or -errno with the reason in `why` and nothing changed. */
int park_replace(struct park *p, const struct vm *vm, park_function ours, JNIEnv *jni, char *why,
                 size_t why_bytes);
/* False: another agent has replaced ours meanwhile, and may call it; it stays. */
bool park_restore(struct park *p, park_function ours, JNIEnv *jni);

#endif
