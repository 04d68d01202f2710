/*
 * The JVM's threads: every one is armed for the running engines that want it, and its name and Java
 * id are in the stream. Java threads that start or end say so themselves (JVMTI events); the VM's own are found
 * in /proc/self/task.
 *
 * Context: callbacks and the agent's thread; a lock inside. Never from a signal handler, which
 * only reads `entry`.
 */
#ifndef JTOP_AGENT_THREADS_H
#define JTOP_AGENT_THREADS_H

#include "core/agent/engine/engine.h"

#include <jvmti.h>
#include <pthread.h>

#define THREADS_MAX 65536u
#define THREADS_OWN_MAX 4

struct thread_note {
    uint32_t seen;      /* number of the last scan that found it */
    uint32_t next_free; /* of a free entry: the next one + 1; 0: none */
    uint16_t armed;     /* set of the events whose engines are */
    uint16_t refused;   /* and of those that could not be … */
    uint16_t late;      /* … or not on the spot */
    uint64_t name_hash; /* of the name that was announced; 0: none */
    uintptr_t java;     /* JavaThread*, 0: none is known */
};

struct threads {
    pthread_mutex_t lock;
    struct vm *vm;
    uint32_t *tid; /* THREADS_MAX, address space only; 0: free */
    struct thread_note *note;
    uint32_t *index_of_tid;         /* index + 1, 0: none; address space only */
    uint32_t count;                 /* entries ever used lie below this */
    uint32_t alive;                 /* entries in use */
    uint32_t free_head;             /* first free entry + 1; 0: none */
    uint32_t refused[WIRE_EVENTS];  /* threads that came later and could not be armed */
    int refused_error[WIRE_EVENTS]; /* errno of the last of them */
    _Atomic bool late;              /* some thread may be */
    uint32_t scans;
    uint32_t own_tid[THREADS_OWN_MAX];        /* the agent's threads: never sampled; 0: none */
    struct engine_run *run[WIRE_EVENTS];      /* those per thread that run; NULL: none */
    const struct engine *engine[WIRE_EVENTS]; /* of run[]; outlives run->engine by a moment */
    struct ring_writer *ring;                 /* NULL: nobody listens */
    void (*wake)(void);       /* has the agent's thread arm those that are late. With the lock */
    jfieldID eetop, java_tid; /* of java.lang.Thread */
};

int threads_open(struct threads *t, struct vm *vm, struct ring_writer *ring);
/* Ends the events and frees all; no engine may run. */
void threads_close(struct threads *t, jvmtiEnv *jvmti);

/* From here on, and for all threads there are now; makes run->thread. -errno where one of them
 * could not be armed: the caller disarms the others. */
int threads_arm_all(struct threads *t, struct engine_run *run);
/* Arms those that could not be armed on the spot, as long as it takes but not after `deadline_ms`
 * (monotonic): -ETIMEDOUT then, and they stay late. Else the first error, which is theirs alone.
 * Agent's thread; nobody waits for it. */
int threads_arm_late(struct threads *t, struct engine_run *run, uint64_t deadline_ms);
/* No handler may be at work. Idempotent. */
void threads_disarm_all(struct threads *t, struct engine_run *run, const struct engine *e);

/* Copies the numbers of all threads there are but the agent's own; returns how many. */
uint32_t threads_list(struct threads *t, uint32_t *tid, uint32_t max);
/* Makes a thread one of the agent's own, or no longer. */
void threads_own(struct threads *t, uint32_t tid, bool own);
bool threads_is_own(const struct threads *t, uint32_t tid);

/* Threads that came or went since the last scan. Cheap when nothing changed, unless `full`. */
void threads_scan(struct threads *t, bool full);

/* Announces names and ids of all Java threads that are new or renamed. */
void threads_name_all(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni);

/* JVMTI's ThreadStart and ThreadEnd, in the thread itself. */
void threads_started(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void threads_ended(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

/* The native id of a JavaThread that is alive, 0 where it is not known. Signal-safe. */
uint32_t threads_tid_of(const struct threads *t, uintptr_t java);

/* JavaThread* of a native thread id, 0: none is known. It may be gone at any moment. */
uintptr_t threads_java_of(struct threads *t, uint32_t tid);

/* JavaThread* of a Java thread; 0 when it is not alive. */
uintptr_t threads_java_thread(const struct threads *t, JNIEnv *jni, jthread thread);

#endif
