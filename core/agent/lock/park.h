/*
 * Replaces the native function of Unsafe.park by one of ours, and restores it.
 *
 * The address of a method's native function is stored after the Method in memory. That word must be
 * a function of the VM before ours replaces it, and it is again afterwards. It is changed with
 * JNI's RegisterNatives (boot_natives.h), which makes the VM discard compiled calls of the old
 * function.
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
    uintptr_t slot;         /* address of that word; 0: not known */
    park_function original; /* kept: threads may be in ours even after the restore */
    jvmtiEnv *jvmti;
    jvmtiEventCallbacks *callbacks;
};

/* 0, or -errno with the reason in `why` and nothing changed. */
int park_replace(struct park *p, const struct vm *vm, park_function ours, JNIEnv *jni, char *why,
                 size_t why_bytes);
/* False: another tool has replaced our function in the meantime, and may call it. Then nothing is
 * restored. */
bool park_restore(struct park *p, park_function ours, JNIEnv *jni);

#endif
