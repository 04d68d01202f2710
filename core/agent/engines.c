#include "core/agent/agent.h"
#include "core/agent/patch/crash_watch.h"
#include "core/agent/pauses.h"
#include "core/agent/process/sigtrap.h"
#include "core/agent/vm/vm_flags.h"
#include "core/agent/walk/stub_names.h"
#include "core/base/clock.h"
#include "core/wire/perf_attr.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

/* Code that is compiled with this flag has debug information between safepoints, too. A pc there is
 * then attributed to the inlined method it belongs to. */
#define DEBUG_FLAG "DebugNonSafepoints"

#define START_MS 2000u     /* how long a request may wait until late threads are armed */
#define LATE_MS 250u       /* how long one periodic attempt to arm late threads may take */
#define LATE_AGAIN_MS 250u /* pause before the next attempt if the reader did not answer */
#define MOVES_MAX 16u      /* of engines to another signal, per request */
#define TRACED_MS 500u     /* from one check for a debugger to the next */

/* Engines of the same event are tried in this order. */
static const struct engine *const engines[] = {
    &engine_cpu_sigtrap,   &engine_cpu_perf, &engine_cpu_ctimer,     &engine_cpu_itimer,
    &engine_cpu_safepoint, &engine_wall,     &engine_wall_safepoint, &engine_alloc,
    &engine_alloc_trap,    &engine_lock,     &engine_nativemem,      &engine_nativelock,
    &engine_perf_event,    &engine_method,
};

static const char *const walker_name[WIRE_WALKS] = {
    [WIRE_WALK_VM] = "vm",       [WIRE_WALK_VMX] = "vmx", [WIRE_WALK_FP] = "fp",
    [WIRE_WALK_DWARF] = "dwarf", [WIRE_WALK_NO] = "no",   [WIRE_WALK_ASGCT] = "asgct",
};

/* Whether a timer or counter of ours sent the signal while its engine starts or stops, or while the
 * sampler is disabled for another engine. Such signals are not passed on. */
static bool is_late(int signo, const siginfo_t *info, bool entered) {
    bool by_kernel = info->si_code > 0 || info->si_code == SI_TIMER;
    for (int event = 0; event < WIRE_EVENTS && by_kernel; event++) {
        const struct engine_run *run = &agent.run[event];
        const struct engine *e = run->engine;
        if (run->signo == signo && (run->changing || (!entered && e && e->by_signal)))
            return true;
    }
    return false;
}

static void on_signal(int signo, siginfo_t *info, void *context) {
    int saved = errno;
    bool ours = false, entered = sampler_enter(&agent.sampler);
    if (entered) {
        for (int event = 0; event < WIRE_EVENTS && !ours; event++) {
            struct engine_run *run = &agent.run[event];
            const struct engine *e = run->engine; /* NULL while the engine is being replaced */
            ours = e && e->by_signal && run->signo == signo && e->handle(run, info, context);
        }
        sampler_leave(&agent.sampler);
    }
    if (!ours && !is_late(signo, info, entered))
        signals_pass_on(&agent.signals, signo, info, context);
    errno = saved;
}

/* A SIGTRAP of an event. While no handler may run, it is ignored: the event goes on, and the next
 * sample has its weight. */
static bool on_event(siginfo_t *info, void *context) {
    uint64_t data;
    if (!sigtrap_is_event(info, &data) || !perf_is_trap(data))
        return false;
    if (sampler_enter(&agent.sampler)) {
        struct engine_run *run = &agent.run[WIRE_EVENT_CPU];
        const struct engine *e = run->engine;
        if (e && e->by_trap)
            e->handle(run, info, context);
        sampler_leave(&agent.sampler);
    }
    return true;
}

/* The VM begins to report a fatal error: from now on, handlers do nothing, and counters send no more
 * signals. Engines may be stopped at this moment: what belongs to them is read with care. */
static void on_crash(void) {
    const struct engine_run *run = &agent.run[WIRE_EVENT_CPU];
    const struct engine_thread *t = run->signo == SIGTRAP ? run->thread : NULL;
    sigset_t raised;
    sigemptyset(&raised);
    sigaddset(&raised, SIGSEGV);
    sigaddset(&raised, SIGBUS);
    sigaddset(&raised, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &raised,
                    NULL); /* as newer VMs do; before JDK 16, this one has not */
    sampler_crashed(&agent.sampler);
    for (uint32_t i = 0; t && i < agent.threads.count; i++)
        if (guarded_load64((uintptr_t)&t[i].page))
            ioctl((int)guarded_load32((uintptr_t)&t[i].handle), PERF_EVENT_IOC_DISABLE, 0);
}

