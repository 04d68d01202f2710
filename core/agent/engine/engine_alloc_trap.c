/*
 * Allocation by breakpoints in the functions of the VM that report it to the flight recorder
 * (source: allocTracer.hpp, JDK 8-28): before JDK 11, and where one sample per new buffer is
 * requested. They are called whenever a thread takes a new buffer for its objects (TLAB), with the
 * object that did not fit into the old one, and for objects that are allocated outside such
 * buffers. The chance to be the one that does not fit goes by the size, so the buffers' bytes are
 * shared out fairly in the long run: each such object stands for what the thread has allocated in
 * buffers since the last one.
 *
 * Before JDK 11, with the serial, the parallel and the concurrent mark-sweep collector
 * (-XX:+FastTLABRefill), code of the first compiler takes new buffers without telling: objects that
 * nobody but such code allocates are not seen, and their bytes are the others'.
 *
 *                  JDK 8u262, 10 and later                     before
 *   in new TLAB    klass, object, tlab_size, size, thread      klass, tlab_size, size
 *   outside        klass, object, size, thread                 klass, size
 *
 * The functions run as ever, so that a flight recording that goes on does not miss anything, unless
 * they begin with an instruction that trap_step.h does not know: then they are left out.
 */
#include "core/agent/agent.h"
#include "core/agent/engine/alloc_thread.h"
#include "core/agent/patch/trap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#define INTERVAL 524287u /* bytes */

/* The addresses' order in the request. */
enum place { IN_NEW_TLAB, OUTSIDE };

static struct {
    int trap[2];
    bool runs[2]; /* the function does, after the breakpoint */
    struct alloc_counter counter;
    _Atomic uint64_t skipped; /* bytes since the last sample that were less than the interval */
} tracer = {.trap = {-1, -1}};

static bool is_size(uint64_t bytes) {
    return bytes >= 8 && bytes % 8 == 0 && bytes >> VM_ADDRESS_BITS == 0;
}

/* The bytes of the buffer, or of the object outside of one; 0: these are no such arguments. */
static uint64_t reported(enum place place, const void *context, uintptr_t thread) {
    int last = place == IN_NEW_TLAB ? 4 : 3;
    bool has_object = trap_argument(context, last) == thread;
    int first = has_object ? 2 : 1;
    uint64_t bytes = trap_argument(context, first);
    if (place == IN_NEW_TLAB) {
        uint64_t size = trap_argument(context, first + 1);
        if (!is_size(size) || size > bytes)
            return 0;
    }
    return is_size(bytes) ? bytes : 0;
}

/* What the call stands for. `counted` is the thread's counter at its last call, 0: not known, and
 * moves on. */
static uint64_t stands_for(enum place place, uint64_t bytes, uint64_t now, uint64_t *counted) {
    uint64_t before = *counted;
    if (place == OUTSIDE) { /* the counter has it already */
        if (before)
            *counted = before + bytes;
        return bytes;
    }
    *counted = now;
    if (!before || !now || now < before)
        return bytes;
    return now - before;
}

/* The weight of its sample; 0: none is taken. What is at least the interval stands for itself; of
 * the rest, every call that makes an interval full for all. */
static uint64_t weigh(uint64_t bytes, uint64_t interval) {
    if (bytes >= interval)
        return bytes;
    uint64_t sum = atomic_fetch_add(&tracer.skipped, bytes) + bytes;
    if (sum < interval || !atomic_compare_exchange_strong(&tracer.skipped, &sum, 0))
        return 0;
    return sum;
}

