/*
 * GetAllStackTraces: the VM stops all Java threads at safepoints and hands out their stacks. Any
 * VM can do it. What is found is where threads can stop, not where they are: biased; and threads
 * that run no Java, and virtual threads, are not found at all. The weights are real: what each
 * thread has used since the previous round, as the kernel counts it.
 */
#include "core/agent/process/guarded.h"
#include "core/agent/process/reserve.h"
#include "core/agent/threads.h"
#include "core/agent/vm/vm_tables.h"
#include "core/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPU_LOOK_INTERVAL 20000000u  /* ns */
#define WALL_LOOK_INTERVAL 50000000u /* ns */
#define LOOK_INTERVAL_MIN 10000000u  /* all threads stop each time */
#define SEEN_MAX 131072u             /* power of two, twice THREADS_MAX */
#define OSTHREAD_BYTES 512u          /* searched for the thread's number */

struct seen {
    uint32_t tid;
    uint64_t cpu_ns, at_ns;
};

static struct look {
    struct seen *seen; /* hashed by tid; address space only */
    uint32_t used;
    int32_t osthread, number; /* offsets in JavaThread and OSThread */
    uint64_t next_ns;
    uint64_t *frame; /* WIRE_FRAMES_MAX */
    bool has_lines;  /* the capability is ours to give back */
} looks[WIRE_EVENTS];

#define SEEN_BYTES (SEEN_MAX * sizeof(struct seen))
#define FRAME_BYTES (WIRE_FRAMES_MAX * sizeof(uint64_t))

static uint64_t cpu_ns(uint32_t tid) {
    return clock_ns(clock_of_thread(tid));
}

/* Where an OSThread keeps its number. A VM may not tell: then where our own is. */
static bool learn_numbers(struct look *l, const struct threads *t, jvmtiEnv *jvmti, JNIEnv *jni) {
    struct vm_tables tables;
    jthread self = NULL;
    if (vm_tables_open(&tables) < 0)
        return false;
    l->osthread = vm_offset(&tables, "JavaThread", "_osthread");
    if (l->osthread < 0)
        l->osthread = vm_offset(&tables, "Thread", "_osthread");
    l->number = vm_offset(&tables, "OSThread", "_thread_id");
    if (l->osthread < 0 || l->number >= 0)
        return l->osthread >= 0;
    if ((*jvmti)->GetCurrentThread(jvmti, &self) != JVMTI_ERROR_NONE)
        return false;
    uintptr_t os = guarded_load64(threads_java_thread(t, jni, self) + (uintptr_t)l->osthread);
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    (*jni)->DeleteLocalRef(jni, self);
    for (int32_t at = 0; os && at < (int32_t)OSTHREAD_BYTES && l->number < 0; at += 4)
        if (guarded_load32(os + (uintptr_t)at) == tid)
            l->number = at;
    return l->number >= 0;
}

static uint32_t number_of(const struct look *l, const struct threads *t, JNIEnv *jni,
                          jthread thread) {
    uintptr_t java = threads_java_thread(t, jni, thread);
    uintptr_t os = java ? guarded_load64(java + (uintptr_t)l->osthread) : 0;
    uint32_t tid = os ? guarded_load32(os + (uintptr_t)l->number) : 0;
    return tid < WIRE_TID_MAX ? tid : 0;
}

static struct seen *find(struct look *l, uint32_t tid) {
    if (l->used > SEEN_MAX / 2) { /* of threads that are long gone, most of them */
        memset(l->seen, 0, SEEN_BYTES);
        l->used = 0;
    }
    uint32_t i = tid * UINT32_C(2654435761) % SEEN_MAX;
    while (l->seen[i].tid && l->seen[i].tid != tid)
        i = (i + 1) % SEEN_MAX;
    if (!l->seen[i].tid) {
        l->used++;
        l->seen[i].tid = tid;
    }
    return &l->seen[i];
}

static void unmap(struct look *l) {
    if (l->seen)
        munmap(l->seen, SEEN_BYTES);
    if (l->frame)
        munmap(l->frame, FRAME_BYTES);
    l->seen = NULL;
    l->frame = NULL;
}

static const jvmtiCapabilities lines = {.can_get_line_numbers = 1};

static int safepoint_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    struct look *l = &looks[run->request.event];
    *l = (struct look){0};
    if (!learn_numbers(l, run->threads, run->jvmti, jni)) {
        snprintf(why, why_bytes, "this VM does not show the kernel thread ids of its threads");
        return -ENOTSUP;
    }
    l->seen = reserve(SEEN_BYTES);
    l->frame = reserve(FRAME_BYTES);
    if (!l->seen || !l->frame) {
        unmap(l);
        snprintf(why, why_bytes, "no memory for the list of threads");
        return -ENOMEM;
    }
    run->sampler->asgct.methods.names = &run->sampler->names;
    l->has_lines = !run->sampler->asgct.open &&
                   (*run->jvmti)->AddCapabilities(run->jvmti, &lines) == JVMTI_ERROR_NONE;
    return 0;
}

static void safepoint_stop(struct engine_run *run, JNIEnv *jni) {
    struct look *l = &looks[run->request.event];
    method_ids_announce(&run->sampler->asgct.methods, run->jvmti, jni);
    bool had_lines = l->has_lines;
    l->has_lines = false;
    for (int event = 0; event < WIRE_EVENTS; event++)
        had_lines &= !looks[event].has_lines; /* the other engine goes on with it */
    if (had_lines)
        (*run->jvmti)->RelinquishCapabilities(run->jvmti, &lines);
    unmap(l);
}