static bool wants_trap(const struct engine_run *run) {
    const uint32_t rings = WIRE_ENGINE_ALL_USER | WIRE_ENGINE_ALL_KERNEL;
    return run->request.flags & WIRE_ENGINE_SIGTRAP && !(run->request.flags & rings) &&
           !run->signo_asked && !agent.trap_lost && crash_watch_is_on() && !signals_are_traced();
}

static void give_signal_back(struct engine_run *run, const struct engine *e) {
    if (e->by_trap)
        sigtrap_give_back(SIGTRAP_OF_EVENTS);
    else if (e->by_signal)
        signals_give_back(&agent.signals, run->signo);
}

/* Takes the requested signal, or a free one. Signals that are not queued come first: when too many
 * queued signals wait, the kernel sends another signal instead, which ends the process. Engines by
 * perf_events therefore take no queued signal. A timer of the whole process can only send SIGPROF;
 * where another handler has that signal, ours is put in front of it. */
static int take_signal(struct engine_run *run, const struct engine *e, char *why,
                       size_t why_bytes) {
    static const int for_cpu[] = {SIGPROF, SIGSTKFLT, SIGPWR, SIGVTALRM};
    static const int for_wall[] = {SIGVTALRM, SIGPWR, SIGSTKFLT, SIGPROF};
    const int *list = e->event == WIRE_EVENT_WALL ? for_wall : for_cpu;
    char first_why[96] = "";
    int first = 0;
    if (e->by_trap) {
        run->signo = SIGTRAP;
        return sigtrap_take(SIGTRAP_OF_EVENTS, on_event);
    }
    if (run->signo_asked) {
        run->signo = run->signo_asked;
        return signals_take(&agent.signals, run->signo, false, on_signal, why, why_bytes);
    }
    for (size_t i = 0; i < sizeof for_cpu / sizeof for_cpu[0]; i++) {
        bool process_timer = e->mechanism == WIRE_MECHANISM_ITIMER;
        run->signo = process_timer ? SIGPROF : list[i];
        int r = signals_take(&agent.signals, run->signo, process_timer, on_signal, why, why_bytes);
        if (r == 0 || process_timer)
            return r;
        if (!first) {
            first = r;
            snprintf(first_why, sizeof first_why, "%s", why);
        }
    }
    run->signo = e->mechanism == WIRE_MECHANISM_PERF ? 0 : signals_find_queued();
    if (run->signo &&
        signals_take(&agent.signals, run->signo, false, on_signal, why, why_bytes) == 0) {
        *why = '\0';
        return 0;
    }
    snprintf(why, why_bytes, "no signal is free: %s", first_why);
    return first;
}

/* Starts `run` with the engine `e`. 0 or -errno with the reason in `why`. */
static int start_by(struct engine_run *run, const struct engine *e, JNIEnv *jni, char *why,
                    size_t why_bytes) {
    uint64_t asked = run->request.interval;
    if (agent.zero && e->by_signal) {
        snprintf(why, why_bytes, "the Zero VM's stacks can be walked only by the VM");
        return -ENOTSUP;
    }
    run->request.interval = asked ? asked : e->interval;
    if (run->request.interval < e->interval_min)
        run->request.interval = e->interval_min;
    int r = e->by_signal ? take_signal(run, e, why, why_bytes) : 0;
    if (r == 0) {
        *why = '\0';
        run->changing = e->by_signal;
        r = e->start(run, jni, why, why_bytes);
        if (r < 0)
            give_signal_back(run, e);
    }
    if (r < 0) {
        run->changing = false;
        run->request.interval = asked;
        return r;
    }
    /* Set before threads are armed, because a signal may come while that goes on. */
    run->engine = e;
    run->changing = false;
    return 0;
}

static void stop_run(struct engine_run *run, JNIEnv *jni) {
    const struct engine *e = run->engine;
    if (!e)
        return;
    run->changing = e->by_signal;
    run->engine = NULL;
    sampler_disable(&agent.sampler); /* no handler may use what is released below */
    threads_disarm_all(&agent.threads, run, e);
    e->stop(run, jni);
    give_signal_back(run, e);
    run->changing = false;
    sampler_enable(&agent.sampler, agent.sampler.depth, agent.sampler.cut);
    run->status->mechanism = WIRE_MECHANISM_AUTO;
    run->status->threads = 0;
}

static int arm_late(struct engine_run *run, uint64_t deadline_ms) {
    const struct engine *e = run->engine;
    return e && e->fetch ? threads_arm_late(&agent.threads, run, deadline_ms) : 0;
}

