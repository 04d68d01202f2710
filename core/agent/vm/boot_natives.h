/*
 * Binding native methods of a class of the JDK's own without a word: from JDK 16 on the VM prints a
 * warning to the application's output when that is done by anything but the JDK's own code. So it
 * is done where the nearest Java caller is the JDK's: under Object.wait. The calling thread waits
 * for a millisecond on an object of its own, and JVMTI's MonitorWait event, enabled for this thread
 * alone, calls us there.
 *
 * Source: jni.cpp (jni_RegisterNatives), vframe.cpp (security_get_caller_frame), JDK 8-28.
 * Context: the agent's thread, and VMDeath, with the engines' lock.
 */
#ifndef JTOP_AGENT_VM_BOOT_NATIVES_H
#define JTOP_AGENT_VM_BOOT_NATIVES_H

#include <jvmti.h>
#include <stdbool.h>

/* `callbacks`: those of `jvmti` as they are set. False: it could not be done; nothing is pending. */
bool boot_natives_bind(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks, JNIEnv *jni, jclass c,
                       const JNINativeMethod *natives, jint count);

#endif
