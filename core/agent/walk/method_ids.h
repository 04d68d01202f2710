/*
 * Names of methods that are known by their jmethodID only, as AsyncGetCallTrace gives them. A
 * handler cannot ask JVMTI: it notes what it met, and the agent's thread asks soon after.
 *
 * A jmethodID outlives its class. JVMTI knows which ones do, and a method that was unloaded
 * before JVMTI was asked is announced as METHOD_IDS_UNLOADED.
 *
 * Context: method_ids_find is signal-safe, any thread; the rest belongs to the agent's thread.
 */
#ifndef JTOP_AGENT_WALK_METHOD_IDS_H
#define JTOP_AGENT_WALK_METHOD_IDS_H

#include "core/agent/walk/names.h"

#include <jvmti.h>

#define METHOD_IDS_UNLOADED "[unloaded_method]"
#define METHOD_IDS_MET_MAX 4096u /* between two turns of the agent's thread */

struct method_met {
    _Atomic uint64_t
        state;   /* 0: free; MET_BUSY: being filled; else the jmethodID << 2 | MET_FULL */
    uint32_t id; /* on the wire */
};

struct method_ids {
    struct names *names; /* ids are of the same table as those of names_method */
    _Atomic uint32_t next;
    struct method_met met[METHOD_IDS_MET_MAX];
};

/* The method's id on the wire, or ID_TABLE_FULL. Its names follow with method_ids_announce. */
uint32_t method_ids_find(struct method_ids *m, uint64_t method);

/* Puts the names of all methods met into the ring. False: those that found no room there wait. */
bool method_ids_announce(struct method_ids *m, jvmtiEnv *jvmti, JNIEnv *jni);

/* Nothing was met: the ids that were given out are no longer valid. No handler may run. */
void method_ids_forget(struct method_ids *m);

/* Makes the VM give the methods of one class, or of all classes there are, their jmethodIDs. */
void method_ids_create(jvmtiEnv *jvmti, jclass c);
void method_ids_create_all(jvmtiEnv *jvmti, JNIEnv *jni);

#endif