static int try_engine(struct engine_run *run, const struct engine *e, JNIEnv *jni, char *why,
                      size_t why_bytes) {
    int r = start_by(run, e, jni, why, why_bytes);
    if (r < 0 || !e->per_thread)
        return r;
    r = threads_arm_all(&agent.threads, run);
    if (r == 0)
        r = arm_late(run, agent.start_until_ms);
    if (r == -ETIMEDOUT) /* the reader is slow, but it has opened at least one event */
        r = 0;
    if (r < 0) {
        bool locked = r == -EPERM && e->mechanism == WIRE_MECHANISM_PERF;
        snprintf(why, why_bytes,
                 locked ? "no perf_events: no locked memory for the buffers of all threads "
                          "(errno %d: kernel.perf_event_mlock_kb, memlock limit)"
                        : "sampling failed to start in a thread (errno %d)",
                 -r);
        stop_run(run, jni);
    }
    return r;
}

static bool is_asked(const struct wire_engine_request *asked, const struct engine *e) {
    bool mechanism = asked->mechanism == WIRE_MECHANISM_AUTO || asked->mechanism == e->mechanism ||
                     (asked->mechanism == WIRE_MECHANISM_PERF && e->by_trap);
    return e->event == asked->event && mechanism;
}

/* Tries the engines of the event one after the other. run->status gets the result. */
static int start_run(struct engine_run *run, JNIEnv *jni, const char *walker_why) {
    struct wire_engine_status *s = run->status;
    const struct wire_engine_request asked = run->request;
    char why[sizeof s->reason] = "";
    char first_why[sizeof why] = "";
    int r = -ENOTSUP;
    *s = (struct wire_engine_status){.event = asked.event};
    memcpy(s->name, asked.name, sizeof s->name);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0] && r < 0; i++) {
        const struct engine *e = engines[i];
        run->request = asked;
        if (!is_asked(&asked, e) || (e->by_trap && !wants_trap(run)))
            continue;
        why[0] = '\0';
        r = try_engine(run, e, jni, why, sizeof why);
        if (r < 0 && e->by_trap) /* the next engine has the same reason, or works */
            continue;
        if (r == 0) {
            s->mechanism = e->mechanism;
            s->interval = run->request.interval;
            s->biased = e->biased;
            if (*why && !*first_why) /* the engine runs, and has a remark */
                memcpy(first_why, why, sizeof why);
        } else if (!*first_why) {
            memcpy(first_why, why, sizeof why);
            s->error = -r;
        }
    }
    if (r == 0)
        s->error = 0;
    else if (!*first_why)
        snprintf(first_why, sizeof first_why, "this agent cannot sample in this way");
    if (r < 0 && !s->error)
        s->error = -r;
    snprintf(s->reason, sizeof s->reason, "%s%s%s", walker_why,
             *walker_why && *first_why ? "; " : "", first_why);
    run->asked = asked;
    return r;
}

/* Chooses the requested walker, or another one with the reason in `why`. -errno: none works. */
static int choose_walker(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni,
                         char *why, size_t why_bytes) {
    struct sampler *s = &agent.sampler;
    bool described = agent.vm.heaps > 0;
    s->walker.features = request->features;
    s->walker.walk = request->walk < WIRE_WALKS ? (enum wire_walk)request->walk : WIRE_WALK_VM;
    if (agent.zero) {
        s->walker.walk = WIRE_WALK_FP;
        *why = '\0';
        return 0;
    }
    if (!described) {
        snprintf(why, why_bytes, "walker asgct is used: this VM lacks %s",
                 s->asgct.instead_of ? s->asgct.instead_of : "vmStructs");
        s->walker.walk = WIRE_WALK_ASGCT;
    }
    if (s->walker.walk != WIRE_WALK_ASGCT)
        return 0;
    int r = asgct_open(&s->asgct, &s->walker, jvmti, jni, why, why_bytes);
    if (r < 0 && described)
        s->walker.walk = WIRE_WALK_VM;
    return described ? 0 : r;
}

static void choose_tables(void) {
    struct walker *w = &agent.sampler.walker;
    w->unwind = wire_walk_has_tables(w->walk) ? agent_mapping_unwind(&agent.mapping) : NULL;
}

/* What all engines share: agent.ground. */

static bool same_ground(const struct wire_request *a, const struct wire_request *b) {
    return a->depth == b->depth && a->cut == b->cut && a->features == b->features &&
           a->signal == b->signal && a->wall_signal == b->wall_signal && a->walk == b->walk &&
           a->precise == b->precise && a->filtered == b->filtered &&
           a->window_begin == b->window_begin && a->window_end == b->window_end &&
           a->window_marks == b->window_marks;
}

