/*
 * Makes the VM discard a method's compiled code. Callers then run the method in the interpreter,
 * running frames are deoptimized, and the VM compiles the method again when its counters reach the
 * threshold. For a hot method they have already reached it.
 *
 * No official interface does this for the existing code of one method (tried on JDK 8 to 28). The
 * capability for breakpoints is not available in a running VM, and breakpoints discard only code
 * that recorded a dependence on the method when it was compiled. The first retransformation of a
 * class makes the VM discard all compiled code. Compiler directives act on existing code only since
 * JDK 22. But every HotSpot has its own test interface, WhiteBox. Its deoptimizeMethod marks the
 * code, and the VM's ordinary code does the rest. The VM's own tests use it on the same builds that
 * are released.
 *
 * How we reach it: if a class in the boot loader has the interface's name, the VM binds its `native
 * static void registerNatives()` to the function that registers the interface. That function passes
 * each entry to JNI's RegisterNatives. We define the class with only this method. For this one
 * call, the calling thread's JNI table is replaced, so that we get the entry and nothing is
 * registered, and the flag that allows the call, WhiteBoxAPI, is set.
 *
 * deoptimizeMethod needs a java.lang.reflect.Executable. To create one, the VM would make the
 * application's class loaders load the classes of all parameters. So none is created: the JNI table
 * is replaced for this call, too, and our FromReflectedMethod returns the method to the VM.
 *
 * What remains until the JVM ends: the empty class; and the VM records that WhiteBox was used, so
 * that a fatal error file (hs_err) written later says "Unsupported internal testing APIs have been
 * used." When the class is defined, other agents see its bytes, as those of every class file:
 * transformers written in Java then run once on our thread.
 *
 * Source: whitebox.cpp, nativeLookup.cpp, JDK 8-28.
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_DEOPTIMIZE_H
#define JTOP_AGENT_PRECISE_PRECISE_DEOPTIMIZE_H

#include <jni.h>
#include <stdbool.h>

/* Finds the VM's function, once for the life of the process. False: this VM does not provide it. */
bool deoptimize_open(JNIEnv *jni);

/* Discards the code of `method`, a method of `holder`. `osr`: the code that is entered in the
 * middle of a loop. Returns the number of discarded pieces of code. The VM needs a short safepoint
 * or none; the function waits for it. Call it after deoptimize_open. */
int deoptimize_method(JNIEnv *jni, jclass holder, jmethodID method, bool osr);

#endif
