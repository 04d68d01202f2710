#include "core/agent/threads.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/reserve.h"
#include "core/agent/vm/vm_compiler.h"
#include "core/base/clock.h"
#include "core/base/hash.h"

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

static void unmap(struct threads *t) {
    if (t->tid)
        munmap(t->tid, THREADS_MAX * sizeof *t->tid);
    if (t->note)
        munmap(t->note, THREADS_MAX * sizeof *t->note);
    if (t->index_of_tid)
        munmap(t->index_of_tid, WIRE_TID_MAX * sizeof *t->index_of_tid);
    t->tid = NULL;
    t->note = NULL;
    t->index_of_tid = NULL;
}

int threads_open(struct threads *t, struct vm *vm, struct ring_writer *ring) {
    pthread_mutex_lock(&t->lock);
    t->count = t->alive = t->free_head = t->scans = 0;
    t->late = false;
    memset(t->refused, 0, sizeof t->refused);
    t->vm = vm;
    t->tid = reserve(THREADS_MAX * sizeof *t->tid);
    t->note = reserve(THREADS_MAX * sizeof *t->note);
    t->index_of_tid = reserve(WIRE_TID_MAX * sizeof *t->index_of_tid);
    bool ok = t->tid && t->note && t->index_of_tid;
    if (ok)
        t->ring = ring;
    else
        unmap(t);
    pthread_mutex_unlock(&t->lock);
    return ok ? 0 : -ENOMEM;
}

void threads_close(struct threads *t, jvmtiEnv *jvmti) {
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_THREAD_START, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_THREAD_END, NULL);
    pthread_mutex_lock(&t->lock); /* a callback may be using the table */
    t->ring = NULL;
    unmap(t);
    pthread_mutex_unlock(&t->lock);
}

void threads_own(struct threads *t, uint32_t tid, bool own) {
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < THREADS_OWN_MAX; i++) {
        if (t->own_tid[i] != (own ? 0 : tid))
            continue;
        t->own_tid[i] = own ? tid : 0;
        break;
    }
    pthread_mutex_unlock(&t->lock);
}

bool threads_is_own(const struct threads *t, uint32_t tid) {
    for (int i = 0; i < THREADS_OWN_MAX; i++)
        if (t->own_tid[i] == tid)
            return true;
    return false;
}

uint32_t threads_list(struct threads *t, uint32_t *tid, uint32_t max) {
    uint32_t n = 0;
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; t->tid && i < t->count && n < max; i++)
        if (t->tid[i] && !threads_is_own(t, t->tid[i]))
            tid[n++] = t->tid[i];
    pthread_mutex_unlock(&t->lock);
    return n;
}

/* The index of the thread's entry, which is made if there is none yet. NO_ENTRY: the table is full,
 * or the number too large. */
static uint32_t find(struct threads *t, uint32_t tid) {
    if (tid >= WIRE_TID_MAX)
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
    t->tid[i] = tid;
    t->index_of_tid[tid] = i + 1;
    t->alive++;
    return i;
}

/* Stores the result of arming the thread at an index: 0, or -errno. Context: with the lock. */
static void threads_note_arming(struct threads *t, struct engine_run *run, uint32_t index,
                                int result);

static int arm_for(struct threads *t, struct engine_run *run, uint32_t i) {
    const struct engine *e = t->engine[run->request.event];
    run->thread[i] = (struct engine_thread){.tid = t->tid[i]};
    int r = e->arm(run, &run->thread[i], i);
    threads_note_arming(t, run, i, r);
    return r == -EAGAIN && e->fetch ? 0 : r;
}

/* Arms the thread for all running engines that need it. Returns the first error. */
static int arm(struct threads *t, uint32_t i) {
    int first_error = 0;
    if (threads_is_own(t, t->tid[i]))
        return 0;
    for (int event = 0; event < WIRE_EVENTS; event++) {
        struct engine_run *run = t->run[event];
        if (!run || t->note[i].armed >> event & 1 || !sampler_allows(run->sampler, t->tid[i]))
            continue;
        int r = arm_for(t, run, i);
        if (r < 0 && !first_error)
            first_error = r;
    }
    return first_error;
}