static void leave_ground(jvmtiEnv *jvmti) {
    if (!agent.ground)
        return;
    agent.ground = false;
    pauses_close(jvmti, &agent.callbacks);
    sampler_disable(&agent.sampler);
    crash_watch_end();
    stub_names_close(jvmti, &agent.callbacks);
    window_close(&agent.window);
    precise_stop(&agent.sampler.precise);
    asgct_close(&agent.sampler.asgct, jvmti);
    if (agent.flag_was_set)
        vm_flag_set(DEBUG_FLAG, agent.flag_before, &agent.flag_was_set);
    agent.flag_was_set = false;
}

static int lay_ground(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni, char *why,
                      size_t why_bytes) {
    struct wire_status *s = &agent.mapping.wire->control.status;
    libraries_refresh(&agent.sampler.libraries);
    int r = choose_walker(request, jvmti, jni, agent.walker_why, sizeof agent.walker_why);
    choose_tables();
    if (r < 0) {
        snprintf(why, why_bytes, "%s", agent.walker_why);
        return r;
    }
    agent.sampler.allowed = request->filtered ? agent_mapping_threads(&agent.mapping) : NULL;
    agent.ground = true;
    r = window_open(&agent.window, &agent.sampler, request, why, why_bytes);
    if (r < 0) {
        leave_ground(jvmti);
        return r;
    }
    crash_watch_begin(on_crash);
    sampler_enable(&agent.sampler, request->depth, request->cut);
    pauses_open(&agent.sampler.ring, jvmti, &agent.callbacks);
    stub_names_open(jvmti, &agent.callbacks);
    agent.flag_was_set = vm_flag_set(DEBUG_FLAG, true, &agent.flag_before);
    if (request->precise && agent.vm.heaps)
        precise_start(&agent.sampler.precise, &agent.vm, &agent.sampler.ring, s);
    snprintf(s->walker, sizeof s->walker, "%s", walker_name[agent.sampler.walker.walk]);
    return 0;
}

/* Requests. */

static void fail(struct wire_status *s, int error, const char *why) {
    s->error_code = -error;
    snprintf(s->message, sizeof s->message, "%s", why);
    s->engines = 0;
    atomic_store(&s->state, WIRE_STATE_FAILED);
}

static void stop_all(jvmtiEnv *jvmti, JNIEnv *jni) {
    for (int event = 0; event < WIRE_EVENTS; event++)
        stop_run(&agent.run[event], jni);
    leave_ground(jvmti);
}

