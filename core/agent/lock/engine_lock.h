/*
 * Files:
 *   engine_lock       lock engine: waits for monitors, and recording of waits
 *   engine_lock_park  waits for java.util.concurrent locks by parked or virtual threads
 *   lock_wait         table of waits in progress, and which finished waits are recorded
 *   lock_wait_owner   stack of the lock's owner, asked for by a signal during the wait
 *   monitor           owner of a Java monitor, read from HotSpot's structures
 *   park              replacing Unsafe.park with a function of the agent, and restoring it
 *
 * Waits for Java locks, in two files that share this.
 *
 *   engine_lock.c        monitors (synchronized): JVMTI's MonitorContendedEnter and -Entered
 *   engine_lock_park.c   ReentrantLock, ReentrantReadWriteLock, Semaphore: threads that park in
 *                        Unsafe.park, and virtual threads that are unmounted
 *
 * A wait is known when it begins (lock_begin) and recorded when it is over (lock_end), if it is
 * due: a sample with the lock's class on top, and a WIRE_LOCK that says who held it. A wait that
 * began before the engine, or ends after it, is not seen.
 *
 * Context: any Java thread, in callbacks of the VM's or in place of its function: no lock, no
 * allocation of ours; JNI and JVMTI only for references and, when a wait is recorded, the class's
 * name. All between lock_enter and lock_leave.
 */
#ifndef JTOP_AGENT_LOCK_ENGINE_LOCK_H
#define JTOP_AGENT_LOCK_ENGINE_LOCK_H

#include "core/agent/engine/engine.h"
#include "core/agent/lock/lock_wait.h"
#include "core/agent/lock/lock_wait_owner.h"
#include "core/agent/lock/monitor.h"
#include "core/agent/lock/park.h"

#define LOCK_CLASSES 3

/* What locks of java.util.concurrent look like. */
struct lock_classes {
    jclass sync[LOCK_CLASSES]; /* global references; the last one is shared by its owners */
    jfieldID blocker;          /* Thread.parkBlocker */
    jfieldID owner;            /* AbstractOwnableSynchronizer.exclusiveOwnerThread */
    jfieldID carrier;          /* VirtualThread.carrierThread; NULL before JDK 21 */
    jfieldID name;             /* Thread.name */
};

struct lock_engine {
    struct engine_run *_Atomic run; /* NULL: it does not run */
    uint64_t since_ns;              /* when it was started */
    struct lock_waits waits;
    struct lock_owners owners;
    struct monitors monitors;
    struct lock_classes classes;
    struct park park;
    bool parks;          /* ours is in the place of Unsafe.park */
    jint mount, unmount; /* indexes of JVMTI's extension events; 0: not in use */
};

extern struct lock_engine lock_engine;

/* Who waits. */
struct lock_waiter {
    uint64_t id; /* native, or the virtual thread's */
    bool is_virtual;
};

/* NULL: it does not run, and there is nothing to leave. */
struct engine_run *lock_enter(void);
void lock_leave(void);

struct lock_waiter lock_waiter_of(const struct engine_run *run, JNIEnv *jni, jthread thread);

struct lock_owner lock_owner_by_thread(const struct engine_run *run, JNIEnv *jni, jthread thread);

/* Notes the beginning, and asks the owner what it is doing. `w` is filled. */
void lock_begin(struct lock_wait *w, const struct lock_owner *owner);

/* The wait for this lock is over. `frame`: of the function that the VM called. */
void lock_end(struct lock_wait *w, const struct engine_run *run, JNIEnv *jni, jobject lock,
              uint32_t flags, const struct lock_waiter *who, const void *frame);

/* Parks, in the agent's thread. What is learned is used once lock_engine.run is set. */
void lock_parks_learn(JNIEnv *jni);
/* 0 where they can be seen, or -errno with the reason. */
int lock_parks_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes);
void lock_parks_stop(struct engine_run *run, JNIEnv *jni);

#endif
