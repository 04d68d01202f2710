#include "core/agent/walk/virtual_thread.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/boot_class.h"
#include "core/base/hash.h"

#include <string.h>

#define TRIES 2

#define CONTINUATION "jdk/internal/vm/Continuation"

static jclass find_class(JNIEnv *jni, const char *name) {
    jclass c = boot_class(jni, name);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    return c;
}

/* The way from a carrier's continuation to the virtual thread it was made for. */
static bool learn_way_back(struct virtual_layout *v, const struct oop_layout *o, JNIEnv *jni,
                           jclass thread, jclass mounted) {
    jclass continuation = find_class(jni, CONTINUATION);
    jclass target = find_class(jni, "java/lang/VirtualThread$VThreadContinuation$1");
    bool ok =
        oop_field_offset(o, jni, thread, "cont", "L" CONTINUATION ";", &v->carrier_cont) &&
        oop_field_offset(o, jni, mounted, "cont", "L" CONTINUATION ";", &v->own_cont) &&
        oop_field_offset(o, jni, continuation, "target", "Ljava/lang/Runnable;", &v->cont_target) &&
        oop_field_offset(o, jni, target, "val$vthread", "Ljava/lang/VirtualThread;",
                         &v->target_thread);
    (*jni)->DeleteLocalRef(jni, target);
    (*jni)->DeleteLocalRef(jni, continuation);
    return ok;
}

void virtual_thread_learn(struct vm *vm, JNIEnv *jni) {
    struct virtual_layout *v = &vm->virtual_threads;
    const struct oop_layout *o = &vm->oops;
    jclass thread = find_class(jni, "java/lang/Thread");
    jclass mounted = find_class(jni, "java/lang/VirtualThread");
    v->known =
        vm->at.thread_vthread >= 0 && o->form != OOP_UNKNOWN &&
        oop_field_offset(o, jni, thread, "tid", "J", &v->thread_id) &&
        oop_field_offset(o, jni, thread, "name", "Ljava/lang/String;", &v->thread_name) &&
        oop_field_offset(o, jni, thread, "eetop", "J", &v->thread_eetop) &&
        oop_field_offset(o, jni, mounted, "carrierThread", "Ljava/lang/Thread;", &v->carrier);
    v->has_way_back = v->known && learn_way_back(v, o, jni, thread, mounted);
    (*jni)->DeleteLocalRef(jni, mounted);
    (*jni)->DeleteLocalRef(jni, thread);
}

/* Whether a virtual thread's object leads back to its carrier. The carrier's object has two
 * addresses while it is being moved: its eetop is the same at both, and no other object's is this
 * thread (a virtual thread's is 0). */
static bool is_carried_by(const struct vm *vm, uintptr_t object, uintptr_t java_thread) {
    const struct virtual_layout *v = &vm->virtual_threads;
    uintptr_t carrier = object ? oop_in_field(&vm->oops, object + v->carrier) : 0;
    return carrier && guarded_load64(carrier + v->thread_eetop) == java_thread;
}

/* In some of its own code (sleep, unpark) a virtual thread passes for its carrier. It is still
 * mounted: the carrier's continuation is its own. */
static uintptr_t disguised(const struct vm *vm, uintptr_t carrier) {
    const struct virtual_layout *v = &vm->virtual_threads;
    const struct oop_layout *o = &vm->oops;
    uintptr_t cont = carrier && v->has_way_back ? oop_in_field(o, carrier + v->carrier_cont) : 0;
    uintptr_t target = cont ? oop_in_field(o, cont + v->cont_target) : 0;
    uintptr_t object = target ? oop_in_field(o, target + v->target_thread) : 0;
    return object && oop_in_field(o, object + v->own_cont) == cont ? object : 0;
}

/* The object of the virtual thread that a thread carries, 0: none. */
static uintptr_t mounted_on(const struct vm *vm, uintptr_t java_thread) {
    const struct virtual_layout *v = &vm->virtual_threads;
    uintptr_t current = guarded_load64(java_thread + (uintptr_t)vm->at.thread_vthread);
    for (int tries = 0; current && tries < TRIES; tries++) {
        uintptr_t object = oop_in_handle(&vm->oops, current);
        if (object && guarded_load64(object + v->thread_eetop) == java_thread)
            object = disguised(vm, object); /* the current thread is the carrier itself */
        if (!object)
            return 0;
        if (is_carried_by(vm, object, java_thread))
            return object;
    }
    return 0;
}

static uint64_t hash(uint64_t id, const struct oop_text *t) {
    size_t bytes = (size_t)t->units << !t->latin1;
    uint64_t h = hash_more(id, bytes);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t part = 0;
        memcpy(&part, t->raw + i, bytes - i < 8 ? bytes - i : 8);
        h = hash_more(h, part);
    }
    return h;
}

static bool announce(struct names *n, uint64_t id, uint32_t tid, const struct oop_text *t) {
    uint8_t name[VIRTUAL_NAME_BYTES];
    size_t bytes = oop_text_utf8(t, name, sizeof name);
    struct wire_thread *r =
        ring_reserve(n->ring, WIRE_THREAD, (uint32_t)(sizeof(struct wire_thread) + bytes));
    if (!r)
        return false;
    r->java_id = id;
    r->tid = tid;
    r->name_bytes = (uint16_t)bytes;
    r->flags = WIRE_THREAD_VIRTUAL;
    memcpy(r->bytes, name, bytes);
    ring_commit(r, WIRE_THREAD);
    return true;
}

uint64_t virtual_thread_current(const struct vm *vm, struct names *names, uintptr_t java_thread,
                                uint32_t tid) {
    const struct virtual_layout *v = &vm->virtual_threads;
    uintptr_t object = v->known && java_thread ? mounted_on(vm, java_thread) : 0;
    uint64_t id = object ? guarded_load64(object + v->thread_id) : 0;
    if (!id)
        return 0;
    struct oop_text text;
    uintptr_t name = oop_in_field(&vm->oops, object + v->thread_name);
    if (!name || !oop_read_text(&vm->oops, name, &text)) {
        text.units = 0;
        text.latin1 = true;
    }
    uint64_t h = hash(id, &text);
    /* What was read was the thread's if the thread is still there afterwards. */
    if (!recent_set_has(&names->virtual_threads, h) && mounted_on(vm, java_thread) == object &&
        announce(names, id, tid, &text))
        recent_set_add(&names->virtual_threads, h);
    return id;
}
