/*
 * Names of methods that are known only by their jmethodID, as AsyncGetCallTrace gives them. A
 * signal handler cannot ask JVMTI. It puts the jmethodID into a table, and the agent's thread asks
 * JVMTI for the names soon after.
 *
 * A jmethodID outlives its class, and JVMTI reports if the class is gone. A method whose class was
 * unloaded before JVMTI was asked is announced as METHOD_IDS_UNLOADED.
 *
 * Context: method_ids_find is signal-safe, any thread; the rest belongs to the agent's thread.
 */
#ifndef JTOP_AGENT_WALK_METHOD_IDS_H
#define JTOP_AGENT_WALK_METHOD_IDS_H

#include "core/agent/walk/names.h"

#include <jvmti.h>

#define METHOD_IDS_UNLOADED "[unloaded_method]"
#define METHOD_IDS_MET_MAX 4096u /* new methods between two turns of the agent's thread */

struct method_met {
    _Atomic uint64_t
        state;   /* 0: free; MET_BUSY: being filled; else the jmethodID << 2 | MET_FULL */
    uint32_t id; /* on the wire */
};

struct method_ids {
    struct names *names; /* ids come from the same table as those of names_method */
    _Atomic uint32_t next;
    struct method_met met[METHOD_IDS_MET_MAX];
};

/* Returns the method's id on the wire, or ID_TABLE_FULL. method_ids_announce sends its names. */
uint32_t method_ids_find(struct method_ids *m, uint64_t method);

/* Writes the names of all methods in the table to the ring. False: the ring is full; the rest stays
 * in the table. */
bool method_ids_announce(struct method_ids *m, jvmtiEnv *jvmti, JNIEnv *jni);

/* Empties the table, because the ids in it are no longer valid. No handler may be running. */
void method_ids_forget(struct method_ids *m);

/* Makes the VM create the jmethodIDs of all methods of one class, or of all loaded classes. */
void method_ids_create(jvmtiEnv *jvmti, jclass c);
void method_ids_create_all(jvmtiEnv *jvmti, JNIEnv *jni);

#endif