static void disarm(struct threads *t, struct engine_run *run, const struct engine *e, uint32_t i) {
    uint16_t bit = (uint16_t)(1u << e->event);
    if (!(t->note[i].armed & bit))
        return;
    e->disarm(run, &run->thread[i]);
    run->thread[i].tid = 0;
    t->note[i].armed &= (uint16_t)~bit;
    engine_count(&run->status->threads, UINT64_MAX);
}

static void forget(struct threads *t, uint32_t i) {
    for (int event = 0; event < WIRE_EVENTS; event++)
        if (t->run[event])
            disarm(t, t->run[event], t->engine[event], i);
    if (t->ring) {
        struct wire_thread_end *r = ring_reserve(t->ring, WIRE_THREAD_END, sizeof *r);
        if (r) {
            r->tid = t->tid[i];
            r->reserved = 0;
            ring_commit(r, WIRE_THREAD_END);
        }
    }
    t->index_of_tid[t->tid[i]] = 0;
    t->tid[i] = 0;
    t->note[i].next_free = t->free_head;
    t->free_head = i + 1;
    t->alive--;
}

static uint32_t tasks(void) {
    struct stat st;
    return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 0;
}

/* Whether the thread is alive. The kernel may leave a living thread out of a listing when others
 * end meanwhile. */
static bool lives(uint32_t tid) {
    return syscall(SYS_tgkill, getpid(), tid, 0) == 0;
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
        if (t->tid[i] && t->note[i].seen != t->scans && !lives(t->tid[i]))
            forget(t, i);
    return first_error;
}

void threads_scan(struct threads *t, bool full) {
    pthread_mutex_lock(&t->lock);
    bool changed = t->tid && (full || tasks() != t->alive);
    if (changed)
        scan_locked(t);
    pthread_mutex_unlock(&t->lock);
    if (changed && t->vm->heaps)
        compiler_learn(t->vm); /* in case the VM had no compiler thread before */
}

int threads_arm_all(struct threads *t, struct engine_run *run) {
    uint32_t event = run->request.event;
    run->thread = reserve(THREADS_MAX * sizeof *run->thread);
    if (!run->thread)
        return -ENOMEM;
    pthread_mutex_lock(&t->lock);
    t->run[event] = run;
    t->engine[event] = run->engine;
    for (uint32_t i = 0; i < t->count; i++) {
        t->note[i].refused &= (uint16_t) ~(1u << event);
        t->note[i].late &= (uint16_t) ~(1u << event);
    }
    t->refused[event] = 0;
    int r = scan_locked(t);
    pthread_mutex_unlock(&t->lock);
    return r;
}

void threads_disarm_all(struct threads *t, struct engine_run *run, const struct engine *e) {
    pthread_mutex_lock(&t->lock);
    if (t->run[e->event] == run) {
        for (uint32_t i = 0; i < t->count; i++)
            disarm(t, run, e, i);
        t->run[e->event] = NULL;
    }
    if (run->thread)
        munmap(run->thread, THREADS_MAX * sizeof *run->thread);
    run->thread = NULL;
    pthread_mutex_unlock(&t->lock);
}

uintptr_t threads_java_of(struct threads *t, uint32_t tid) {
    pthread_mutex_lock(&t->lock);
    uint32_t i = t->tid && tid < WIRE_TID_MAX ? t->index_of_tid[tid] - 1 : NO_ENTRY;
    uintptr_t java = i != NO_ENTRY ? t->note[i].java : 0;
    pthread_mutex_unlock(&t->lock);
    return java;
}

uintptr_t threads_java_thread(const struct threads *t, JNIEnv *jni, jthread thread) {
    return (uintptr_t)(*jni)->GetLongField(jni, thread, t->eetop);
}

static uint64_t hash(const char *s, uint64_t h) {
    for (; *s; s++)
        h = hash_byte(h, (uint8_t)*s);
    return h ? h : 1;
}

/* What the VM knows about a Java thread. It is read without the lock: the calling thread may be
 * suspended inside the VM, and no other thread may have to wait for that. */
struct identity {
    char *name; /* JVMTI's, or NULL */
    uint64_t java_id;
    uintptr_t java; /* JavaThread*, 0: not alive */
};

static struct identity ask(const struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    struct identity who = {.java = threads_java_thread(t, jni, thread)};
    jvmtiThreadInfo info = {0};
    if (!who.java || (*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return who;
    who.name = info.name;
    who.java_id = (uint64_t)(*jni)->GetLongField(jni, thread, t->java_tid);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    return who;
}

static void forget_answer(jvmtiEnv *jvmti, struct identity *who) {
    if (who->name)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)who->name);
}