static void take(struct engine_run *run, enum place place, void *context) {
    struct sampler *s = run->sampler;
    struct alloc_thread t;
    if (!vm_current_java_thread(&agent.vm) || !alloc_thread_current(run, &tracer.counter, &t))
        return;
    uint64_t bytes = reported(place, context, t.java);
    if (!bytes)
        return;
    uint64_t none = 0;
    uint64_t weight = stands_for(place, bytes, t.counted, t.kept ? &t.kept->counted : &none);
    if (!(run->request.flags & WIRE_ENGINE_TLAB))
        weight = weigh(weight, run->request.interval);
    if (!weight)
        return;
    uint64_t top = names_class(&s->names, (uintptr_t)trap_argument(context, 0));
    if (place == OUTSIDE && wire_frame_type(top) == WIRE_FRAME_CLASS)
        top = wire_frame_java(WIRE_FRAME_CLASS_OUTSIDE, wire_frame_method(top), WIRE_BCI_NONE);
    struct sample_request request = {
        .context = context,
        .java_only = true,
        .top = top,
        .tid = t.tid,
        .event = WIRE_EVENT_ALLOC,
        .weight = weight,
        .state = WIRE_THREAD_RUNNING,
    };
    sampler_take(s, &request);
}

static enum trap_then on_call(enum place place, void *context) {
    struct engine_run *run = &agent.run[WIRE_EVENT_ALLOC];
    if (sampler_enter(&agent.sampler)) {
        if (run->engine == &engine_alloc_trap)
            take(run, place, context);
        sampler_leave(&agent.sampler);
    }
    return tracer.runs[place] ? TRAP_GO_ON : TRAP_RETURN;
}

static enum trap_then on_new_tlab(void *arg, void *context) {
    (void)arg;
    return on_call(IN_NEW_TLAB, context);
}

static enum trap_then on_outside(void *arg, void *context) {
    (void)arg;
    return on_call(OUTSIDE, context);
}

static bool is_in_vm(uint64_t address) {
    Dl_info vm;
    Dl_info there;
    const void *known = dlsym(RTLD_DEFAULT, "JNI_GetCreatedJavaVMs");
    return known && dladdr(known, &vm) && dladdr((void *)address, &there) &&
           vm.dli_fbase == there.dli_fbase;
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    static trap_hit *const hit[2] = {on_new_tlab, on_outside};
    const struct wire_engine_request *q = &run->request;
    (void)jni;
    if (!q->address[IN_NEW_TLAB] || !q->address[OUTSIDE]) {
        snprintf(why, why_bytes,
                 "the addresses of the VM's allocation functions are unknown: install the JDK's "
                 "debug symbols");
        return -ENOTSUP;
    }
    if (q->flags & WIRE_ENGINE_LIVE) {
        snprintf(why, why_bytes, "live objects can be found only in JDK 11 and later");
        return -ENOTSUP;
    }
    if (!agent.vm.heaps) {
        snprintf(why, why_bytes, "this VM has no usable vmStructs");
        return -ENOTSUP;
    }
    tracer.skipped = 0;
    alloc_counter_learn(&tracer.counter);
    for (int i = 0; i < 2; i++) {
        if (!is_in_vm(q->address[i])) {
            snprintf(why, why_bytes, "0x%lx is not a function of the VM",
                     (unsigned long)q->address[i]);
            trap_remove(tracer.trap, (uint32_t)i);
            return -EINVAL;
        }
        tracer.runs[i] = trap_goes_on(q->address[i]);
        tracer.trap[i] = trap_install(q->address[i], hit[i], NULL, false, why, why_bytes);
        if (tracer.trap[i] < 0) {
            trap_remove(tracer.trap, (uint32_t)i);
            return tracer.trap[i];
        }
    }
    return 0;
}

static void stop(struct engine_run *run, JNIEnv *jni) {
    (void)run, (void)jni;
    trap_remove(tracer.trap, 2);
    tracer.trap[0] = tracer.trap[1] = -1;
}

const struct engine engine_alloc_trap = {
    .event = WIRE_EVENT_ALLOC,
    .mechanism = WIRE_MECHANISM_TRAP,
    .per_thread = true,
    .interval = INTERVAL,
    .interval_min = 1,
    .start = start,
    .arm = alloc_thread_arm,
    .disarm = alloc_thread_disarm,
    .stop = stop,
};
