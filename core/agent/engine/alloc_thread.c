#include "core/agent/engine/alloc_thread.h"

#include "core/agent/process/guarded.h"
#include "core/agent/threads.h"
#include "core/agent/vm/vm_tables.h"

#include <sys/syscall.h>
#include <unistd.h>

void alloc_counter_learn(struct alloc_counter *c) {
    static const char *const owner[] = {"Thread", "JavaThread"};
    struct vm_tables t;
    *c = (struct alloc_counter){.known = false};
    if (vm_tables_open(&t) < 0)
        return;
    int32_t start = vm_offset(&t, "ThreadLocalAllocBuffer", "_start");
    int32_t top = vm_offset(&t, "ThreadLocalAllocBuffer", "_top");
    for (int i = 0; i < 2 && !c->known; i++) {
        int32_t tlab = vm_offset(&t, owner[i], "_tlab");
        c->allocated = vm_offset(&t, owner[i], "_allocated_bytes");
        c->tlab_start = tlab + start;
        c->tlab_top = tlab + top;
        c->known = tlab >= 0 && start >= 0 && top >= 0 && c->allocated >= 0;
    }
}

static uint64_t count(const struct alloc_counter *c, uintptr_t java) {
    if (!c->known || !java)
        return 0;
    uint64_t allocated = guarded_load64(java + (uintptr_t)c->allocated);
    uint64_t start = guarded_load64(java + (uintptr_t)c->tlab_start);
    uint64_t top = guarded_load64(java + (uintptr_t)c->tlab_top);
    return allocated + (start && top > start ? top - start : 0);
}

static struct engine_thread *kept_of(const struct engine_run *run, uint32_t tid) {
    const uint32_t *index_of_tid = run->threads->index_of_tid;
    uint32_t index = index_of_tid && tid < WIRE_TID_MAX ? index_of_tid[tid] : 0;
    struct engine_thread *all = run->thread; /* NULL while the engine begins */
    return all && index && all[index - 1].tid == tid ? &all[index - 1] : NULL;
}

bool alloc_thread_current(const struct engine_run *run, const struct alloc_counter *c,
                          struct alloc_thread *out) {
    uintptr_t java = vm_current_java_thread(run->threads->vm);
    uint32_t tid = java ? threads_tid_of(run->threads, java) : 0;
    if (!tid) /* a callback of JVMTI, in a VM that does not describe itself */
        tid = (uint32_t)syscall(SYS_gettid);
    if (!sampler_allows(run->sampler, tid) || threads_is_own(run->threads, tid))
        return false;
    *out = (struct alloc_thread){
        .java = java, .tid = tid, .counted = count(c, java), .kept = kept_of(run, tid)};
    return true;
}

int alloc_thread_arm(struct engine_run *run, struct engine_thread *t, uint32_t index) {
    (void)run, (void)t, (void)index;
    return 0;
}

void alloc_thread_disarm(struct engine_run *run, struct engine_thread *t) {
    (void)run, (void)t;
}
