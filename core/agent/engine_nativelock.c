/* Native locks: pthread mutexes and read/write locks that were not free, and waits for conditions,
 * as the libraries call them. A condition's wait in the VM itself is how Java threads park: that is
 * no contention, and left out. */
#include "core/agent/imports.h"
#include "core/agent/native_gate.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static struct {
    struct native_gate gate;
    struct imports imports;
} locks;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void waited(const void *frame, uintptr_t real, uint64_t since_ns) {
    int saved = errno;
    struct native_stripe *stripe = native_gate_enter(&locks.gate);
    if (!stripe)
        return;
    struct engine_run *run = locks.gate.run;
    uint64_t ns = now_ns() - since_ns;
    uint64_t weight = run ? native_gate_due(stripe, run->request.interval, ns) : 0;
    if (weight)
        native_gate_sample(&locks.gate, frame, real, weight, 0);
    native_gate_leave(stripe);
    errno = saved;
}

/* Whoever gets the lock at once pays for the attempt and nothing else. Only EBUSY says that one
 * would have to wait, and even then EDEADLK that nobody did: the owner is the caller. Every other
 * answer is the lock's own. */
static int hook_mutex_lock(pthread_mutex_t *m) {
    int r = pthread_mutex_trylock(m);
    if (r != EBUSY)
        return r;
    uint64_t since = now_ns();
    r = pthread_mutex_lock(m);
    if (r != EDEADLK)
        waited(__builtin_frame_address(0), (uintptr_t)&pthread_mutex_lock, since);
    return r;
}

static int hook_rdlock(pthread_rwlock_t *l) {
    int r = pthread_rwlock_tryrdlock(l);
    if (r != EBUSY)
        return r;
    uint64_t since = now_ns();
    r = pthread_rwlock_rdlock(l);
    if (r != EDEADLK)
        waited(__builtin_frame_address(0), (uintptr_t)&pthread_rwlock_rdlock, since);
    return r;
}

static int hook_wrlock(pthread_rwlock_t *l) {
    int r = pthread_rwlock_trywrlock(l);
    if (r != EBUSY)
        return r;
    uint64_t since = now_ns();
    r = pthread_rwlock_wrlock(l);
    if (r != EDEADLK)
        waited(__builtin_frame_address(0), (uintptr_t)&pthread_rwlock_wrlock, since);
    return r;
}

static int hook_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    uint64_t since = now_ns();
    int r = pthread_cond_wait(c, m);
    waited(__builtin_frame_address(0), (uintptr_t)&pthread_cond_wait, since);
    return r;
}

static int hook_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
    uint64_t since = now_ns();
    int r = pthread_cond_timedwait(c, m, t);
    waited(__builtin_frame_address(0), (uintptr_t)&pthread_cond_timedwait, since);
    return r;
}

/* There is an old pthread_cond_wait with another layout of conditions: what is not bound yet might
 * mean that one. */
static struct import_hook hooks[] = {
    {.name = "pthread_mutex_lock", .hook = (uintptr_t)hook_mutex_lock},
    {.name = "pthread_rwlock_rdlock", .hook = (uintptr_t)hook_rdlock},
    {.name = "pthread_rwlock_wrlock", .hook = (uintptr_t)hook_wrlock},
    {.name = "pthread_cond_wait",
     .hook = (uintptr_t)hook_cond_wait,
     .bound_only = true,
     .not_in = "libjvm"},
    {.name = "pthread_cond_timedwait",
     .hook = (uintptr_t)hook_cond_timedwait,
     .bound_only = true,
     .not_in = "libjvm"},
    {.name = IMPORTS_DLSYM, .hook = (uintptr_t)imports_dlsym},
    {.name = NULL},
};

static void find_real_functions(void) {
    const uintptr_t real[] = {
        (uintptr_t)&pthread_mutex_lock,     (uintptr_t)&pthread_rwlock_rdlock,
        (uintptr_t)&pthread_rwlock_wrlock,  (uintptr_t)&pthread_cond_wait,
        (uintptr_t)&pthread_cond_timedwait, (uintptr_t)&dlsym,
    };
    for (size_t i = 0; hooks[i].name; i++)
        hooks[i].real = real[i];
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)jni;
    find_real_functions();
    native_gate_open(&locks.gate, run);
    int r = imports_patch(&locks.imports, hooks);
    if (r == 0 && locks.imports.slots > locks.imports.lookups)
        return 0;
    snprintf(why, why_bytes, "no library's import table could be changed (errno %d)", -r);
    imports_restore(&locks.imports);
    native_gate_shut(&locks.gate);
    return r < 0 ? r : -ENOENT;
}

static void stop(struct engine_run *run, JNIEnv *jni) {
    (void)run, (void)jni;
    imports_restore(&locks.imports);
    native_gate_shut(&locks.gate);
}

static void turn(struct engine_run *run, JNIEnv *jni, uint64_t now_ms) {
    (void)run, (void)jni, (void)now_ms;
    imports_refresh(&locks.imports);
}

const struct engine engine_nativelock = {
    .event = WIRE_EVENT_NATIVELOCK,
    .mechanism = WIRE_MECHANISM_IMPORTS,
    .start = start,
    .stop = stop,
    .turn = turn,
};
