/*
 * Files:
 *   engine_lock       lock engine: waits for monitors, and recording of waits
 *   engine_lock_park  waits for java.util.concurrent locks by parked or virtual threads
 *   lock_wait         table of waits in progress, and which finished waits are recorded
 *   lock_wait_owner   stack of the lock's owner, asked for by a signal during the wait
 *   monitor           owner of a Java monitor, read from HotSpot's structures
 *   park              replacing Unsafe.park with a function of the agent, and restoring it
 *
 * Samples waits for Java locks. Two files share this header.
 *
 *   engine_lock.c        monitors (synchronized): JVMTI's MonitorContendedEnter and -Entered
 *   engine_lock_park.c   ReentrantLock, ReentrantReadWriteLock, Semaphore: threads that park in
 *                        Unsafe.park, and virtual threads that are unmounted
 *
 * lock_begin notes the beginning of a wait. When the wait is over, lock_end records it if a sample
 * is due: a sample with the lock's class on top, and a WIRE_LOCK with the lock's owner. A wait that
 * began before the engine started, or that ends after the engine stopped, is not seen.
 *
 * Context: any Java thread, in callbacks of the VM or in the function that replaces the VM's. The
 * code takes no lock and allocates no memory. It uses JNI and JVMTI only for references and, when a
 * wait is recorded, for the class's name. Everything runs between lock_enter and lock_leave.
 */
#ifndef JTOP_AGENT_LOCK_ENGINE_LOCK_H
#define JTOP_AGENT_LOCK_ENGINE_LOCK_H

#include "core/agent/engine/engine.h"
#include "core/agent/lock/lock_wait.h"
#include "core/agent/lock/lock_wait_owner.h"
#include "core/agent/lock/monitor.h"
#include "core/agent/lock/park.h"

#define LOCK_CLASSES 3

/* Classes and fields of java.util.concurrent's locks. */
struct lock_classes {
    jclass sync[LOCK_CLASSES]; /* global references; the last one: shared by its owners */
    jfieldID blocker;          /* Thread.parkBlocker */
    jfieldID owner;            /* AbstractOwnableSynchronizer.exclusiveOwnerThread */
    jfieldID carrier;          /* VirtualThread.carrierThread; NULL before JDK 21 */
    jfieldID name;             /* Thread.name */
};

struct lock_engine {
    struct engine_run *_Atomic run; /* NULL: not running */
    uint64_t since_ns;              /* when it was started */
    struct lock_waits waits;
    struct lock_owners owners;
    struct monitors monitors;
    struct lock_classes classes;
    struct park park;
    bool parks;          /* our function replaces Unsafe.park */
    jint mount, unmount; /* indexes of JVMTI's extension events; 0: not in use */
};

extern struct lock_engine lock_engine;

/* The waiting thread. */
struct lock_waiter {
    uint64_t id; /* native thread ID, or the virtual thread's ID */
    bool is_virtual;
};

/* NULL: the engine is not running; do not call lock_leave. */
struct engine_run *lock_enter(void);
void lock_leave(void);

struct lock_waiter lock_waiter_of(const struct engine_run *run, JNIEnv *jni, jthread thread);

struct lock_owner lock_owner_by_thread(const struct engine_run *run, JNIEnv *jni, jthread thread);

/* Fills *w at the beginning of a wait, and requests the owner's stack. */
void lock_begin(struct lock_wait *w, const struct lock_owner *owner);

/* Ends a wait for this lock. `frame`: the frame of the function that the VM called. */
void lock_end(struct lock_wait *w, const struct engine_run *run, JNIEnv *jni, jobject lock,
              uint32_t flags, const struct lock_waiter *who, const void *frame);

/* Waits by parking; in the agent's thread. lock_parks_learn fills lock_engine.classes, which is
 * used only when lock_engine.run is set. */
void lock_parks_learn(JNIEnv *jni);
/* 0, or -errno with the reason in `why`: parks cannot be seen. */
int lock_parks_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes);
void lock_parks_stop(struct engine_run *run, JNIEnv *jni);

#endif
