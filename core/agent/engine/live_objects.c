#include "core/agent/engine/live_objects.h"

#include "core/agent/process/reserve.h"

#include <errno.h>
#include <sys/mman.h>

#define PROBES 64u

enum live_state { LIVE_FREE = 0, LIVE_CLAIMED, LIVE_FOLLOWED };

#define BYTES (LIVE_OBJECTS_MAX * sizeof(struct live_object))

int live_objects_open(struct live_objects *l) {
    void *p = reserve(BYTES);
    if (!p)
        return -errno;
    *l = (struct live_objects){.place = p};
    return 0;
}

void live_objects_close(struct live_objects *l, JNIEnv *jni) {
    if (!l->place)
        return;
    for (uint32_t i = 0; i < LIVE_OBJECTS_MAX && atomic_load(&l->followed); i++) {
        if (atomic_load(&l->place[i].state) != LIVE_FOLLOWED)
            continue;
        (*jni)->DeleteWeakGlobalRef(jni, l->place[i].object);
        atomic_fetch_sub(&l->followed, 1);
    }
    munmap(l->place, BYTES);
    *l = (struct live_objects){.place = NULL};
}

int32_t live_objects_claim(struct live_objects *l) {
    uint32_t at = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t place = (at + i) % LIVE_OBJECTS_MAX;
        uint32_t state = LIVE_FREE;
        if (atomic_compare_exchange_strong(&l->place[place].state, &state, LIVE_CLAIMED)) {
            if (i)
                atomic_fetch_add_explicit(&l->next, i, memory_order_relaxed);
            return (int32_t)place;
        }
    }
    atomic_fetch_add_explicit(&l->next, PROBES - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->refused, 1, memory_order_relaxed);
    return -1;
}

void live_objects_drop(struct live_objects *l, int32_t place) {
    if (place >= 0)
        atomic_store(&l->place[place].state, LIVE_FREE);
}

bool live_objects_follow(struct live_objects *l, int32_t place, uint64_t id, JNIEnv *jni,
                         jobject object) {
    struct live_object *o = &l->place[place];
    o->object = (*jni)->NewWeakGlobalRef(jni, object);
    if (!o->object) {
        (*jni)->ExceptionClear(jni);
        live_objects_drop(l, place);
        return false;
    }
    o->id = id;
    atomic_fetch_add(&l->followed, 1);
    atomic_store(&o->state, LIVE_FOLLOWED);
    return true;
}

void live_objects_look(struct live_objects *l, JNIEnv *jni, uint32_t most,
                       bool (*gone)(void *arg, uint64_t id), void *arg) {
    if (most > LIVE_OBJECTS_MAX)
        most = LIVE_OBJECTS_MAX;
    for (uint32_t n = 0; n < most && atomic_load_explicit(&l->followed, memory_order_relaxed);
         n++, l->looked = (l->looked + 1) % LIVE_OBJECTS_MAX) {
        struct live_object *o = &l->place[l->looked];
        if (atomic_load(&o->state) != LIVE_FOLLOWED || !(*jni)->IsSameObject(jni, o->object, NULL))
            continue;
        if (!gone(arg, o->id))
            return;
        (*jni)->DeleteWeakGlobalRef(jni, o->object);
        atomic_fetch_sub(&l->followed, 1);
        atomic_store(&o->state, LIVE_FREE);
    }
}
