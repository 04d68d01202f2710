#include "core/agent/pauses.h"

#include "core/base/clock.h"

#include <sched.h>

static struct {
    struct ring_writer *_Atomic ring; /* NULL: closed */
    _Atomic uint64_t begin_ns;        /* of the current pause; 0: none */
    _Atomic uint32_t at_work;         /* callbacks that are running */
} pauses;

static const jvmtiCapabilities capability = {.can_generate_garbage_collection_events = 1};
static const jvmtiEvent events[] = {JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};

static void JNICALL on_start(jvmtiEnv *jvmti) {
    (void)jvmti;
    atomic_store(&pauses.begin_ns, clock_now_ns());
}

static void JNICALL on_finish(jvmtiEnv *jvmti) {
    (void)jvmti;
    atomic_fetch_add(&pauses.at_work, 1);
    struct ring_writer *ring = atomic_load(&pauses.ring);
    uint64_t begin = atomic_exchange(&pauses.begin_ns, 0);
    struct wire_pause *r =
        ring && begin ? ring_reserve(ring, WIRE_PAUSE, sizeof(struct wire_pause)) : NULL;
    if (r) {
        r->begin_ns = begin;
        r->end_ns = clock_now_ns();
        r->kind = WIRE_PAUSE_GC;
        r->reserved = 0;
        ring_commit(r, WIRE_PAUSE);
    }
    atomic_fetch_sub(&pauses.at_work, 1);
}

static void listen(jvmtiEnv *jvmti, jvmtiEventMode mode) {
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        (*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL);
}

void pauses_open(struct ring_writer *ring, jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks) {
    if (atomic_load(&pauses.ring) ||
        (*jvmti)->AddCapabilities(jvmti, &capability) != JVMTI_ERROR_NONE)
        return;
    atomic_store(&pauses.begin_ns, 0);
    atomic_store(&pauses.ring, ring);
    callbacks->GarbageCollectionStart = on_start;
    callbacks->GarbageCollectionFinish = on_finish;
    (*jvmti)->SetEventCallbacks(jvmti, callbacks, sizeof *callbacks);
    listen(jvmti, JVMTI_ENABLE);
}

void pauses_close(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks) {
    if (!atomic_load(&pauses.ring))
        return;
    listen(jvmti, JVMTI_DISABLE);
    callbacks->GarbageCollectionStart = NULL;
    callbacks->GarbageCollectionFinish = NULL;
    (*jvmti)->SetEventCallbacks(jvmti, callbacks, sizeof *callbacks);
    (*jvmti)->RelinquishCapabilities(jvmti, &capability);
    atomic_store(&pauses.ring, NULL);
    while (atomic_load(&pauses.at_work))
        sched_yield();
}
