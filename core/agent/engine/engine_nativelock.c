/* Native locks: pthread mutexes and read/write locks that were not free, and waits for conditions,
 * as the libraries call them. A condition's wait in the VM itself is how Java threads park: that is
 * no contention, and left out. */
#include "core/agent/engine/native_gate.h"
#include "core/agent/patch/imports.h"
#include "core/base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct {
    struct native_gate gate;
    struct imports imports;
} locks;

/* Looked up: another profiler's hook may be in our own import table. */
static struct functions {
    int (*mutex_lock)(pthread_mutex_t *);
    int (*rdlock)(pthread_rwlock_t *);
    int (*wrlock)(pthread_rwlock_t *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*rwlock_unlock)(pthread_rwlock_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
} libc, next; /* the real ones, and another profiler's hooks */

static void waited(const void *frame, uintptr_t real, uint64_t since_ns) {
    int saved = errno;
    struct native_stripe *stripe =
        imports_is_passed_on(frame) ? NULL : native_gate_enter(&locks.gate);
    if (!stripe)
        return;
    struct engine_run *run = locks.gate.run;
    uint64_t ns = clock_now_ns() - since_ns;
    uint64_t weight = run ? native_gate_due(stripe, run->request.interval, ns) : 0;
    if (weight)
        native_gate_sample(&locks.gate, frame, real, weight, 0);
    native_gate_leave(stripe);
    errno = saved;
}

#define WAIT_NS 10000u /* a call that lasts this long has waited */

#define WAITED(function, since) waited(__builtin_frame_address(0), (uintptr_t)libc.function, since)

/* A thread that gets the lock at once pays for the attempt and nothing else. Only EBUSY says that
 * it would have to wait, and even then EDEADLK that it did not: the owner is the caller. Every
 * other answer is the lock's own. Another profiler's hook has to see each call, so a lock that the
 * attempt got is released before. */
#define LOCK_HOOKS(name, parameters, try_lock, unlock)                                             \
    static int hook_##name parameters {                                                            \
        int r = try_lock(lock);                                                                    \
        if (r != EBUSY)                                                                            \
            return r;                                                                              \
        uint64_t since = clock_now_ns();                                                           \
        r = libc.name(lock);                                                                       \
        if (r != EDEADLK)                                                                          \
            WAITED(name, since);                                                                   \
        return r;                                                                                  \
    }                                                                                              \
    static int over_##name parameters {                                                            \
        int r = try_lock(lock);                                                                    \
        if (r == 0)                                                                                \
            libc.unlock(lock);                                                                     \
        else if (r != EBUSY)                                                                       \
            return r;                                                                              \
        bool taken = r == EBUSY;                                                                   \
        uint64_t since = clock_now_ns();                                                           \
        r = next.name(lock);                                                                       \
        if (r != EDEADLK && (taken || clock_now_ns() - since >= WAIT_NS))                          \
            WAITED(name, since);                                                                   \
        return r;                                                                                  \
    }

LOCK_HOOKS(mutex_lock, (pthread_mutex_t * lock), pthread_mutex_trylock, mutex_unlock)
LOCK_HOOKS(rdlock, (pthread_rwlock_t * lock), pthread_rwlock_tryrdlock, rwlock_unlock)
LOCK_HOOKS(wrlock, (pthread_rwlock_t * lock), pthread_rwlock_trywrlock, rwlock_unlock)

#define WAIT_HOOKS(name, parameters, ...)                                                          \
    static int hook_##name parameters {                                                            \
        uint64_t since = clock_now_ns();                                                           \
        int r = libc.name(__VA_ARGS__);                                                            \
        WAITED(name, since);                                                                       \
        return r;                                                                                  \
    }                                                                                              \
    static int over_##name parameters {                                                            \
        uint64_t since = clock_now_ns();                                                           \
        int r = next.name(__VA_ARGS__);                                                            \
        WAITED(name, since);                                                                       \
        return r;                                                                                  \
    }

WAIT_HOOKS(cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), c, m)
WAIT_HOOKS(cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t), c, m,
           t)

#define ENTRY(symbol, function)                                                                    \
    .name = (symbol), .hook = (uintptr_t)hook_##function, .over = (uintptr_t)over_##function,      \
    .next = &next.function

/* There is an old pthread_cond_wait with another layout of conditions: what is not bound yet might
 * mean that one. */
static struct import_hook hooks[] = {
    {ENTRY("pthread_mutex_lock", mutex_lock)},
    {ENTRY("pthread_rwlock_rdlock", rdlock)},
    {ENTRY("pthread_rwlock_wrlock", wrlock)},
    {ENTRY("pthread_cond_wait", cond_wait), .bound_only = true, .not_in = "libjvm"},
    {ENTRY("pthread_cond_timedwait", cond_timedwait), .bound_only = true, .not_in = "libjvm"},
    {.name = IMPORTS_DLSYM, .hook = (uintptr_t)imports_dlsym},
    {.name = NULL},
};

/* False: one of them is missing. */
static bool find_real_functions(void) {
    void *const to[] = {&libc.mutex_lock, &libc.rdlock, &libc.wrlock, &libc.cond_wait,
                        &libc.cond_timedwait};
    void *mutex = dlsym(RTLD_DEFAULT, "pthread_mutex_unlock");
    void *rwlock = dlsym(RTLD_DEFAULT, "pthread_rwlock_unlock");
    if (!mutex || !rwlock || !imports_find_real(hooks, to, sizeof to / sizeof to[0]))
        return false;
    memcpy(&libc.mutex_unlock, &mutex, sizeof mutex);
    memcpy(&libc.rwlock_unlock, &rwlock, sizeof rwlock);
    return true;
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)jni;
    int r = find_real_functions() ? 0 : -ENOENT;
    native_gate_open(&locks.gate, run);
    if (r == 0)
        r = imports_patch(&locks.imports, hooks);
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
    (void)jni, (void)now_ms;
    imports_refresh(&locks.imports);
    imports_tell(&locks.imports, run->status->reason, sizeof run->status->reason);
}

const struct engine engine_nativelock = {
    .event = WIRE_EVENT_NATIVELOCK,
    .mechanism = WIRE_MECHANISM_IMPORTS,
    .start = start,
    .stop = stop,
    .turn = turn,
};
