/*
 * Making the VM give up a method's compiled code: its callers go to the interpreter, running frames
 * are deoptimized, and the method is compiled again as soon as its counters are high enough. In a
 * hot method they already are.
 *
 * No official interface does that to code that is already there, for one method (tried on JDK 8 to
 * 28): breakpoints are no capability of a living VM, and clear only code that recorded its
 * dependence on the method when it was compiled; the first class that is retransformed makes the VM
 * throw away all compiled code; compiler directives act on existing code since JDK 22 only. What
 * every HotSpot has is its own test interface, WhiteBox: deoptimizeMethod marks the code and lets
 * the VM's ordinary machinery do the rest. The VM's own tests run it on the very builds that
 * people use.
 *
 * How it is reached: the VM binds `native static void registerNatives()` of a class of that name
 * in the boot loader to the function that registers the interface, and that hands each entry to
 * JNI's RegisterNatives. The class is defined with that method only; the calling thread's
 * own JNI table is replaced for this one call, so that the entry is noted and nothing registered;
 * the flag that allows it, WhiteBoxAPI, is set for this one call.
 *
 * The function itself needs a java.lang.reflect.Executable. To make one, the VM would have the
 * application's class loaders load the classes of all its parameters. So none is made: the table is
 * replaced for that call, too, and our FromReflectedMethod gives the VM what it needs.
 *
 * What stays until the JVM ends: the empty class; and the VM notes that WhiteBox was used, so that
 * a fatal error file (hs_err) written later says "Unsupported internal testing APIs have been
 * used." Defining the class shows its bytes to other agents, as every class file: transformers
 * written in Java run on our thread then, once.
 *
 * Source: whitebox.cpp, nativeLookup.cpp, JDK 8-28.
 * Context: the agent's thread.
 */
#ifndef JTOP_AGENT_PRECISE_PRECISE_DEOPTIMIZE_H
#define JTOP_AGENT_PRECISE_PRECISE_DEOPTIMIZE_H

#include <jni.h>
#include <stdbool.h>

/* Gets hold of the VM's function; once, for the life of the process. False: this VM does not give
 * it. */
bool deoptimize_open(JNIEnv *jni);

/* Gives up the code of `method`, a method of `holder`; `osr`: the code that was entered
 * in the middle of its loops. Returns how many pieces of code were given up. No safepoint is
 * needed, or a short one; waits for it. After deoptimize_open. */
int deoptimize_method(JNIEnv *jni, jclass holder, jmethodID method, bool osr);

#endif
