/*
 * The JDK's own classes, found without running anything of the application's: JNI's FindClass asks
 * the system class loader in a thread without Java frames, and that may be the application's own
 * and run, or wait, for as long as it likes.
 *
 * Source: jvm.cpp (JVM_FindClassFromBootLoader), JDK 8-28.
 * Context: any Java thread, outside signal handlers.
 */
#ifndef JTOP_AGENT_VM_BOOT_CLASS_H
#define JTOP_AGENT_VM_BOOT_CLASS_H

#include <jni.h>

/* A class of the boot loader, loaded if need be ("java/lang/Object"); a local reference. NULL, with
 * nothing pending, if it has none of that name. */
jclass boot_class(JNIEnv *jni, const char *name);

#endif
