/*
 * Garbage collections that stop all Java threads, as the VM tells of them (source: JVMTI,
 * GarbageCollectionStart and GarbageCollectionFinish).
 *
 * Context: pauses_open and pauses_close in the agent's thread, or VMDeath. The callbacks come in the
 * VM's thread at a safepoint, where nothing of JNI may be used: they write to the ring alone.
 */
#ifndef JTOP_AGENT_PAUSES_H
#define JTOP_AGENT_PAUSES_H

#include "core/wire/ring_writer.h"

#include <jvmti.h>

/* From here on each pause is a WIRE_PAUSE in the ring. A VM that cannot tell is silent. */
void pauses_open(struct ring_writer *ring, jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);

/* Returns when no callback is at work any more. Idempotent. */
void pauses_close(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks);

#endif