/* Java's own word for what the thread does (source: JVMTI, GetThreadState). */
static enum wire_thread_state state_of(jint state, bool has_run) {
    if (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
        return WIRE_THREAD_BLOCKED;
    if (state & JVMTI_THREAD_STATE_IN_OBJECT_WAIT)
        return WIRE_THREAD_WAITING;
    if (state & JVMTI_THREAD_STATE_PARKED)
        return WIRE_THREAD_PARKED;
    if (state & JVMTI_THREAD_STATE_SLEEPING)
        return WIRE_THREAD_SLEEPING;
    return has_run ? WIRE_THREAD_RUNNING : WIRE_THREAD_OTHER;
}

static uint32_t translate(struct engine_run *run, const jvmtiStackInfo *info, uint64_t *frame) {
    struct method_ids *methods = &run->sampler->asgct.methods;
    uint32_t n = 0;
    for (jint i = 0; i < info->frame_count && n + 1 < WIRE_FRAMES_MAX; i++) {
        const jvmtiFrameInfo *f = &info->frame_buffer[i];
        uint32_t id = method_ids_find(methods, (uintptr_t)f->method);
        bool native = f->location < 0;
        frame[n++] = id == ID_TABLE_FULL
                         ? wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_METHODS_FULL)
                         : wire_frame_java(native ? WIRE_FRAME_NATIVE_METHOD : WIRE_FRAME_C2, id,
                                           native ? WIRE_BCI_NONE : (uint32_t)f->location);
    }
    return n;
}

/* Weighs one thread of a round. What it used before the first round does not count. */
static void weigh(struct engine_run *run, struct look *l, const jvmtiStackInfo *info, uint32_t tid,
                  uint64_t now) {
    struct seen *seen = find(l, tid);
    uint64_t cpu = cpu_ns(tid);
    bool is_first = seen->at_ns == 0;
    uint64_t used = cpu > seen->cpu_ns ? cpu - seen->cpu_ns : 0;
    uint64_t passed = now - seen->at_ns;
    bool wall = run->request.event == WIRE_EVENT_WALL;
    struct sample_request q = {
        .tid = tid,
        .event = (enum wire_event)run->request.event,
        .weight = wall ? passed : used,
        .state = state_of(info->state, used > 0),
    };
    /* A thread that waits now used it elsewhere: the next round that finds it running gets it. */
    if (is_first || wall || info->state & JVMTI_THREAD_STATE_RUNNABLE)
        seen->cpu_ns = cpu;
    else
        q.weight = 0;
    seen->at_ns = now;
    if (is_first || !q.weight || !sampler_allows(run->sampler, tid))
        return;
    bool taken = sampler_put(run->sampler, &q, l->frame, translate(run, info, l->frame));
    uint64_t most = 2 * run->request.interval;
    if (wall)
        engine_count(&run->status->expected_ns, passed);
    if (wall && taken)
        engine_count(&run->status->covered_ns, passed < most ? passed : most);
}

static void look(struct engine_run *run, struct look *l, JNIEnv *jni) {
    jvmtiStackInfo *all = NULL;
    jint n = 0;
    if ((*run->jvmti)->GetAllStackTraces(run->jvmti, (jint)run->sampler->depth + 1, &all, &n) !=
        JVMTI_ERROR_NONE)
        return;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    (*jni)->EnsureLocalCapacity(jni, n + 16);
    for (jint i = 0; i < n; i++) {
        uint32_t tid = number_of(l, run->threads, jni, all[i].thread);
        if (tid && all[i].frame_count > 0 && !threads_is_own(run->threads, tid))
            weigh(run, l, &all[i], tid, now);
        (*jni)->DeleteLocalRef(jni, all[i].thread);
    }
    __atomic_store_n(&run->status->threads, (uint64_t)n, __ATOMIC_RELAXED);
    (*run->jvmti)->Deallocate(run->jvmti, (unsigned char *)all);
    method_ids_announce(&run->sampler->asgct.methods, run->jvmti, jni);
}

static void safepoint_turn(struct engine_run *run, JNIEnv *jni, uint64_t now_ms) {
    (void)now_ms;
    struct look *l = &looks[run->request.event];
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now < l->next_ns || !sampler_enter(run->sampler))
        return;
    look(run, l, jni);
    sampler_leave(run->sampler);
    /* A look that takes long is not followed by the next one at once. */
    uint64_t took = clock_ns(CLOCK_MONOTONIC) - now;
    l->next_ns = now + (3 * took > run->request.interval ? 3 * took : run->request.interval);
}

const struct engine engine_cpu_safepoint = {
    .event = WIRE_EVENT_CPU,
    .mechanism = WIRE_MECHANISM_SAFEPOINT,
    .biased = true,
    .interval = CPU_LOOK_INTERVAL,
    .interval_min = LOOK_INTERVAL_MIN,
    .turn_ms = 10,
    .start = safepoint_start,
    .stop = safepoint_stop,
    .turn = safepoint_turn,
};

const struct engine engine_wall_safepoint = {
    .event = WIRE_EVENT_WALL,
    .mechanism = WIRE_MECHANISM_SAFEPOINT,
    .biased = true,
    .interval = WALL_LOOK_INTERVAL,
    .interval_min = LOOK_INTERVAL_MIN,
    .turn_ms = 10,
    .start = safepoint_start,
    .stop = safepoint_stop,
    .turn = safepoint_turn,
};
