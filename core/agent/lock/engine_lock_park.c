#include "core/agent/lock/engine_lock.h"

#include "core/agent/agent.h"
#include "core/agent/vm/boot_class.h"
#include "core/base/hash.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Which locks: the synchronizers of these classes and their subclasses, which is what LockSupport
 * gets as the reason to park. Others are no locks: CountDownLatch, conditions, queues. */
static const char *const sync_class[LOCK_CLASSES] = {
    "java/util/concurrent/locks/ReentrantLock$Sync",
    "java/util/concurrent/locks/ReentrantReadWriteLock$Sync",
    "java/util/concurrent/Semaphore$Sync",
};
#define SYNC_SEMAPHORE 2
#define NAME_UNITS 128 /* of a thread's name, at most */

#define EVENT_MOUNT "com.sun.hotspot.events.VirtualThreadMount"
#define EVENT_UNMOUNT "com.sun.hotspot.events.VirtualThreadUnmount"

static void clear(JNIEnv *jni) {
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

/* Why a thread parks, a local reference, or NULL. Asked before anything else, and outside the
 * engine: most parks are for nothing, or end here. */
static jobject blocker_of(JNIEnv *jni, jthread thread) {
    return (*jni)->GetObjectField(jni, thread, lock_engine.classes.blocker);
}

static bool is_lock(JNIEnv *jni, jobject blocker, uint32_t *flags) {
    const struct lock_classes *c = &lock_engine.classes;
    for (int i = 0; i < LOCK_CLASSES; i++) {
        if (!c->sync[i] || !(*jni)->IsInstanceOf(jni, blocker, c->sync[i]))
            continue;
        *flags = i == SYNC_SEMAPHORE ? WIRE_LOCK_SHARED : 0;
        return true;
    }
    return false;
}

/* The thread in out->java, if it is still that of this object. */
static void identify(const struct engine_run *run, JNIEnv *jni, jthread thread,
                     struct lock_owner *out) {
    out->java = threads_java_thread(run->threads, jni, thread);
    if (!out->java || !monitors_identify(&lock_engine.monitors, out) ||
        threads_java_thread(run->threads, jni, thread) != out->java)
        *out = (struct lock_owner){0};
}

/* A virtual thread is announced where it is sampled; one that only holds a lock, and is not mounted
 * meanwhile, by its object. */
static void announce(struct names *names, JNIEnv *jni, jthread thread, uint64_t id) {
    uint64_t h = hash_word(id);
    if (recent_set_has(&names->virtual_threads, h))
        return;
    char text[3 * NAME_UNITS + 1] = "";
    jstring name = (*jni)->GetObjectField(jni, thread, lock_engine.classes.name);
    jsize units = name ? (*jni)->GetStringLength(jni, name) : 0;
    if (units)
        (*jni)->GetStringUTFRegion(jni, name, 0, units < NAME_UNITS ? units : NAME_UNITS, text);
    if (name)
        (*jni)->DeleteLocalRef(jni, name);
    uint32_t n = (uint32_t)strlen(text);
    struct wire_thread *r = ring_reserve(names->ring, WIRE_THREAD, (uint32_t)sizeof *r + n);
    if (!r)
        return;
    r->java_id = id;
    r->tid = 0;
    r->name_bytes = (uint16_t)n;
    r->flags = WIRE_THREAD_VIRTUAL;
    memcpy(r->bytes, text, n);
    ring_commit(r, WIRE_THREAD);
    recent_set_add(&names->virtual_threads, h);
}

struct lock_owner lock_owner_by_thread(const struct engine_run *run, JNIEnv *jni, jthread thread) {
    const struct lock_classes *c = &lock_engine.classes;
    struct lock_owner owner = {0};
    if (threads_java_thread(run->threads, jni, thread)) {
        identify(run, jni, thread, &owner);
        owner.virtual_id = 0;
    } else if (c->carrier && c->name) {
        uint64_t id = (uint64_t)(*jni)->GetLongField(jni, thread, run->threads->java_tid);
        jthread carrier = (*jni)->GetObjectField(jni, thread, c->carrier);
        if (carrier) {
            identify(run, jni, carrier, &owner);
            (*jni)->DeleteLocalRef(jni, carrier);
        }
        owner.virtual_id = id;
        announce(&run->sampler->names, jni, thread, id);
    }
    return owner;
}

/* Semaphores and read locks have no owner. */
static struct lock_owner owner_of(const struct engine_run *run, JNIEnv *jni, jobject lock,
                                  uint32_t flags) {
    struct lock_owner owner = {0};
    jthread thread = flags & WIRE_LOCK_SHARED
                         ? NULL
                         : (*jni)->GetObjectField(jni, lock, lock_engine.classes.owner);
    if (!thread)
        return owner;
    owner = lock_owner_by_thread(run, jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
    return owner;
}

/* False: it does not park for a lock. */
static bool begin(const struct engine_run *run, JNIEnv *jni, jobject blocker, struct lock_wait *w) {
    uint32_t flags;
    if (!is_lock(jni, blocker, &flags))
        return false;
    struct lock_owner owner = owner_of(run, jni, blocker, flags);
    lock_begin(w, &owner);
    return true;
}

static void end(const struct engine_run *run, JNIEnv *jni, jthread thread, struct lock_wait *w,
                const void *frame) {
    uint32_t flags;
    struct lock_waiter who = lock_waiter_of(run, jni, thread);
    jobject blocker = blocker_of(jni, thread);
    if (!blocker)
        return;
    if (is_lock(jni, blocker, &flags))
        lock_end(w, run, jni, blocker, flags, &who, frame);
    (*jni)->DeleteLocalRef(jni, blocker);
}

/* Threads that park in Unsafe.park: platform threads, and virtual ones that are pinned. */

static jthread current(void) {
    jthread thread = NULL;
    return (*agent.jvmti)->GetCurrentThread(agent.jvmti, &thread) == JVMTI_ERROR_NONE ? thread
                                                                                      : NULL;
}

static bool begin_park(JNIEnv *jni, struct lock_wait *w) {
    bool watched = false;
    jthread thread = lock_engine.run ? current() : NULL;
    if (!thread)
        return false;
    jobject blocker = blocker_of(jni, thread);
    (*jni)->DeleteLocalRef(jni, thread);
    if (!blocker)
        return false;
    struct engine_run *run = lock_enter();
    if (run) {
        watched = begin(run, jni, blocker, w);
        lock_leave();
    }
    (*jni)->DeleteLocalRef(jni, blocker);
    return watched;
}

static void end_park(JNIEnv *jni, struct lock_wait *w, const void *frame) {
    struct engine_run *run = lock_enter();
    if (!run)
        return;
    jthread thread = (*jni)->ExceptionCheck(jni) ? NULL : current();
    if (thread) {
        end(run, jni, thread, w, frame);
        (*jni)->DeleteLocalRef(jni, thread);
    }
    lock_leave();
}

/* Replaces Unsafe.park's. A thread that is in it when the engine stops finds no engine. */
static void JNICALL park_watched(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time) {
    struct lock_wait w;
    bool watched = begin_park(jni, &w);
    lock_engine.park.original(jni, unsafe, absolute, time);
    if (watched)
        end_park(jni, &w, __builtin_frame_address(0));
}

/* Virtual threads. They are unmounted while they wait, and no function of the VM's is called that
 * could be replaced. */

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...) {
    va_list arguments;
    va_start(arguments, jvmti);
    JNIEnv *jni = va_arg(arguments, JNIEnv *);
    jthread thread = va_arg(arguments, jthread);
    va_end(arguments);
    jobject blocker = blocker_of(jni, thread);
    if (!blocker)
        return;
    struct lock_wait w;
    struct engine_run *run = lock_enter();
    if (run && begin(run, jni, blocker, &w)) {
        struct lock_waiter who = lock_waiter_of(run, jni, thread);
        struct lock_wait *entry = lock_waits_begin(
            &lock_engine.waits, lock_wait_key(who.id, who.is_virtual, LOCK_WAIT_PARK));
        if (entry)
            *entry = w;
    }
    if (run)
        lock_leave();
    (*jni)->DeleteLocalRef(jni, blocker);
}

static void JNICALL on_mount(jvmtiEnv *jvmti, ...) {
    va_list arguments;
    va_start(arguments, jvmti);
    JNIEnv *jni = va_arg(arguments, JNIEnv *);
    jthread thread = va_arg(arguments, jthread);
    va_end(arguments);
    struct engine_run *run = lock_waits_any(&lock_engine.waits) ? lock_enter() : NULL;
    if (!run)
        return;
    struct lock_wait w;
    struct lock_waiter who = lock_waiter_of(run, jni, thread);
    if (lock_waits_end(&lock_engine.waits, lock_wait_key(who.id, who.is_virtual, LOCK_WAIT_PARK),
                       &w))
        end(run, jni, thread, &w, __builtin_frame_address(0));
    lock_leave();
}

static void forget_event(jvmtiEnv *jvmti, jvmtiExtensionEventInfo *e) {
    for (jint i = 0; i < e->param_count; i++)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)e->params[i].name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)e->params);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)e->short_description);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)e->id);
}

