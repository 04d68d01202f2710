/*
 * The owner of a Java monitor (source: markWord.hpp, objectMonitor.hpp, lockStack.hpp,
 * threadSMR.hpp; threads.hpp of JDK 8-11; JDK 8-28).
 *
 *      object's mark word, low bits 10 ─▶ ObjectMonitor._owner, which is
 *        JDK 8-23   the JavaThread*; if it locked on its stack, an address in that stack
 *        JDK 24+    the id of the java.lang.Thread
 *        JDK 21+    1: the thread that has the object in its JavaThread's lock stack
 *
 * With -XX:+UseObjectMonitorTable (the default from JDK 27 on) monitors are in a table that the VM
 * does not describe, so owners are not known. Objects may move and monitors may be freed while they
 * are read. A result is accepted only if it leads to a thread in the VM's list. From JDK 24 on, an
 * id that no thread in the list has is taken for that of an unmounted virtual thread.
 *
 * Context: monitor_learn in the agent's thread; the rest in any thread, guarded reads.
 */
#ifndef JTOP_AGENT_LOCK_MONITOR_H
#define JTOP_AGENT_LOCK_MONITOR_H

#include "core/agent/lock/lock_wait.h"
#include "core/agent/walk/names.h"

#include <jni.h>

#define MONITOR_CACHE 1024u
#define MONITOR_THREADS_MAX 16384u /* threads of the list that are checked */

struct monitors {
    const struct vm *vm;
    struct names *names;
    struct oop_layout oops; /* form OOP_UNKNOWN: local references hold plain addresses */
    bool known;
    int32_t owner, object; /* in ObjectMonitor */
    /* the list of threads: an array, or linked by `next` */
    uintptr_t list;
    int32_t list_length, list_threads, next;
    int32_t thread_id; /* JavaThread: java.lang.Thread's id; -1: owners are addresses */
    int32_t lock_stack, lock_top, lock_base;
    _Atomic uintptr_t cache[MONITOR_CACHE]; /* by the owner's word: the JavaThread* found last */
};

void monitors_learn(struct monitors *m, const struct vm *vm, struct names *names, JNIEnv *jni);

/* Returns the owner as this object's monitor stores it; 0: none. Cheap. */
uint64_t monitors_owner_word(const struct monitors *m, jobject object);

/* Whether that word identifies a carrier, so that the virtual thread cannot be found later (JDK
 * 21-23). */
bool monitors_owner_is_carrier(const struct monitors *m);

/* Finds the thread that `word` stands for. False: not known. May check all threads. */
bool monitors_find_owner(struct monitors *m, jobject object, uint64_t word, struct lock_owner *out);

/* Sets the native and virtual id of the thread out->java, and announces its virtual thread. False:
 * it is not a thread. */
bool monitors_identify(const struct monitors *m, struct lock_owner *out);

#endif
