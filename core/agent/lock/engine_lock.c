#include "core/agent/lock/engine_lock.h"

#include "core/agent/agent.h"
#include "core/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INTERVAL_NS 10000u
#define LOCAL_FRAME 16 /* references */

struct lock_engine lock_engine;

struct engine_run *lock_enter(void) {
    if (!sampler_enter(&agent.sampler))
        return NULL;
    struct engine_run *run = lock_engine.run;
    if (!run)
        sampler_leave(&agent.sampler);
    return run;
}

void lock_leave(void) {
    sampler_leave(&agent.sampler);
}

struct lock_waiter lock_waiter_of(const struct engine_run *run, JNIEnv *jni, jthread thread) {
    const struct threads *t = run->threads;
    if (threads_java_thread(t, jni, thread))
        return (struct lock_waiter){.id = (uint64_t)syscall(SYS_gettid)};
    return (struct lock_waiter){(uint64_t)(*jni)->GetLongField(jni, thread, t->java_tid), true};
}

void lock_begin(struct lock_wait *w, const struct lock_owner *owner) {
    w->owner = *owner;
    w->begin_ns = clock_now_ns();
    w->ticket = 0;
    if (owner->java && owner->tid && lock_owners_may_ask(&lock_engine.owners, w->begin_ns))
        w->ticket = lock_owners_ask(&lock_engine.owners, owner);
}

/* The owner as the VM says, which stops all threads for it: where the monitor itself cannot be
 * read, and as seldom as owners are asked. */
static void ask_vm(const struct engine_run *run, JNIEnv *jni, jobject object,
                   struct lock_owner *out) {
    jvmtiMonitorUsage usage = {0};
    if ((*jni)->PushLocalFrame(jni, LOCAL_FRAME) != JNI_OK) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    if ((*run->jvmti)->GetObjectMonitorUsage(run->jvmti, object, &usage) == JVMTI_ERROR_NONE) {
        if (usage.owner)
            *out = lock_owner_by_thread(run, jni, usage.owner);
        (*run->jvmti)->Deallocate(run->jvmti, (unsigned char *)usage.waiters);
        (*run->jvmti)->Deallocate(run->jvmti, (unsigned char *)usage.notify_waiters);
    }
    (*jni)->PopLocalFrame(jni, NULL);
}

/* Who holds a monitor is found when the wait is over, unless it is to be asked before. */
static void begin_monitor(struct lock_wait *w, const struct engine_run *run, JNIEnv *jni,
                          jobject object) {
    struct monitors *m = &lock_engine.monitors;
    uint64_t word = monitors_owner_word(m, object);
    *w = (struct lock_wait){.begin_ns = clock_now_ns(), .owner.word = word};
    if (m->known && !word)
        return;
    bool asks = lock_owners_may_ask(&lock_engine.owners, w->begin_ns);
    if (!m->known && asks)
        ask_vm(run, jni, object, &w->owner);
    else if (asks || monitors_owner_is_carrier(m))
        monitors_find_owner(m, object, word, &w->owner);
    if (asks && w->owner.tid)
        w->ticket = lock_owners_ask(&lock_engine.owners, &w->owner);
}

/* The frame for an object's class. JVMTI gives its name as the class file format has types. */
static uint64_t class_of(struct names *names, jvmtiEnv *jvmti, JNIEnv *jni, jobject object) {
    char *signature = NULL;
    uint64_t frame = wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_NO_NAME);
    jclass c = object ? (*jni)->GetObjectClass(jni, object) : NULL;
    if (c && (*jvmti)->GetClassSignature(jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE) {
        size_t n = strlen(signature);
        bool plain = n > 2 && signature[0] == 'L' && n <= UINT32_MAX; /* not an array */
        frame = names_class_called(names, signature + plain, (uint32_t)n - 2 * plain);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    }
    if (c)
        (*jni)->DeleteLocalRef(jni, c);
    return frame;
}

struct ended {
    const struct lock_wait *wait;
    const struct lock_waiter *who;
    uint64_t time_ns, class_frame, lock_id;
    uint32_t tid, flags;
    const struct owner_slot *answer; /* NULL: none */
};

