/*
 * The JVM's threads: every one is armed for the running engine, and its name and Java id are in the
 * stream. Java threads that start or end say so themselves (JVMTI events); the VM's own are found
 * in /proc/self/task.
 *
 * Context: callbacks and the agent's thread; a lock inside. Never from a signal handler, which
 * only reads `entry`.
 */
#ifndef JTOP_AGENT_THREADS_H
#define JTOP_AGENT_THREADS_H

#include "core/agent/engine.h"

#include <jvmti.h>
#include <pthread.h>

#define THREADS_MAX 65536u
#define THREADS_TID_MAX (1u << 22) /* PID_MAX_LIMIT of 64-bit kernels */

struct thread_note {
    uint32_t seen;      /* number of the last scan that found it */
    uint32_t next_free; /* of a free entry: the next one + 1; 0: none */
    bool armed;
    bool refused;       /* the engine could not be armed for it */
    uint64_t name_hash; /* of the name that was announced; 0: none */
};

struct threads {
    pthread_mutex_t lock;
    struct vm *vm;
    struct engine_thread *entry; /* THREADS_MAX, address space only; tid 0: free */
    struct thread_note *note;
    uint32_t *index_of_tid; /* index + 1, 0: none; address space only */
    uint32_t count;         /* entries ever used lie below this */
    uint32_t alive;         /* entries in use */
    uint32_t free_head;     /* first free entry + 1; 0: none */
    uint32_t armed;
    uint32_t refused;  /* threads that came later and could not be armed */
    int refused_error; /* errno of the last of them */
    uint32_t scans;
    uint32_t own_tid;            /* the agent's thread: never armed */
    const struct engine *engine; /* NULL: none runs */
    struct engine_config config;
    struct ring_writer *ring; /* NULL: nobody listens */
    jfieldID eetop, java_tid; /* of java.lang.Thread */
};

int threads_open(struct threads *t, struct vm *vm, struct ring_writer *ring);
/* Ends the events and frees all; no engine may run. */
void threads_close(struct threads *t, jvmtiEnv *jvmti);

/* From here on, and for all threads there are now. -errno where one of them could not be armed:
 * the caller disarms the others. */
int threads_arm_all(struct threads *t, const struct engine *e, const struct engine_config *c);
void threads_disarm_all(struct threads *t);

/* Threads that came or went since the last scan. Cheap when nothing changed, unless `full`. */
void threads_scan(struct threads *t, bool full);

/* Announces names and ids of all Java threads that are new or renamed. */
void threads_name_all(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni);

/* JVMTI's ThreadStart and ThreadEnd, in the thread itself. */
void threads_started(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void threads_ended(struct threads *t);

/* JavaThread* of a Java thread; 0 when it is not alive. */
uintptr_t threads_java_thread(const struct threads *t, JNIEnv *jni, jthread thread);

#endif
