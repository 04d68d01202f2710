/*
 * Sampled objects that may still be alive: a weak global reference each, until the object is gone.
 *
 * Weak references and not JVMTI's tags: the VM then has nothing to report, so that nothing of ours
 * runs in its pauses, and they can be given back one by one without visiting the heap.
 *
 * Memory is bounded: an object for which there is no place is not followed, and counted.
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
    _Atomic uint32_t next;     /* where a free place is looked for */
    _Atomic uint32_t followed;
    _Atomic uint64_t refused; /* objects that there was no place for */
    uint32_t looked;          /* where live_objects_look goes on */
};

int live_objects_open(struct live_objects *l); /* 0 or -errno */
/* Gives all references back. */
void live_objects_close(struct live_objects *l, JNIEnv *jni);

/* A place for an object, or -1. It is the caller's until follow or drop. */
int32_t live_objects_claim(struct live_objects *l);
/* False: the VM has no memory for a reference; the place is free again. */
bool live_objects_follow(struct live_objects *l, int32_t place, uint64_t id, JNIEnv *jni,
                         jobject object);
void live_objects_drop(struct live_objects *l, int32_t place);

/* Checks up to `most` places, from where the last call ended; calls gone() for every object that is
 * gone. If that returns false, a later call reports the object again. */
void live_objects_look(struct live_objects *l, JNIEnv *jni, uint32_t most,
                       bool (*gone)(void *arg, uint64_t id), void *arg);

#endif
