/*
 * The table of the JVM's threads. Each thread is armed for all running engines that need it, and
 * its name and Java id are written to the stream. Java threads report their own start and end
 * (JVMTI events). The VM's own threads are found in /proc/self/task.
 *
 * Context: callbacks and the agent's thread; the functions take the lock. Signal handlers may call
 * only threads_is_own, threads_index_of and threads_tid_of, which take no lock.
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
    uint16_t armed;     /* set of the events it is armed for */
    uint16_t refused;   /* set of the events it could not be armed for */
    uint16_t late;      /* set of the events it is late for: the agent's thread has to arm it */
    uint8_t java_state; /* enum wire_java that was written last */
    uint64_t name_hash; /* of the name that was written last; 0: none */
    uintptr_t java;     /* JavaThread*, 0: none is known */
};

struct threads {
    pthread_mutex_t lock;
    struct vm *vm;
    uint32_t *tid; /* THREADS_MAX, memory only for used ones; 0: free */
    struct thread_note *note;
    uint32_t *index_of_tid;         /* index + 1, 0: none; memory only for used ones */
    uint32_t count;                 /* all entries ever used lie below this */
    uint32_t alive;                 /* entries in use */
    uint32_t free_head;             /* first free entry + 1; 0: none */
    uint32_t refused[WIRE_EVENTS];  /* newer threads that could not be armed */
    int refused_error[WIRE_EVENTS]; /* errno of the last of them */
    _Atomic bool late;              /* some thread may be late */
    uint32_t scans;
    uint32_t own_tid[THREADS_OWN_MAX];        /* the agent's threads: never sampled; 0: none */
    struct engine_run *run[WIRE_EVENTS];      /* running engines that arm each thread; NULL: none */
    const struct engine *engine[WIRE_EVENTS]; /* of run[]; valid a moment longer than run->engine */
    struct ring_writer *ring;                 /* NULL: closed */
    void (*wake)(void);       /* makes the agent's thread arm late threads; called with the lock */
    jfieldID eetop, java_tid; /* of java.lang.Thread */
};

int threads_open(struct threads *t, struct vm *vm, struct ring_writer *ring);
/* Disables the JVMTI events and frees the table. No engine may be running. */
void threads_close(struct threads *t, jvmtiEnv *jvmti);

/* Makes run->thread, and arms all threads now and every new one later. -errno where one of them
 * could not be armed: the caller then disarms the others. */
int threads_arm_all(struct threads *t, struct engine_run *run);
/* Arms the late threads, until `deadline_ms` (monotonic) at most. -ETIMEDOUT: some of them are
 * still late. Otherwise the first error, which concerns only one of these threads. Context: the
 * agent's thread; no other thread waits for it. */
int threads_arm_late(struct threads *t, struct engine_run *run, uint64_t deadline_ms);
/* Disarms all threads and releases run->thread. No handler may be running. Idempotent. */
void threads_disarm_all(struct threads *t, struct engine_run *run, const struct engine *e);

/* Copies the numbers of all threads except the agent's own. Returns how many. */
uint32_t threads_list(struct threads *t, uint32_t *tid, uint32_t max);
/* Marks a thread as one of the agent's own, or removes the mark. */
void threads_own(struct threads *t, uint32_t tid, bool own);
bool threads_is_own(const struct threads *t, uint32_t tid);

/* Finds threads that started or ended since the last scan. Cheap when nothing changed, unless
 * `full`. */
void threads_scan(struct threads *t, bool full);

/* Writes the names and ids of all Java threads that are new or renamed. */
void threads_name_all(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni);

/* Writes the Java state of a thread if it is another one than before, and the thread's name was
 * written: `java` is its JavaThread*. threads_forget_states: then all of them count as changed. */
void threads_tell_state(struct threads *t, uint32_t tid, uintptr_t java, enum wire_java state);
void threads_forget_states(struct threads *t);

/* JVMTI's ThreadStart and ThreadEnd. Context: the thread itself. */
void threads_started(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void threads_ended(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

/* The index of the thread with this number; UINT32_MAX: none. Signal-safe, while an engine runs. */
static inline uint32_t threads_index_of(const struct threads *t, uint32_t tid) {
    return tid < WIRE_TID_MAX ? __atomic_load_n(&t->index_of_tid[tid], __ATOMIC_RELAXED) - 1
                              : UINT32_MAX;
}

/* The native id of a living JavaThread; 0: not known. Signal-safe. */
uint32_t threads_tid_of(const struct threads *t, uintptr_t java);

/* The JavaThread* of a native thread id, 0: none is known. It may be gone at any moment. */
uintptr_t threads_java_of(struct threads *t, uint32_t tid);

/* The JavaThread* of a Java thread; 0: not alive. */
uintptr_t threads_java_thread(const struct threads *t, JNIEnv *jni, jthread thread);

#endif
