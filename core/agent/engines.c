#include "core/agent/agent.h"
#include "core/agent/vm_flags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define INTERVAL_DEFAULT 10000000u /* ns */
#define INTERVAL_MIN 10000u        /* ns; the kernel makes a shorter cpu-clock period this long */

/* What is compiled while we sample carries debug information between safepoints too, so that a pc
 * there is attributed to the inlined method it belongs to. */
#define DEBUG_FLAG "DebugNonSafepoints"

static const struct engine *const engines[] = {&engine_perf, &engine_ctimer, &engine_itimer};

static const char *const walker_name[WIRE_WALKS] = {
    [WIRE_WALK_VM] = "vm",       [WIRE_WALK_VMX] = "vmx", [WIRE_WALK_FP] = "fp",
    [WIRE_WALK_DWARF] = "dwarf", [WIRE_WALK_NO] = "no",   [WIRE_WALK_ASGCT] = "asgct",
};

static void on_signal(int signo, siginfo_t *info, void *context) {
    (void)signo;
    int saved = errno;
    if (sampler_enter(&agent.sampler)) {
        const struct engine *e = agent.engine; /* NULL while one is being replaced */
        if (e)
            e->handle(&agent.sampler, &agent.config, agent.threads.entry, THREADS_MAX, info,
                      context);
        sampler_leave(&agent.sampler);
    }
    errno = saved;
}

static int take_signal(int signo, char *why, size_t why_bytes) {
    /* On the alternate stack where a thread has one: a Go library's threads must not be interrupted
     * on their small stacks. Java's threads have none. */
    struct sigaction ours = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(signo, NULL, &agent.before) != 0) {
        snprintf(why, why_bytes, "signal %d cannot be used (errno %d)", signo, errno);
        return -errno;
    }
    if (agent.before.sa_handler != SIG_DFL && agent.before.sa_handler != SIG_IGN &&
        agent.before.sa_sigaction != on_signal) {
        snprintf(why, why_bytes, "signal %d is in use by another profiler in this JVM", signo);
        return -EBUSY;
    }
    return sigaction(signo, &ours, NULL) == 0 ? 0 : -errno;
}

/* By now nothing sends the signal any more. What is still pending must not meet the default
 * action, which ends the process: ignoring a signal discards it from every thread's queue. */
static void give_signal_back(int signo) {
    struct sigaction now;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(signo, NULL, &now) != 0 || now.sa_sigaction != on_signal)
        return; /* somebody put a handler in front of ours: it may still call us */
    sigaction(signo, &ignore, NULL);
    sigaction(signo, &agent.before, NULL);
}

static int try_engine(const struct engine *e, char *why, size_t why_bytes) {
    int r = e->start(&agent.config, why, why_bytes);
    if (r < 0)
        return r;
    agent.engine = e;
    r = threads_arm_all(&agent.threads, e, &agent.config);
    if (r < 0) {
        snprintf(why, why_bytes, "not every thread could be armed (errno %d)", -r);
        sampler_disable(&agent.sampler); /* no handler is in what is taken down now */
        agent.engine = NULL;
        threads_disarm_all(&agent.threads);
        e->stop();
        sampler_enable(&agent.sampler, agent.sampler.depth);
    }
    return r;
}

static void fail(struct wire_status *s, int error, const char *why) {
    s->error_code = -error;
    snprintf(s->message, sizeof s->message, "%s", why);
    s->engines = 0;
    atomic_store(&s->state, WIRE_STATE_FAILED);
}

static void stop(jvmtiEnv *jvmti) {
    const struct engine *e = agent.engine;
    if (!e)
        return;
    sampler_disable(&agent.sampler);
    threads_disarm_all(&agent.threads);
    e->stop();
    precise_stop(&agent.sampler.precise);
    asgct_close(&agent.sampler.asgct, jvmti);
    give_signal_back(agent.config.signo);
    if (agent.flag_was_set)
        vm_flag_set(DEBUG_FLAG, agent.flag_before, &agent.flag_was_set);
    agent.flag_was_set = false;
    agent.engine = NULL;
}

/* The walker that was asked for, or the one that can be had instead, with the reason in `why`.
 * -errno where there is none. */
