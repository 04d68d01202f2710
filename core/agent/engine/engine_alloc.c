/*
 * Allocation by the VM's own sampler, JDK 11 and later (sources: jvmti.xml, SampledObjectAlloc;
 * threadHeapSampler.cpp, JDK 11-28). What a sample stands for: alloc_weight.h.
 */
#include "core/agent/agent.h"
#include "core/agent/engine/alloc_thread.h"
#include "core/agent/engine/alloc_weight.h"
#include "core/agent/engine/live_objects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define INTERVAL 524287u /* bytes */
#define INTERVAL_OF_VM (512 * 1024)
#define LOOKS_A_TURN 16384u /* some 50 ns each */

static struct {
    struct live_objects live; /* WIRE_ENGINE_LIVE */
    struct alloc_counter counter;
    struct alloc_weight weight;
} alloc;

/* "Ljava/lang/String;" → java/lang/String; "[I" stays. A hidden class has a "." where its name in
 * the VM has a "+". Changes the signature. */
static uint64_t class_frame(struct names *names, char *signature) {
    if (!signature)
        return wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
    char *name = signature;
    size_t length = strlen(name);
    if (length > 2 && *name == 'L') {
        name++;
        length -= 2;
    }
    char *dot = memchr(name, '.', length);
    if (dot)
        *dot = '+';
    return names_class_called(names, name, (uint32_t)length);
}

static void take(struct engine_run *run, JNIEnv *jni, jobject object,
                 struct sample_request *request) {
    int32_t place = alloc.live.place ? live_objects_claim(&alloc.live) : -1;
    if (place >= 0)
        request->live_id = sampler_live_id(run->sampler);
    if (!sampler_take(run->sampler, request))
        live_objects_drop(&alloc.live, place);
    else if (place >= 0 && !live_objects_follow(&alloc.live, place, request->live_id, jni, object))
        sampler_free(run->sampler, request->live_id);
}

static void sample(struct engine_run *run, JNIEnv *jni, jobject object, char *signature,
                   uint64_t size) {
    struct alloc_thread t;
    if (run->engine != &engine_alloc || !alloc_thread_current(run, &alloc.counter, &t))
        return;
    struct sample_request request = {
        .from = registers_of_caller(__builtin_frame_address(0)),
        .java_only = true,
        .top = class_frame(&run->sampler->names, signature),
        .tid = t.tid,
        .event = WIRE_EVENT_ALLOC,
        .weight = alloc_weight_of(&alloc.weight, t.kept, size, t.counted),
        .state = WIRE_THREAD_RUNNING,
    };
    take(run, jni, object, &request);
}