static void tell_owner(struct ring_writer *ring, const struct ended *e) {
    uint32_t frames = e->answer ? e->answer->frames : 0;
    struct wire_lock *r =
        ring_reserve(ring, WIRE_LOCK, (uint32_t)(sizeof *r + frames * sizeof e->answer->frame[0]));
    if (!r)
        return;
    r->time_ns = e->time_ns;
    r->waited_ns = e->time_ns - e->wait->begin_ns;
    r->lock_id = e->lock_id;
    r->virtual_id = e->who->is_virtual ? e->who->id : 0;
    r->owner_virtual_id = e->wait->owner.virtual_id;
    r->tid = e->tid;
    r->owner_tid = e->wait->owner.tid;
    r->class_id = wire_frame_method(e->class_frame);
    r->flags = e->flags;
    r->owner_frames = frames;
    r->reserved = 0;
    if (frames)
        memcpy(r->owner_frame, e->answer->frame, frames * sizeof e->answer->frame[0]);
    ring_commit(r, WIRE_LOCK);
}

static void record(struct lock_wait *w, const struct engine_run *run, JNIEnv *jni, jobject lock,
                   struct ended *e, struct sample_request *q) {
    jint hash = 0;
    e->class_frame = q->top = class_of(&run->sampler->names, run->jvmti, jni, lock);
    if (!sampler_take(run->sampler, q) || wire_frame_type(q->top) != WIRE_FRAME_CLASS)
        return;
    if ((*run->jvmti)->GetObjectHashCode(run->jvmti, lock, &hash) == JVMTI_ERROR_NONE)
        e->lock_id = (uint32_t)hash;
    if (!w->owner.tid && !w->owner.virtual_id && w->owner.word)
        monitors_find_owner(&lock_engine.monitors, lock, w->owner.word, &w->owner);
    tell_owner(&run->sampler->ring, e);
}

void lock_end(struct lock_wait *w, const struct engine_run *run, JNIEnv *jni, jobject lock,
              uint32_t flags, const struct lock_waiter *who, const void *frame) {
    if (w->begin_ns < lock_engine.since_ns)
        return; /* the engine was stopped and started meanwhile: the ticket is worth nothing */
    struct ended e = {.wait = w, .who = who, .time_ns = clock_now_ns(), .flags = flags};
    e.tid = who->is_virtual ? (uint32_t)syscall(SYS_gettid) : (uint32_t)who->id;
    struct owner_slot *answer = w->ticket ? lock_owners_take(&lock_engine.owners, w->ticket) : NULL;
    e.answer = answer;
    struct sample_request q = {
        .from = registers_of_caller(frame),
        .java_only = true,
        .tid = e.tid,
        .event = WIRE_EVENT_LOCK,
        .state = flags & WIRE_LOCK_MONITOR ? WIRE_THREAD_BLOCKED : WIRE_THREAD_PARKED,
    };
    if (sampler_allows(run->sampler, e.tid))
        q.weight =
            lock_waits_due(&lock_engine.waits, run->request.interval, e.time_ns - w->begin_ns);
    if (q.weight)
        record(w, run, jni, lock, &e, &q);
    if (answer)
        lock_owners_give_back(answer);
}

static void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                       jobject object) {
    (void)jvmti;
    struct engine_run *run = lock_enter();
    if (!run)
        return;
    struct lock_waiter who = lock_waiter_of(run, jni, thread);
    struct lock_wait *w = lock_waits_begin(
        &lock_engine.waits, lock_wait_key(who.id, who.is_virtual, LOCK_WAIT_MONITOR));
    if (w)
        begin_monitor(w, run, jni, object);
    lock_leave();
}

static void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread,
                                         jobject object) {
    (void)jvmti;
    struct engine_run *run = lock_enter();
    if (!run)
        return;
    struct lock_wait w;
    struct lock_waiter who = lock_waiter_of(run, jni, thread);
    if (lock_waits_end(&lock_engine.waits, lock_wait_key(who.id, who.is_virtual, LOCK_WAIT_MONITOR),
                       &w))
        lock_end(&w, run, jni, object, WIRE_LOCK_MONITOR, &who, __builtin_frame_address(0));
    lock_leave();
}

