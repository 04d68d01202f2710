/*
 * Who owns a Java monitor (source: markWord.hpp, objectMonitor.hpp, lockStack.hpp,
 * threadSMR.hpp; threads.hpp of JDK 8-11; JDK 8-28).
 *
 *      object's mark word, low bits 10 ─▶ ObjectMonitor._owner, which is
 *        JDK 8-23   the JavaThread*; or where it locked on its stack an address in that
 *        JDK 24+    the id of the java.lang.Thread
 *        JDK 21+    1: the thread that has the object in its JavaThread's lock stack
 *
 * With -XX:+UseObjectMonitorTable (the default from JDK 27 on) monitors are found through a table
 * that is not described: nothing is known then. Objects move and monitors end while they
 * are read: what is read counts only if it leads to a thread that is in the VM's list.
 *
 * Context: monitor_learn in the agent's thread; the rest in any thread, guarded reads.
 */
#ifndef JTOP_AGENT_LOCK_MONITOR_H
#define JTOP_AGENT_LOCK_MONITOR_H

#include "core/agent/lock/lock_wait.h"
#include "core/agent/walk/names.h"

#include <jni.h>

#define MONITOR_CACHE 1024u
#define MONITOR_THREADS_MAX 16384u /* of the list, that are read */

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
    _Atomic uintptr_t cache[MONITOR_CACHE]; /* by owner's word: the JavaThread found last */
};

void monitors_learn(struct monitors *m, const struct vm *vm, struct names *names, JNIEnv *jni);

/* What the monitor of this object states about its owner; 0: nothing. Cheap. */
uint64_t monitors_owner_word(const struct monitors *m, jobject object);

/* Whether that leads to a carrier. What it carried is not known later (JDK 21-23). */
bool monitors_owner_is_carrier(const struct monitors *m);

/* The thread that is meant; false: none is known. May read all threads. */
bool monitors_find_owner(struct monitors *m, jobject object, uint64_t word, struct lock_owner *out);

/* Native and virtual id of the thread in out->java, whose virtual thread is announced; false: it is
 * no thread. */
bool monitors_identify(const struct monitors *m, struct lock_owner *out);

#endif
