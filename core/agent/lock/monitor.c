#include "core/agent/lock/monitor.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_flags.h"
#include "core/agent/vm/vm_tables.h"
#include "core/agent/walk/virtual_thread.h"
#include "core/base/hash.h"

#include <string.h>

#define MARK_KIND 3u /* low bits of a mark word */
#define MARK_MONITOR 2u
#define WORD_ANONYMOUS 1u /* ObjectMonitor::ANONYMOUS_OWNER */
#define WORD_MARKER 2u    /* ObjectMonitor::DEFLATER_MARKER; a JavaThread or an id is more */
#define HANDLE_TAG 3u     /* low bits of a JNI reference: its kind */
#define LOCK_STACK_WORDS 16u

static bool flag(const char *name) {
    bool value;
    return vm_flag_get(name, &value) && value;
}

static void learn_list(struct monitors *m, struct vm_tables *t) {
    m->list = vm_static(t, "ThreadsSMRSupport", "_java_thread_list");
    m->list_length = vm_offset(t, "ThreadsList", "_length");
    m->list_threads = vm_offset(t, "ThreadsList", "_threads");
    m->next = -1;
    if (m->list && m->list_length >= 0 && m->list_threads >= 0)
        return;
    m->list = vm_static(t, "Threads", "_thread_list");
    m->next = vm_offset(t, "JavaThread", "_next");
    if (m->next < 0)
        m->list = 0;
}

void monitors_learn(struct monitors *m, const struct vm *vm, struct names *names, JNIEnv *jni) {
    struct vm_tables t;
    *m = (struct monitors){.vm = vm, .names = names};
    if (!vm->heaps || vm_tables_open(&t) < 0)
        return;
    m->oops = vm->oops;
    if (m->oops.form == OOP_UNKNOWN && (*jni)->GetVersion(jni) >= 0x00090000)
        oop_learn(&m->oops, jni);
    m->owner = vm_offset(&t, "ObjectMonitor", "_owner");
    m->object = vm_offset(&t, "ObjectMonitor", "_object");
    m->thread_id = vm_offset(&t, "JavaThread", "_monitor_owner_id");
    m->lock_stack = vm_offset(&t, "JavaThread", "_lock_stack");
    m->lock_top = vm_offset(&t, "LockStack", "_top");
    m->lock_base = vm_offset(&t, "LockStack", "_base[0]");
    learn_list(m, &t);
    m->known = m->owner >= 0 && m->object >= 0 && m->list && !flag("UseObjectMonitorTable") &&
               !flag("UseCompactObjectHeaders");
}

/* The object that a local reference refers to at this moment; 0: none. */
static uintptr_t monitors_object(const struct monitors *m, jobject object) {
    uint64_t word = guarded_load64((uintptr_t)object & ~(uintptr_t)HANDLE_TAG);
    if (m->oops.form == OOP_UNKNOWN)
        return word % 8 == 0 && word >> VM_ADDRESS_BITS == 0 ? (uintptr_t)word : 0;
    return oop_on_stack(&m->oops, word);
}

/* Whether the monitor is this object's. Before JDK 16 it points to the object, then to a handle. */
static bool belongs(const struct monitors *m, uintptr_t monitor, uintptr_t object) {
    uintptr_t at = monitor + (uintptr_t)m->object;
    uintptr_t there = guarded_load64(at);
    if (there == object)
        return true;
    if (!there || there % 8)
        return false;
    return m->oops.form == OOP_UNKNOWN ? guarded_load64(there) == object
                                       : oop_in_handle(&m->oops, there) == object;
}

uint64_t monitors_owner_word(const struct monitors *m, jobject object) {
    uintptr_t o = m->known ? monitors_object(m, object) : 0;
    uint64_t mark = o ? guarded_load64(o) : 0;
    uintptr_t monitor = (uintptr_t)(mark & ~(uint64_t)MARK_KIND);
    if ((mark & MARK_KIND) != MARK_MONITOR || monitor >> VM_ADDRESS_BITS || !belongs(m, monitor, o))
        return 0;
    uint64_t word = guarded_load64(monitor + (uintptr_t)m->owner);
    return word == WORD_MARKER ? 0 : word;
}

bool monitors_owner_is_carrier(const struct monitors *m) {
    return m->known && m->thread_id < 0 && m->vm->virtual_threads.known;
}

