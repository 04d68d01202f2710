/*
 * Binds native methods of a JDK class without a warning. From JDK 16 on, the VM prints a warning to
 * the application's output unless code of the JDK does this. So it is done where the nearest Java
 * caller belongs to the JDK: under Object.wait. The calling thread waits for a millisecond on an
 * object that it creates, and JVMTI's MonitorWait event, enabled only for this thread, calls the
 * agent there.
 *
 * Source: jni.cpp (jni_RegisterNatives), vframe.cpp (security_get_caller_frame), JDK 8-28.
 * Context: the agent's thread, and VMDeath, with the engines' lock.
 */
#ifndef JTOP_AGENT_VM_BOOT_NATIVES_H
#define JTOP_AGENT_VM_BOOT_NATIVES_H

#include <jvmti.h>
#include <stdbool.h>

/* `callbacks`: the callbacks that are set in `jvmti`. False: the methods could not be bound; no
 * exception is pending. */
bool boot_natives_bind(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks, JNIEnv *jni, jclass c,
                       const JNINativeMethod *natives, jint count);

#endif
