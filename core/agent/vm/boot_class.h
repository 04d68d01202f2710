/*
 * Finds the JDK's own classes without running code of the application. In a thread without Java
 * frames, JNI's FindClass asks the system class loader. This loader may be a class of the
 * application, which can run or wait for any time.
 *
 * Source: jvm.cpp (JVM_FindClassFromBootLoader), JDK 8-28.
 * Context: any Java thread, outside signal handlers.
 */
#ifndef JTOP_AGENT_VM_BOOT_CLASS_H
#define JTOP_AGENT_VM_BOOT_CLASS_H

#include <jni.h>

/* Returns a class of the boot loader ("java/lang/Object") as a local reference, and loads it if
 * necessary. NULL: there is no such class; no exception is pending. */
jclass boot_class(JNIEnv *jni, const char *name);

#endif
