#include "core/agent/threads.h"

#include "core/agent/guarded.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_ENTRY UINT32_MAX

static uint32_t own_tid(void) {
    return (uint32_t)syscall(SYS_gettid);
}

static void *reserve(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

int threads_map(struct threads *t) {
    t->count = t->alive = t->free_head = t->armed = t->scans = 0;
    t->entry = reserve(THREADS_MAX * sizeof *t->entry);
    t->note = reserve(THREADS_MAX * sizeof *t->note);
    t->index_of_tid = reserve(THREADS_TID_MAX * sizeof *t->index_of_tid);
    if (t->entry && t->note && t->index_of_tid)
        return 0;
    threads_unmap(t);
    return -ENOMEM;
}

void threads_unmap(struct threads *t) {
    if (t->entry)
        munmap(t->entry, THREADS_MAX * sizeof *t->entry);
    if (t->note)
        munmap(t->note, THREADS_MAX * sizeof *t->note);
    if (t->index_of_tid)
        munmap(t->index_of_tid, THREADS_TID_MAX * sizeof *t->index_of_tid);
    t->entry = NULL;
    t->note = NULL;
    t->index_of_tid = NULL;
}

/* The thread's entry, a new one where it has none yet; NO_ENTRY when the table is full. */
static uint32_t find(struct threads *t, uint32_t tid) {
    if (tid >= THREADS_TID_MAX)
        return NO_ENTRY;
    uint32_t i = t->index_of_tid[tid] - 1;
    if (i != NO_ENTRY)
        return i;
    if (t->free_head) {
        i = t->free_head - 1;
        t->free_head = t->note[i].next_free;
    } else if (t->count < THREADS_MAX) {
        i = t->count++;
    } else {
        return NO_ENTRY;
    }
    t->note[i] = (struct thread_note){.seen = t->scans};
    t->entry[i] = (struct engine_thread){.tid = tid};
    t->index_of_tid[tid] = i + 1;
    t->alive++;
    return i;
}

static int arm(struct threads *t, uint32_t i) {
    if (!t->engine || !t->engine->per_thread || t->note[i].armed || t->entry[i].tid == t->own_tid)
        return 0;
    int r = t->engine->arm(&t->config, &t->entry[i], i);
    if (r == 0) {
        t->note[i].armed = true;
        t->armed++;
    }
    return r;
}

static void disarm(struct threads *t, uint32_t i) {
    if (!t->note[i].armed)
        return;
    t->engine->disarm(&t->entry[i]);
    t->note[i].armed = false;
    t->armed--;
}

static void forget(struct threads *t, uint32_t i) {
    disarm(t, i);
    if (t->ring) {
        struct wire_thread_end *r = ring_reserve(t->ring, WIRE_THREAD_END, sizeof *r);
        if (r) {
            r->tid = t->entry[i].tid;
            r->reserved = 0;
            ring_commit(r, WIRE_THREAD_END);
        }
    }
    t->index_of_tid[t->entry[i].tid] = 0;
    t->entry[i].tid = 0;
    t->note[i].next_free = t->free_head;
    t->free_head = i + 1;
    t->alive--;
}

static uint32_t tasks(void) {
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 0;
}

static int scan_locked(struct threads *t) {
    DIR *d = opendir("/proc/self/task");
    if (!d)
        return -errno;
    int first_error = 0;
    t->scans++;
    for (struct dirent *e; (e = readdir(d));) {
        uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);
        uint32_t i = tid ? find(t, tid) : NO_ENTRY;
        if (i == NO_ENTRY)
            continue;
        t->note[i].seen = t->scans;
        int r = arm(t, i);
        if (r < 0 && r != -ESRCH && !first_error)
            first_error = r;
    }
    closedir(d);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->entry[i].tid && t->note[i].seen != t->scans)
            forget(t, i);
    return first_error;
}

void threads_scan(struct threads *t, bool full) {
    pthread_mutex_lock(&t->lock);
    if (t->entry && (full || tasks() != t->alive))
        scan_locked(t);
    pthread_mutex_unlock(&t->lock);
}

int threads_arm_all(struct threads *t, const struct engine *e, const struct engine_config *c) {
    pthread_mutex_lock(&t->lock);
    t->engine = e;
    t->config = *c;
    int r = scan_locked(t);
    if (t->armed || !e->per_thread)
        r = 0;
    if (r < 0)
        t->engine = NULL;
    pthread_mutex_unlock(&t->lock);
    return r;
}

void threads_disarm_all(struct threads *t) {
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; i < t->count; i++)
        disarm(t, i);
    t->engine = NULL;
    pthread_mutex_unlock(&t->lock);
}

uintptr_t threads_java_thread(const struct threads *t, JNIEnv *jni, jthread thread) {
    return (uintptr_t)(*jni)->GetLongField(jni, thread, t->eetop);
}

static uint64_t hash(const char *s, uint64_t h) {
    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * UINT64_C(1099511628211);
    return h ? h : 1;
}

/* Announces a thread's name unless that was done already. */
static void name(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, uint32_t tid) {
    jvmtiThreadInfo info = {0};
    uint32_t i = find(t, tid);
    if (i == NO_ENTRY || (*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return;
    const char *text = info.name ? info.name : "";
    uint64_t id = (uint64_t)(*jni)->GetLongField(jni, thread, t->java_tid);
    uint64_t h = hash(text, UINT64_C(14695981039346656037) + id);
    if (h != t->note[i].name_hash) {
        size_t n = strlen(text);
        n = n < WIRE_STRING_MAX ? n : WIRE_STRING_MAX;
        struct wire_thread *r = ring_reserve(t->ring, WIRE_THREAD, (uint32_t)(sizeof *r + n));
        if (r) {
            r->java_id = id;
            r->tid = tid;
            r->name_bytes = (uint16_t)n;
            r->reserved = 0;
            memcpy(r->bytes, text, n);
            ring_commit(r, WIRE_THREAD);
            t->note[i].name_hash = h;
        }
    }
    if (info.name)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

void threads_name_all(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni) {
    jint n = 0;
    jthread *all = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        uintptr_t java = threads_java_thread(t, jni, all[i]);
        uintptr_t os = java ? guarded_load64(java + (uintptr_t)t->vm->at.thread_osthread) : 0;
        uint32_t tid = os ? guarded_load32(os + (uintptr_t)t->vm->at.osthread_tid) : 0;
        if (tid) {
            pthread_mutex_lock(&t->lock);
            vm_know_java_thread(t->vm, java);
            if (t->entry && t->ring)
                name(t, jvmti, jni, all[i], tid);
            pthread_mutex_unlock(&t->lock);
        }
        (*jni)->DeleteLocalRef(jni, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

void threads_started(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    uint32_t tid = own_tid();
    pthread_mutex_lock(&t->lock);
    if (t->entry && t->ring) {
        vm_know_java_thread(t->vm, threads_java_thread(t, jni, thread));
        uint32_t i = find(t, tid);
        if (i != NO_ENTRY) {
            name(t, jvmti, jni, thread, tid);
            arm(t, i);
        }
    }
    pthread_mutex_unlock(&t->lock);
}

void threads_ended(struct threads *t) {
    uint32_t tid = own_tid();
    pthread_mutex_lock(&t->lock);
    if (t->entry && tid < THREADS_TID_MAX && t->index_of_tid[tid])
        forget(t, t->index_of_tid[tid] - 1);
    pthread_mutex_unlock(&t->lock);
}