static bool same_engine(const struct wire_engine_request *a, const struct wire_engine_request *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* Copies the request's entry for an event and terminates its strings. False: the event is not
 * requested, or its mechanism is invalid. */
static bool find_request(const struct wire_request *request, int event,
                         struct wire_engine_request *out) {
    for (uint32_t i = 0; i < request->engines && i < WIRE_EVENTS; i++) {
        if (request->engine[i].event != (uint32_t)event)
            continue;
        *out = request->engine[i];
        out->name[sizeof out->name - 1] = '\0';
        out->text[sizeof out->text - 1] = '\0';
        return out->mechanism < WIRE_MECHANISMS;
    }
    return false;
}

static void prepare_run(struct engine_run *run, int event, const struct wire_request *request,
                        jvmtiEnv *jvmti) {
    bool wall = event == WIRE_EVENT_WALL;
    uint32_t signo = wall ? request->wall_signal : request->signal;
    if (signo >= (uint32_t)SIGRTMAX)
        signo = 0;
    run->signo_asked = (int)signo;
    run->sampler = &agent.sampler;
    run->threads = &agent.threads;
    run->broker = &agent.broker;
    run->status = &agent.mapping.wire->control.status.engine[event];
    run->callbacks = &agent.callbacks;
    run->jvmti = jvmti;
}

static void start(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni) {
    struct wire_status *s = &agent.mapping.wire->control.status;
    struct wire_engine_request wanted;
    char why[sizeof s->message] = "";
    int first_error = 0;
    uint32_t running = 0;
    if (!agent.ground || !same_ground(request, &agent.request))
        stop_all(jvmti, jni);
    agent.request = *request;
    agent.moves = 0;
    agent.trap_lost = false;
    agent.start_until_ms = clock_now_ms() + START_MS;
    for (int event = 0; event < WIRE_EVENTS; event++) {
        struct engine_run *run = &agent.run[event];
        bool asked = find_request(request, event, &wanted);
        if (run->engine && !(asked && same_engine(&wanted, &run->asked)))
            stop_run(run, jni);
        if (!asked) /* run->status may still point into an earlier mapping */
            s->engine[event].error = 0;
    }
    int r = agent.ground ? 0 : lay_ground(request, jvmti, jni, why, sizeof why);
    for (int event = 0; event < WIRE_EVENTS && r == 0; event++) {
        struct engine_run *run = &agent.run[event];
        if (!find_request(request, event, &wanted))
            continue;
        if (!run->engine) {
            prepare_run(run, event, request, jvmti);
            run->request = wanted;
            int error = start_run(run, jni, agent.walker_why);
            if (error < 0 && !first_error) {
                first_error = error;
                snprintf(why, sizeof why, "%.*s", (int)sizeof run->status->reason - 1,
                         run->status->reason); /* the reader can overwrite its NUL */
            }
        }
        if (run->engine)
            running |= 1u << event;
    }
    if (r == 0 && (request->all_or_none || !running))
        r = first_error;
    if (r < 0) {
        stop_all(jvmti, jni);
        fail(s, r, why);
        return;
    }
    if (!running)
        leave_ground(jvmti);
    s->error_code = 0;
    s->engines = running;
    atomic_store(&s->state, running ? WIRE_STATE_RUNNING : WIRE_STATE_IDLE);
}

void agent_start_engines(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni) {
    pthread_mutex_lock(&agent.engine_lock);
    if (!agent.java_exits)
        start(request, jvmti, jni);
    pthread_mutex_unlock(&agent.engine_lock);
}

void agent_stop_engines(jvmtiEnv *jvmti, JNIEnv *jni) {
    pthread_mutex_lock(&agent.engine_lock);
    stop_all(jvmti, jni);
    pthread_mutex_unlock(&agent.engine_lock);
}

void agent_arm_late(void) {
    if (!agent_late_is_due())
        return;
    bool all = true;
    pthread_mutex_lock(&agent.engine_lock);
    agent.threads.late = false;
    for (int event = 0; event < WIRE_EVENTS && all; event++)
        all = arm_late(&agent.run[event], clock_now_ms() + LATE_MS) != -ETIMEDOUT;
    pthread_mutex_unlock(&agent.engine_lock);
    agent.late_again_ms = all ? 0 : clock_now_ms() + LATE_AGAIN_MS;
}

bool agent_late_is_due(void) {
    return agent.ground && agent.threads.late &&
           (!agent.late_again_ms || clock_now_ms() >= agent.late_again_ms);
}

uint32_t agent_turn_ms(uint32_t ms) {
    for (int event = 0; event < WIRE_EVENTS; event++) {
        const struct engine *e = agent.run[event].engine;
        if (e && e->turn && e->turn_ms && e->turn_ms < ms)
            ms = e->turn_ms;
    }
    return ms;
}

/* Whether another library has put its handler in the place of ours. Our signals would go there. Or a
 * debugger came, which stops the process at each SIGTRAP. */
static bool has_lost_signal(const struct engine_run *run, const struct engine *e, uint64_t now_ms) {
    static uint64_t traced_ms; /* when that was checked: it takes some microseconds */
    if (!e->by_signal || run->signo_asked || agent.moves >= MOVES_MAX)
        return false;
    if (!e->by_trap)
        return !signals_has(&agent.signals, run->signo);
    bool check = now_ms - traced_ms >= TRACED_MS;
    traced_ms = check ? now_ms : traced_ms;
    agent.trap_lost = agent.trap_lost || !sigtrap_is_front();
    return agent.trap_lost || (check && signals_are_traced());
}

/* Starts the event's engine again with another signal. */
static void move_to_another(struct engine_run *run, int event, JNIEnv *jni) {
    struct wire_engine_request asked = run->asked;
    agent.moves++;
    stop_run(run, jni);
    run->request = asked;
    agent.start_until_ms = clock_now_ms() + START_MS;
    if (start_run(run, jni, agent.walker_why) < 0)
        agent.mapping.wire->control.status.engines &= ~(1u << event);
}

void agent_turn_engines(JNIEnv *jni, uint64_t now_ms) {
    pthread_mutex_lock(&agent.engine_lock);
    if (agent.ground)
        stub_names_turn();
    for (int event = 0; event < WIRE_EVENTS; event++) {
        struct engine_run *run = &agent.run[event];
        const struct engine *e = run->engine;
        if (e && has_lost_signal(run, e, now_ms))
            move_to_another(run, event, jni);
        e = run->engine;
        if (e && e->turn)
            e->turn(run, jni, now_ms);
    }
    pthread_mutex_unlock(&agent.engine_lock);
}
