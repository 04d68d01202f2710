/*
 * Garbage collections that stop all Java threads, as the VM reports them (source: JVMTI,
 * GarbageCollectionStart and GarbageCollectionFinish).
 *
 * Context: pauses_open and pauses_close in the agent's thread, or VMDeath. The VM's thread calls
 * the callbacks at a safepoint, where JNI functions are not allowed: they only write to the ring.
 */
#ifndef JTOP_AGENT_PAUSES_H
#define JTOP_AGENT_PAUSES_H

#include "core/wire/ring_writer.h"

#include <jvmti.h>

/* Starts writing a WIRE_PAUSE to the ring for each pause. Does nothing where the VM cannot report
 * pauses. */
void pauses_open(struct ring_writer *ring, jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);

/* Stops it. Returns when no callback runs any more. Idempotent. */
void pauses_close(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);

#endif