static void on_signal(int signo, siginfo_t *info, void *context) {
    (void)signo;
    int saved = errno;
    if (lock_enter()) {
        lock_owners_handle(&lock_engine.owners, info, context);
        lock_leave();
    }
    errno = saved;
}

static const jvmtiEvent monitor_events[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
                                            JVMTI_EVENT_MONITOR_CONTENDED_ENTERED};

static bool switch_events(struct engine_run *run, bool on) {
    bool ok = true;
    run->callbacks->MonitorContendedEnter = on ? on_contended_enter : NULL;
    run->callbacks->MonitorContendedEntered = on ? on_contended_entered : NULL;
    if (on)
        (*run->jvmti)->SetEventCallbacks(run->jvmti, run->callbacks, sizeof *run->callbacks);
    for (size_t i = 0; i < sizeof monitor_events / sizeof monitor_events[0]; i++)
        ok &= (*run->jvmti)
                  ->SetEventNotificationMode(run->jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                             monitor_events[i], NULL) == JVMTI_ERROR_NONE;
    if (!on)
        (*run->jvmti)->SetEventCallbacks(run->jvmti, run->callbacks, sizeof *run->callbacks);
    return ok;
}

/* A line for people. */
static void tell(struct ring_writer *ring, const char *text) {
    uint32_t n = (uint32_t)strlen(text);
    struct wire_log *r = ring_reserve(ring, WIRE_LOG, (uint32_t)sizeof *r + n);
    if (!r)
        return;
    r->level = 1;
    r->text_bytes = n;
    memcpy(r->bytes, text, n);
    ring_commit(r, WIRE_LOG);
}

static const jvmtiCapabilities monitor_events_capability = {.can_generate_monitor_events = 1};
static const jvmtiCapabilities monitor_info_capability = {.can_get_monitor_info = 1};

static int open_all(struct engine_run *run, JNIEnv *jni) {
    int r = lock_waits_open(&lock_engine.waits);
    if (r == 0)
        r = lock_owners_open(&lock_engine.owners, run->sampler, &agent.signals, on_signal);
    if (r < 0)
        return r;
    monitors_learn(&lock_engine.monitors, &agent.vm, &run->sampler->names, jni);
    if (!lock_engine.monitors.known) /* see ask_vm: without it owners are not known */
        (*run->jvmti)->AddCapabilities(run->jvmti, &monitor_info_capability);
    lock_parks_learn(jni);
    return 0;
}

static void stop(struct engine_run *run, JNIEnv *jni) {
    lock_engine.run = NULL;
    switch_events(run, false);
    lock_parks_stop(run, jni);
    lock_owners_close(&lock_engine.owners, &agent.signals);
    lock_waits_close(&lock_engine.waits);
    (*run->jvmti)->RelinquishCapabilities(run->jvmti, &monitor_events_capability);
    (*run->jvmti)->RelinquishCapabilities(run->jvmti, &monitor_info_capability);
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    if ((*run->jvmti)->AddCapabilities(run->jvmti, &monitor_events_capability) !=
        JVMTI_ERROR_NONE) {
        snprintf(why, why_bytes, "this VM has no monitor events");
        return -ENOTSUP;
    }
    int r = open_all(run, jni);
    if (r < 0) {
        snprintf(why, why_bytes, "no memory (errno %d)", -r);
        stop(run, jni);
        return r;
    }
    lock_engine.since_ns = clock_now_ns();
    /* From here on callbacks come in. */
    lock_engine.run = run;
    if (!switch_events(run, true)) {
        sampler_disable(run->sampler);
        stop(run, jni);
        sampler_enable(run->sampler, run->sampler->depth, run->sampler->cut);
        snprintf(why, why_bytes, "this VM has no monitor events");
        return -ENOTSUP;
    }
    char reason[128];
    if (lock_parks_start(run, jni, reason, sizeof reason) < 0)
        tell(&run->sampler->ring, reason);
    return 0;
}

const struct engine engine_lock = {
    .event = WIRE_EVENT_LOCK,
    .mechanism = WIRE_MECHANISM_JVMTI,
    .interval = INTERVAL_NS,
    .interval_min = 1,
    .start = start,
    .stop = stop,
};