/* Writes the thread's name to the ring, unless that was done already. Context: with the lock. */
static void announce(struct threads *t, const struct identity *who, uint32_t i) {
    const char *text = who->name ? who->name : "";
    t->note[i].java = who->java;
    uint64_t h = hash(text, HASH_BYTE + who->java_id);
    if (h == t->note[i].name_hash)
        return;
    size_t n = strlen(text);
    n = n < WIRE_STRING_MAX ? n : WIRE_STRING_MAX;
    struct wire_thread *r = ring_reserve(t->ring, WIRE_THREAD, (uint32_t)(sizeof *r + n));
    if (!r)
        return;
    r->java_id = who->java_id;
    r->tid = t->tid[i];
    r->name_bytes = (uint16_t)n;
    r->flags = 0;
    memcpy(r->bytes, text, n);
    ring_commit(r, WIRE_THREAD);
    t->note[i].name_hash = h;
}

/* 0: not known. */
uint32_t threads_tid_of(const struct threads *t, uintptr_t java) {
    if (!t->vm->heaps) /* the VM does not describe itself */
        return 0;
    uintptr_t os = guarded_load64(java + (uintptr_t)t->vm->at.thread_osthread);
    return os ? guarded_load32(os + (uintptr_t)t->vm->at.osthread_tid) : 0;
}

/* Names a thread other than the calling one. It may end at any moment, and its memory may then be
 * reused. */
static void name_other(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    struct identity who = ask(t, jvmti, jni, thread);
    uint32_t tid = who.java ? threads_tid_of(t, who.java) : 0;
    uintptr_t vtable = who.java ? guarded_load64(who.java) : 0;
    /* The VM clears the thread's eetop before it releases the JavaThread. If that is unchanged, all
     * that was read above belongs to this thread. */
    if ((tid || !t->vm->heaps) && threads_java_thread(t, jni, thread) == who.java) {
        pthread_mutex_lock(&t->lock);
        uint32_t i = t->ring && tid ? find(t, tid) : NO_ENTRY;
        if (t->ring && (i != NO_ENTRY || !tid))
            vm_know_java_vtable(t->vm, vtable);
        if (i != NO_ENTRY)
            announce(t, &who, i);
        pthread_mutex_unlock(&t->lock);
    }
    forget_answer(jvmti, &who);
}

