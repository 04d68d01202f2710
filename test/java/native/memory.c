/*
 * Native memory and locks in known amounts, for NativeMemory.java. Compiled twice, under two names:
 * one library is loaded at the start, the other while somebody looks on.
 */
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
#define EXPORT __attribute__((visibility("default"), noinline))
#define NATIVE(name) EXPORT JNIEXPORT NAME(NAME(Java_NativeMemory_, name), KIND)

void *volatile kept;

#define ROUNDS(n) for (jlong i = 0; i < (n); i++)

void NATIVE(leak)(JNIEnv *env, jclass c, jlong n, jlong bytes) {
    (void)env, (void)c;
    ROUNDS(n) {
        void **p = malloc((size_t)bytes);
        *p = kept;
        kept = p;
    }
}

/* All at once, and then none of it. */
void NATIVE(hold)(JNIEnv *env, jclass c, jlong n, jlong bytes) {
    (void)env, (void)c;
    void **first = NULL;
    ROUNDS(n) {
        void **p = malloc((size_t)bytes);
        *p = first;
        first = p;
    }
    while (first) {
        void **next = *first;
        free(first);
        first = next;
    }
}

/* Every way to get memory and to give it back. */
void NATIVE(churn)(JNIEnv *env, jclass c, jlong n, jlong bytes) {
    (void)env, (void)c;
    ROUNDS(n) {
        void *volatile p = malloc((size_t)bytes);
        p = realloc(p, (size_t)bytes * 2);
        free(p);
        p = calloc(2, (size_t)bytes);
        free(p);
        void *q;
        if (posix_memalign(&q, 64, (size_t)bytes) == 0)
            free(q);
        p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(p, (size_t)bytes);
    }
}

/* Loads a library and unloads it, n times. */
void NATIVE(reload)(JNIEnv *env, jclass c, jlong n, jstring path) {
    (void)c;
    const char *name = (*env)->GetStringUTFChars(env, path, NULL);
    ROUNDS(n) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library)
            dlclose(library);
    }
    (*env)->ReleaseStringUTFChars(env, path, name);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static jlong now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (jlong)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits n times for what never comes; the time it took, ns. */
jlong NATIVE(await)(JNIEnv *env, jclass c, jlong n, jlong ns) {
    (void)env, (void)c;
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    jlong waited = 0;
    pthread_mutex_lock(&own);
    ROUNDS(n) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += ns;
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        jlong before = now();
        pthread_cond_timedwait(&never, &own, &end);
        waited += now() - before;
    }
    pthread_mutex_unlock(&own);
    return waited;
}

static void keep(jlong ns) {
    struct timespec t = {.tv_nsec = ns};
    if (ns)
        nanosleep(&t, NULL);
}

/* Takes the lock n times and keeps it for a while; the time it took to get it, ns. */
jlong NATIVE(contend)(JNIEnv *env, jclass c, jlong n, jlong held_ns, jboolean rw) {
    (void)env, (void)c;
    jlong waited = 0;
    ROUNDS(n) {
        jlong before = now();
        if (rw)
            pthread_rwlock_wrlock(&rwlock);
        else
            pthread_mutex_lock(&mutex);
        waited += now() - before;
        keep(held_ns);
        if (rw)
            pthread_rwlock_unlock(&rwlock);
        else
            pthread_mutex_unlock(&mutex);
    }
    return waited;
}