/* What may be held up in the VM comes before and after. */
static void JNICALL on_object(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                              jclass c, jlong size) {
    char *signature = NULL;
    (void)thread;
    if (size <= 0)
        return;
    if ((*jvmti)->GetClassSignature(jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        signature = NULL;
    if (sampler_enter(&agent.sampler)) {
        sample(&agent.run[WIRE_EVENT_ALLOC], jni, object, signature, (uint64_t)size);
        sampler_leave(&agent.sampler);
    }
    if (signature)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static jvmtiCapabilities capability(void) {
    return (jvmtiCapabilities){.can_generate_sampled_object_alloc_events = 1};
}

static void release(struct engine_run *run, JNIEnv *jni) {
    jvmtiCapabilities c = capability();
    (*run->jvmti)
        ->SetEventNotificationMode(run->jvmti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                   NULL);
    run->callbacks->SampledObjectAlloc = NULL;
    (*run->jvmti)->SetEventCallbacks(run->jvmti, run->callbacks, sizeof *run->callbacks);
    /* Nobody can ask what it was before; this is what it is where nobody has changed it. */
    (*run->jvmti)->SetHeapSamplingInterval(run->jvmti, INTERVAL_OF_VM);
    (*run->jvmti)->RelinquishCapabilities(run->jvmti, &c);
    live_objects_close(&alloc.live, jni);
}

static bool is_before_11(jvmtiEnv *jvmti) {
    jint version = 0;
    (*jvmti)->GetVersionNumber(jvmti, &version);
    return (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR < 11;
}

void engine_alloc_foresee(jvmtiEnv *jvmti, uint64_t interval) {
    jvmtiCapabilities c = capability();
    uint64_t bytes = interval ? interval : INTERVAL;
    if (!is_before_11(jvmti) && (*jvmti)->AddCapabilities(jvmti, &c) == JVMTI_ERROR_NONE)
        (*jvmti)->SetHeapSamplingInterval(jvmti, bytes < INT32_MAX ? (jint)bytes : INT32_MAX);
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    const struct wire_engine_request *q = &run->request;
    if (is_before_11(run->jvmti)) {
        snprintf(why, why_bytes, "JDKs before 11 cannot sample allocation themselves");
        return -ENOTSUP;
    }
    if (q->flags & WIRE_ENGINE_TLAB && !(q->flags & WIRE_ENGINE_LIVE) && q->address[0] &&
        q->address[1]) {
        snprintf(why, why_bytes, "one sample per TLAB was requested");
        return -ENOTSUP;
    }
    if (q->interval > INT32_MAX)
        run->request.interval = INT32_MAX;
    jvmtiCapabilities c = capability();
    jvmtiError e = (*run->jvmti)->AddCapabilities(run->jvmti, &c);
    if (e != JVMTI_ERROR_NONE) {
        snprintf(why, why_bytes,
                 "another agent in this JVM samples allocation: only one can (JVMTI error %d)", e);
        return -EBUSY;
    }
    if (q->flags & WIRE_ENGINE_LIVE) {
        int r = live_objects_open(&alloc.live);
        if (r < 0) {
            (*run->jvmti)->RelinquishCapabilities(run->jvmti, &c);
            return r;
        }
    }
    alloc_counter_learn(&alloc.counter);
    alloc.weight = (struct alloc_weight){.interval = run->request.interval};
    run->callbacks->SampledObjectAlloc = on_object;
    (*run->jvmti)->SetEventCallbacks(run->jvmti, run->callbacks, sizeof *run->callbacks);
    e = (*run->jvmti)->SetHeapSamplingInterval(run->jvmti, (jint)run->request.interval);
    if (e == JVMTI_ERROR_NONE)
        e = (*run->jvmti)
                ->SetEventNotificationMode(run->jvmti, JVMTI_ENABLE,
                                           JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
    if (e != JVMTI_ERROR_NONE) {
        snprintf(why, why_bytes, "the VM does not report allocation (JVMTI error %d)", e);
        release(run, jni);
        return -ENOTSUP;
    }
    if (q->flags & WIRE_ENGINE_TLAB)
        snprintf(why, why_bytes,
                 "sampled by interval: --tlab needs libjvm.so's symbols and excludes --live");
    return 0;
}

static bool tell_gone(void *arg, uint64_t id) {
    return sampler_free(arg, id);
}

static void turn(struct engine_run *run, JNIEnv *jni, uint64_t now_ms) {
    (void)now_ms;
    if (!alloc.live.place)
        return;
    live_objects_look(&alloc.live, jni, LOOKS_A_TURN, tell_gone, run->sampler);
    uint64_t refused = atomic_load_explicit(&alloc.live.refused, memory_order_relaxed);
    if (refused)
        snprintf(run->status->reason, sizeof run->status->reason,
                 "%lu objects are not tracked, no space left: use a longer interval",
                 (unsigned long)refused);
}

/* What is still there is alive; the reader has the last word from us. */
static void stop(struct engine_run *run, JNIEnv *jni) {
    if (alloc.live.place)
        live_objects_look(&alloc.live, jni, LIVE_OBJECTS_MAX, tell_gone, run->sampler);
    release(run, jni);
}

const struct engine engine_alloc = {
    .event = WIRE_EVENT_ALLOC,
    .mechanism = WIRE_MECHANISM_JVMTI,
    .per_thread = true,
    .interval = INTERVAL,
    .interval_min = 1,
    .start = start,
    .arm = alloc_thread_arm,
    .disarm = alloc_thread_disarm,
    .stop = stop,
    .turn = turn,
};