void threads_name_all(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni) {
    jint n = 0;
    jthread *all = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return;
    (*jni)->EnsureLocalCapacity(jni, n + 16);
    for (jint i = 0; i < n; i++) {
        name_other(t, jvmti, jni, all[i]);
        (*jni)->DeleteLocalRef(jni, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

void threads_tell_state(struct threads *t, uint32_t tid, uintptr_t java, enum wire_java state) {
    pthread_mutex_lock(&t->lock);
    uint32_t i = t->ring && tid < WIRE_TID_MAX ? t->index_of_tid[tid] - 1 : NO_ENTRY;
    struct thread_note *note = i != NO_ENTRY ? &t->note[i] : NULL;
    if (note && note->java == java && note->name_hash && note->java_state != state) {
        struct wire_java_state *r = ring_reserve(t->ring, WIRE_JAVA_STATE, sizeof *r);
        if (r) { /* otherwise the ring is full, and it is written the next time */
            r->tid = tid;
            r->state = (uint8_t)state;
            memset(r->reserved, 0, sizeof r->reserved);
            ring_commit(r, WIRE_JAVA_STATE);
            note->java_state = (uint8_t)state;
        }
    }
    pthread_mutex_unlock(&t->lock);
}

void threads_forget_states(struct threads *t) {
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; t->tid && i < t->count; i++)
        t->note[i].java_state = WIRE_JAVA_UNKNOWN;
    pthread_mutex_unlock(&t->lock);
}

void threads_started(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    struct identity who = ask(t, jvmti, jni, thread);
    uintptr_t vtable = who.java ? *(const uintptr_t *)who.java : 0; /* own thread: it is valid */
    uint32_t tid = own_tid();
    pthread_mutex_lock(&t->lock);
    uint32_t i = t->ring ? find(t, tid) : NO_ENTRY;
    if (i != NO_ENTRY) {
        vm_know_java_vtable(t->vm, vtable);
        announce(t, &who, i);
        arm(t, i);
        if (t->late && t->wake)
            t->wake();
    }
    pthread_mutex_unlock(&t->lock);
    forget_answer(jvmti, &who);
}

/* Removes the calling thread. A signal of its engines that is still pending must not be handled
 * later, when another thread may have the engines' resources. */
static void forget_self(struct threads *t, uint32_t i) {
    sigset_t ours;
    sigset_t before;
    const struct timespec now = {0};
    bool may_come = false;
    sigemptyset(&ours);
    for (int event = 0; event < WIRE_EVENTS; event++) {
        if (!(t->note[i].armed >> event & 1) || !t->run[event])
            continue;
        sigaddset(&ours, t->run[event]->signo);
        may_come = true;
    }
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    forget(t, i);
    while (may_come && sigtimedwait(&ours, NULL, &now) > 0)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void threads_ended(struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni, jthread thread) {
    struct identity who = ask(t, jvmti, jni, thread);
    uint32_t tid = own_tid();
    pthread_mutex_lock(&t->lock);
    uint32_t i = t->tid && tid < WIRE_TID_MAX ? t->index_of_tid[tid] : 0;
    if (i && t->ring && who.name) /* the thread may have been renamed */
        announce(t, &who, i - 1);
    if (i)
        forget_self(t, i - 1);
    pthread_mutex_unlock(&t->lock);
    forget_answer(jvmti, &who);
}

/* Late threads cannot be armed at once. The agent's thread arms them, and it does not hold the
 * threads' lock while it waits. */

static void threads_note_arming(struct threads *t, struct engine_run *run, uint32_t i, int r) {
    struct thread_note *note = &t->note[i];
    const struct engine *e = t->engine[run->request.event];
    uint16_t bit = (uint16_t)(1u << e->event);
    note->late &= (uint16_t)~bit;
    if (r == -EAGAIN && e->fetch) {
        note->late |= bit;
        t->late = true;
    } else if (r == 0) {
        note->armed |= bit;
        engine_count(&run->status->threads, 1);
    } else if (r != -ESRCH && !(note->refused & bit)) {
        note->refused |= bit;
        t->refused[e->event]++;
        t->refused_error[e->event] = -r;
    }
}

/* Finds the next late thread from *i on. False: there is none. */
static bool next_late(struct threads *t, struct engine_run *run, uint32_t *i, uint32_t *tid) {
    uint32_t event = run->request.event;
    bool found = false;
    pthread_mutex_lock(&t->lock);
    for (; t->run[event] == run && *i < t->count && !found; ++*i) {
        found = t->tid[*i] && t->note[*i].late >> event & 1;
        *tid = t->tid[*i];
    }
    pthread_mutex_unlock(&t->lock);
    --*i;
    return found;
}

/* Arms a late thread with its descriptor. It may have ended while the descriptor was fetched, and
 * another thread may have its entry. */
static int arm_with(struct threads *t, struct engine_run *run, uint32_t i, uint32_t tid, int fd) {
    uint32_t event = run->request.event;
    int r = -ESRCH;
    pthread_mutex_lock(&t->lock);
    if (t->run[event] == run && t->tid[i] == tid && t->note[i].late >> event & 1) {
        r = fd < 0 ? fd : t->engine[event]->adopt(run, &run->thread[i], i, fd);
        threads_note_arming(t, run, i, r);
    } else if (fd >= 0) {
        close(fd);
    }
    pthread_mutex_unlock(&t->lock);
    return r;
}

int threads_arm_late(struct threads *t, struct engine_run *run, uint64_t deadline_ms) {
    const struct engine *e = t->engine[run->request.event];
    int first_error = 0;
    uint32_t tid = 0;
    for (uint32_t i = 0; next_late(t, run, &i, &tid); i++) {
        uint64_t now = clock_now_ms();
        int fd = now < deadline_ms ? e->fetch(run, tid, (uint32_t)(deadline_ms - now)) : -ETIMEDOUT;
        if (fd == -ETIMEDOUT) {
            t->late = true;
            return fd;
        }
        int r = arm_with(t, run, i, tid, fd);
        if (r < 0 && r != -ESRCH && !first_error)
            first_error = r;
    }
    return first_error;
}