static bool is_java_thread(const struct vm *vm, uintptr_t thread) {
    uintptr_t vtable = thread % 8 == 0 ? guarded_load64(thread) : 0;
    uint32_t n = atomic_load_explicit(&vm->java_vtables, memory_order_acquire);
    for (uint32_t i = 0; vtable && i < n; i++)
        if (vm->java_vtable[i] == vtable)
            return true;
    return false;
}

static bool has_locked(const struct monitors *m, uintptr_t thread, uintptr_t object) {
    if (m->lock_stack < 0 || m->lock_top < 0 || m->lock_base < 0 || !object)
        return false;
    uintptr_t stack = thread + (uintptr_t)m->lock_stack;
    uint32_t top = guarded_load32(stack + (uintptr_t)m->lock_top); /* from the thread's begin */
    uint32_t base = (uint32_t)(m->lock_stack + m->lock_base);
    for (uint32_t i = 0; i < LOCK_STACK_WORDS && base + 8 * i < top; i++)
        if (guarded_load64(thread + base + 8 * (uintptr_t)i) == object)
            return true;
    return false;
}

static bool is_meant(const struct monitors *m, uintptr_t thread, uint64_t word, uintptr_t object) {
    const struct vm_layout *at = &m->vm->at;
    if (word == WORD_ANONYMOUS)
        return has_locked(m, thread, object);
    if (m->thread_id >= 0)
        return guarded_load64(thread + (uintptr_t)m->thread_id) == word;
    if (thread == word)
        return true;
    uint64_t base = guarded_load64(thread + (uintptr_t)at->thread_stack_base);
    return word < base && base - word <= guarded_load64(thread + (uintptr_t)at->thread_stack_size);
}

static uintptr_t search(const struct monitors *m, uint64_t word, uintptr_t object) {
    uintptr_t at = guarded_load64(m->list);
    uint32_t length =
        m->next >= 0 ? MONITOR_THREADS_MAX : guarded_load32(at + (uintptr_t)m->list_length);
    uintptr_t array = m->next >= 0 ? 0 : guarded_load64(at + (uintptr_t)m->list_threads);
    for (uint32_t i = 0; i < length && i < MONITOR_THREADS_MAX; i++) {
        uintptr_t thread = m->next >= 0 ? at : guarded_load64(array + 8 * (uintptr_t)i);
        if (!thread)
            break;
        if (is_java_thread(m->vm, thread) && is_meant(m, thread, word, object))
            return thread;
        if (m->next >= 0)
            at = guarded_load64(at + (uintptr_t)m->next);
    }
    return 0;
}

bool monitors_identify(const struct monitors *m, struct lock_owner *out) {
    const struct vm_layout *at = &m->vm->at;
    if (!m->vm->heaps || !is_java_thread(m->vm, out->java))
        return false;
    uintptr_t os = guarded_load64(out->java + (uintptr_t)at->thread_osthread);
    out->tid = os ? guarded_load32(os + (uintptr_t)at->osthread_tid) : 0;
    out->virtual_id = virtual_thread_current(m->vm, m->names, out->java, out->tid);
    return out->tid != 0;
}

bool monitors_find_owner(struct monitors *m, jobject object, uint64_t word,
                         struct lock_owner *out) {
    if (!m->known || !word)
        return false;
    uintptr_t o = word == WORD_ANONYMOUS ? monitors_object(m, object) : 0;
    _Atomic uintptr_t *cached = &m->cache[(hash_word(word) >> 40) % MONITOR_CACHE];
    uintptr_t thread = atomic_load_explicit(cached, memory_order_relaxed);
    if (!thread || !is_java_thread(m->vm, thread) || !is_meant(m, thread, word, o)) {
        thread = search(m, word, o);
        atomic_store_explicit(cached, thread, memory_order_relaxed);
    }
    *out = (struct lock_owner){.java = thread, .word = word};
    if (thread && monitors_identify(m, out))
        return true;
    /* A virtual thread that is not mounted: the lock has its id, nobody has its stack. */
    if (m->thread_id < 0 || word == WORD_ANONYMOUS)
        return false;
    *out = (struct lock_owner){.virtual_id = word, .word = word};
    return true;
}
