/*
 * Sampled objects that may still be alive. Each has a weak global reference until it is gone.
 *
 * Weak references are used instead of JVMTI's tags. So the VM has nothing to report, no code of
 * ours runs in its pauses, and each reference can be freed without visiting the heap.
 *
 * Memory is bounded. If there is no place for an object, it is not followed, but counted.
 *
 * Context: claim, follow and drop in any Java thread, several at once; the rest in the agent's
 * thread or VMDeath.
 */
#ifndef JTOP_AGENT_ENGINE_LIVE_OBJECTS_H
#define JTOP_AGENT_ENGINE_LIVE_OBJECTS_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LIVE_OBJECTS_MAX 65536u

struct live_object {
    _Atomic uint32_t state; /* enum live_state of live_objects.c */
    uint64_t id;
    jweak object;
};

struct live_objects {
    struct live_object *place; /* LIVE_OBJECTS_MAX, address space; NULL: nothing is followed */
    _Atomic uint32_t next;     /* where the search for a free place begins */
    _Atomic uint32_t followed;
    _Atomic uint64_t refused; /* objects without a place */
    uint32_t looked;          /* where live_objects_look continues */
};

int live_objects_open(struct live_objects *l); /* 0 or -errno */
/* Frees all references. */
void live_objects_close(struct live_objects *l, JNIEnv *jni);

/* Returns a place for an object, or -1. The caller owns it until follow or drop. */
int32_t live_objects_claim(struct live_objects *l);
/* Puts an object into a place. False: the VM has no memory for a reference; the place is free
 * again. */
bool live_objects_follow(struct live_objects *l, int32_t place, uint64_t id, JNIEnv *jni,
                         jobject object);
void live_objects_drop(struct live_objects *l, int32_t place);

/* Checks up to `most` places, continuing where the last call ended. Calls gone() for every object
 * that is gone. If gone() returns false, the call ends, and reports this object again next time. */
void live_objects_look(struct live_objects *l, JNIEnv *jni, uint32_t most,
                       bool (*gone)(void *arg, uint64_t id), void *arg);

#endif