static int choose_walker(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni,
                         char *why, size_t why_bytes) {
    struct sampler *s = &agent.sampler;
    bool described = agent.vm.heaps > 0;
    s->walker.walk = request->walk < WIRE_WALKS ? (enum wire_walk)request->walk : WIRE_WALK_VM;
    s->walker.unwind = s->walker.walk == WIRE_WALK_VMX || s->walker.walk == WIRE_WALK_DWARF
                           ? agent_mapping_unwind(&agent.mapping)
                           : NULL;
    if (!described) {
        snprintf(why, why_bytes, "walk asgct: this VM does not describe %s",
                 s->asgct.instead_of ? s->asgct.instead_of : "itself");
        s->walker.walk = WIRE_WALK_ASGCT;
    }
    if (s->walker.walk != WIRE_WALK_ASGCT)
        return 0;
    int r = asgct_open(&s->asgct, &s->walker, jvmti, jni, why, why_bytes);
    if (r < 0 && described)
        s->walker.walk = WIRE_WALK_VM;
    return described ? 0 : r;
}

static void start(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni) {
    struct wire_status *s = &agent.mapping.wire->control.status;
    struct wire_engine_request q = request->engine[0];
    char why[sizeof s->engine[0].reason] = "";
    char first_why[sizeof why] = "";
    char walker_why[sizeof why] = "";
    int r = -ENOTSUP;
    stop(jvmti);
    if (request->engines != 1 || q.event != WIRE_EVENT_CPU || q.mechanism >= WIRE_MECHANISMS) {
        fail(s, -ENOTSUP, "this agent samples CPU time only");
        return;
    }
    agent.config = (struct engine_config){
        .interval = q.interval ? q.interval : INTERVAL_DEFAULT,
        .signo = request->signal ? (int)request->signal : SIGPROF,
        .threads = agent.threads.alive,
    };
    if (agent.config.interval < INTERVAL_MIN)
        agent.config.interval = INTERVAL_MIN;
    r = take_signal(agent.config.signo, why, sizeof why);
    if (r < 0) {
        fail(s, r, why);
        return;
    }
    libraries_refresh(&agent.sampler.libraries);
    /* A signal may come while threads are still being armed: the engine must be known by then,
     * and try_engine sets it before it arms the first one. */
    r = choose_walker(request, jvmti, jni, walker_why, sizeof walker_why);
    if (r < 0) {
        give_signal_back(agent.config.signo);
        fail(s, r, walker_why);
        return;
    }
    r = -ENOTSUP;
    sampler_enable(&agent.sampler, request->depth);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0] && r < 0; i++) {
        if (q.mechanism != WIRE_MECHANISM_AUTO && q.mechanism != engines[i]->mechanism)
            continue;
        r = try_engine(engines[i], why, sizeof why);
        if (r < 0 && !*first_why)
            memcpy(first_why, why, sizeof why);
    }
    if (r < 0) {
        sampler_disable(&agent.sampler);
        asgct_close(&agent.sampler.asgct, jvmti);
        give_signal_back(agent.config.signo);
        fail(s, r, *first_why ? first_why : "no such mechanism");
        return;
    }
    agent.flag_was_set = vm_flag_set(DEBUG_FLAG, true, &agent.flag_before);
    if (request->precise && agent.vm.heaps)
        precise_start(&agent.sampler.precise, &agent.vm, &agent.sampler.ring, s);
    s->engine[0] = (struct wire_engine_status){
        .event = q.event,
        .mechanism = agent.engine->mechanism,
        .interval = agent.config.interval,
    };
    snprintf(s->engine[0].reason, sizeof s->engine[0].reason, "%s%s%s", walker_why,
             *walker_why && *first_why ? "; " : "", first_why);
    s->engines = 1;
    s->error_code = 0;
    snprintf(s->walker, sizeof s->walker, "%s", walker_name[agent.sampler.walker.walk]);
    atomic_store(&s->state, WIRE_STATE_RUNNING);
}

void agent_start_engine(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni) {
    pthread_mutex_lock(&agent.engine_lock);
    if (!agent.java_exits)
        start(request, jvmti, jni);
    pthread_mutex_unlock(&agent.engine_lock);
}

void agent_stop_engine(jvmtiEnv *jvmti) {
    pthread_mutex_lock(&agent.engine_lock);
    stop(jvmti);
    pthread_mutex_unlock(&agent.engine_lock);
}
