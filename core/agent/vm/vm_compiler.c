#include "core/agent/vm/vm_compiler.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIST_MAX 65536
#define CLASSES_MAX 16 /* of threads */
#define ASKED_MAX 16   /* threads of one class whose names are requested */

/* The search for the vtable. Most threads are of one class: not all of them are asked. */
struct search {
    const struct vm *vm;
    const struct vm_tables *tables;
    struct {
        uintptr_t vtable;
        uint32_t asked;
    } class[CLASSES_MAX];
};

/* The kernel's name of a thread, of which it keeps 15 characters: "C2 CompilerThre", in newer
 * releases "C2 Comp..hread0". */
static bool is_compiler_name(uint32_t tid) {
    char path[48];
    char name[16] = "";
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 0 && (strncmp(name, "C1 Comp", 7) == 0 || strncmp(name, "C2 Comp", 7) == 0);
}

/* True if an address is in the library that the VM's tables are in. */
static bool in_vm(const struct vm_tables *t, uintptr_t address) {
    Dl_info vm;
    Dl_info its;
    return address && dladdr(t->entries, &vm) && dladdr((const void *)address, &its) &&
           vm.dli_fbase == its.dli_fbase;
}

static bool is_worth_asking(struct search *s, uintptr_t vtable) {
    for (int i = 0; i < CLASSES_MAX; i++) {
        if (!s->class[i].vtable && in_vm(s->tables, vtable))
            s->class[i].vtable = vtable;
        if (s->class[i].vtable == vtable)
            return vtable && s->class[i].asked++ < ASKED_MAX;
        if (!s->class[i].vtable)
            return false;
    }
    return false;
}

/* The list changes while we read it, and a thread's memory may be freed: what is read counts if
 * it is the same after the kernel was asked. */
static uintptr_t compiler_vtable(struct search *s, uintptr_t thread) {
    const struct vm_layout *at = &s->vm->at;
    uintptr_t vtable = guarded_load64(thread);
    uintptr_t os = guarded_load64(thread + (uintptr_t)at->thread_osthread);
    uint32_t tid = os ? guarded_load32(os + (uintptr_t)at->osthread_tid) : 0;
    bool same = tid && is_worth_asking(s, vtable) && is_compiler_name(tid) &&
                guarded_load64(thread) == vtable &&
                guarded_load64(thread + (uintptr_t)at->thread_osthread) == os &&
                guarded_load32(os + (uintptr_t)at->osthread_tid) == tid;
    return same ? vtable : 0;
}

/* Up to JDK 11 the threads are linked; since then (and in 11 too) they are in an array. */
static uintptr_t find_vtable(const struct vm *vm, const struct vm_tables *t) {
    struct search s = {.vm = vm, .tables = t};
    uintptr_t found = 0;
    uintptr_t first = vm_static(t, "Threads", "_thread_list");
    int32_t next = vm_offset(t, "JavaThread", "_next");
    if (first && next >= 0) {
        uintptr_t thread = guarded_load64(first);
        for (int i = 0; i < LIST_MAX && thread && !found; i++) {
            found = compiler_vtable(&s, thread);
            thread = guarded_load64(thread + (uintptr_t)next);
        }
        return found;
    }
    uintptr_t list = vm_static(t, "ThreadsSMRSupport", "_java_thread_list");
    int32_t length = vm_offset(t, "ThreadsList", "_length");
    int32_t threads = vm_offset(t, "ThreadsList", "_threads");
    list = list && length >= 0 && threads >= 0 ? guarded_load64(list) : 0;
    uint32_t n = list ? guarded_load32(list + (uintptr_t)length) : 0;
    uintptr_t array = list ? guarded_load64(list + (uintptr_t)threads) : 0;
    for (uint32_t i = 0; i < n && i < LIST_MAX && !found; i++)
        found = compiler_vtable(&s, guarded_load64(array + 8 * (uintptr_t)i));
    return found;
}

void compiler_learn(struct vm *vm) {
    struct compiler_layout *c = &vm->compiler;
    struct vm_tables t;
    if (atomic_load_explicit(&c->vtable, memory_order_relaxed) || vm_tables_open(&t) < 0)
        return;
    c->env = vm_offset(&t, "CompilerThread", "_env");
    c->task = vm_offset(&t, "ciEnv", "_task");
    c->method = vm_offset(&t, "CompileTask", "_method");
    if (c->env >= 0 && c->task >= 0 && c->method >= 0)
        atomic_store_explicit(&c->vtable, find_vtable(vm, &t), memory_order_release);
}

static uintptr_t follow(uintptr_t object, int32_t offset) {
    return object ? guarded_load64(object + (uintptr_t)offset) : 0;
}

uintptr_t compiler_method(const struct vm *vm) {
    const struct compiler_layout *c = &vm->compiler;
    uintptr_t vtable = atomic_load_explicit(&c->vtable, memory_order_acquire);
    if (!vtable || vm->thread_key < 0)
        return 0;
    uintptr_t thread = (uintptr_t)pthread_getspecific((pthread_key_t)vm->thread_key);
    if (!thread || guarded_load64(thread) != vtable)
        return 0;
    return follow(follow(follow(thread, c->env), c->task), c->method);
}