/* The VM's indexes of the two events; 0 if it has none. */
static void find_events(jvmtiEnv *jvmti, jint *mount, jint *unmount) {
    jint n = 0;
    jvmtiExtensionEventInfo *all = NULL;
    *mount = *unmount = 0;
    if ((*jvmti)->GetExtensionEvents(jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < n; i++) {
        if (strcmp(all[i].id, EVENT_MOUNT) == 0)
            *mount = all[i].extension_event_index;
        else if (strcmp(all[i].id, EVENT_UNMOUNT) == 0)
            *unmount = all[i].extension_event_index;
        forget_event(jvmti, &all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

/* NULL: no more. */
static bool listen(jvmtiEnv *jvmti, jint index, jvmtiExtensionEvent callback) {
    return (*jvmti)->SetExtensionEventCallback(jvmti, index, callback) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, callback ? JVMTI_ENABLE : JVMTI_DISABLE,
                                              (jvmtiEvent)index, NULL) == JVMTI_ERROR_NONE;
}

static jfieldID field(JNIEnv *jni, const char *name, const char *field_name, const char *type) {
    jclass c = boot_class(jni, name);
    jfieldID id = c ? (*jni)->GetFieldID(jni, c, field_name, type) : NULL;
    clear(jni);
    if (c)
        (*jni)->DeleteLocalRef(jni, c);
    return id;
}

void lock_parks_learn(JNIEnv *jni) {
    struct lock_classes *c = &lock_engine.classes;
    for (int i = 0; i < LOCK_CLASSES; i++) {
        jclass local = boot_class(jni, sync_class[i]);
        c->sync[i] = local ? (*jni)->NewGlobalRef(jni, local) : NULL;
        if (local)
            (*jni)->DeleteLocalRef(jni, local);
    }
    c->blocker = field(jni, "java/lang/Thread", "parkBlocker", "Ljava/lang/Object;");
    c->owner = field(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer",
                     "exclusiveOwnerThread", "Ljava/lang/Thread;");
    c->name = field(jni, "java/lang/Thread", "name", "Ljava/lang/String;");
    c->carrier = agent.vm.virtual_threads.known
                     ? field(jni, "java/lang/VirtualThread", "carrierThread", "Ljava/lang/Thread;")
                     : NULL;
}

static void forget(struct lock_classes *c, JNIEnv *jni) {
    for (int i = 0; i < LOCK_CLASSES; i++) {
        if (c->sync[i])
            (*jni)->DeleteGlobalRef(jni, c->sync[i]);
        c->sync[i] = NULL;
    }
}

int lock_parks_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    struct lock_engine *e = &lock_engine;
    find_events(run->jvmti, &e->mount, &e->unmount);
    if (!e->classes.blocker || !e->classes.owner) {
        snprintf(why, why_bytes, "monitors only: this JDK has no Thread.parkBlocker");
        return -ENOTSUP;
    }
    e->park.jvmti = run->jvmti;
    e->park.callbacks = run->callbacks;
    int r = park_replace(&e->park, &agent.vm, park_watched, jni, why, why_bytes);
    e->parks = r == 0;
    if (e->mount && e->unmount) {
        listen(run->jvmti, e->unmount, on_unmount);
        listen(run->jvmti, e->mount, on_mount);
    }
    return r;
}

void lock_parks_stop(struct engine_run *run, JNIEnv *jni) {
    struct lock_engine *e = &lock_engine;
    if (e->mount && e->unmount) {
        listen(run->jvmti, e->unmount, NULL);
        listen(run->jvmti, e->mount, NULL);
    }
    e->mount = e->unmount = 0;
    if (e->parks)
        park_restore(&e->park, park_watched, jni);
    e->parks = false;
    forget(&e->classes, jni);
}
