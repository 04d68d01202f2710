/*
 * The agent with a stopwatch: a library for bench.Walk that interrupts its thread by a signal of
 * its own, and takes the time of the walker and of the whole handler in turns. Of the agent's own
 * engines one is armed, with a period that never ends.
 */
#include "core/agent/agent.h"
#include "core/agent/process/guarded.h"
#include "core/wire/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL (SIGRTMIN + 7)
#define PAUSE_NS 200000L /* between two signals, at least */
#define NEAR 3u          /* frames more or fewer than asked for */

enum {
    MEASURED_MAX = 100000,
    RING_BYTES = 256 << 20, /* never read: the samples of all rounds have room */
};

struct timing {
    uint32_t ns[MEASURED_MAX];
    _Atomic uint32_t n;
};

static struct {
    struct timing walk, handler;
    uint64_t frame[WIRE_FRAMES_MAX];
    uint32_t depth; /* 0: nothing is measured */
    uint32_t turns, missed, failed;
    uint32_t tid;
    _Atomic int outside; /* the other thread is to send signals */
} probe;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void keep(struct timing *t, uint64_t ns) {
    uint32_t n = t->n;
    if (n < MEASURED_MAX) {
        t->ns[n] = (uint32_t)ns;
        t->n = n + 1;
    }
}

static void on_signal(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)info;
    if (!probe.depth)
        return;
    if (probe.turns++ % 2) {
        struct sample_request q = {
            .context = context, .tid = probe.tid, .event = WIRE_EVENT_CPU, .weight = 1};
        uint64_t before = now_ns();
        sampler_take(&agent.sampler, &q);
        keep(&probe.handler, now_ns() - before);
        return;
    }
    struct stack s = {.frame = probe.frame, .max = WIRE_FRAMES_MAX, .java_max = WIRE_FRAMES_MAX};
    uint64_t before = now_ns();
    struct registers r = registers_read(context);
    walk_vm(&agent.sampler.walker, &r, &s);
    uint64_t took = now_ns() - before;
    if (s.failure)
        probe.failed++;
    else if (s.java + NEAR < probe.depth || s.java > probe.depth + NEAR)
        probe.missed++; /* on the way down or up */
    else
        keep(&probe.walk, took);
}

/* Sends the signals, and is the reader as far as the agent can tell. */
static void *send_signals(void *arg) {
    struct wire_control *c = arg;
    uint64_t random = 88172645463325252u;
    for (;;) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        struct timespec pause = {.tv_nsec = PAUSE_NS + (long)(random % 100000)};
        nanosleep(&pause, NULL);
        atomic_fetch_add(&c->request.heartbeat, 1);
        if (probe.outside)
            syscall(SYS_tgkill, getpid(), probe.tid, SIGNAL);
    }
    return NULL;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jstring JNICALL Java_bench_Walk_begin(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_bench_Walk_measure(JNIEnv *jni, jclass c, jint depth, jboolean outside);
JNIEXPORT jint JNICALL Java_bench_Walk_measured(JNIEnv *jni, jclass c);
JNIEXPORT jstring JNICALL Java_bench_Walk_figures(JNIEnv *jni, jclass c);
JNIEXPORT void JNICALL Java_bench_Walk_raiseSignals(JNIEnv *jni, jclass c, jint n);

static bool start_agent(JNIEnv *jni) {
    JavaVM *vm;
    char options[64];
    pthread_t thread;
    struct sigaction on = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    snprintf(options, sizeof options, "session=1,ring=%d", RING_BYTES);
    if ((*jni)->GetJavaVM(jni, &vm) != 0 || Agent_OnAttach(vm, options, NULL) != HANDSHAKE_OK)
        return false;
    struct wire_control *control = &agent.mapping.wire->control;
    control->request.command = WIRE_COMMAND_START;
    control->request.engines = 1;
    control->request.engine[0] = (struct wire_engine_request){
        .event = WIRE_EVENT_CPU,
        .mechanism = WIRE_MECHANISM_CTIMER,
        .interval = UINT64_C(1000000000000000),
    };
    atomic_store(&control->request.generation, 1);
    for (int i = 0; i < 5000 && control->status.generation != 1; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return control->status.state == WIRE_STATE_RUNNING && sigaction(SIGNAL, &on, NULL) == 0 &&
           pthread_create(&thread, NULL, send_signals, control) == 0;
}

JNIEXPORT jstring JNICALL Java_bench_Walk_begin(JNIEnv *jni, jclass c) {
    (void)c;
    return start_agent(jni) ? NULL : (*jni)->NewStringUTF(jni, "the agent does not start");
}

JNIEXPORT void JNICALL Java_bench_Walk_measure(JNIEnv *jni, jclass c, jint depth,
                                               jboolean outside) {
    (void)jni, (void)c;
    probe.tid = (uint32_t)syscall(SYS_gettid);
    probe.walk.n = probe.handler.n = 0;
    probe.turns = probe.missed = probe.failed = 0;
    probe.depth = (uint32_t)depth;
    probe.outside = outside;
}

JNIEXPORT jint JNICALL Java_bench_Walk_measured(JNIEnv *jni, jclass c) {
    (void)jni, (void)c;
    return (jint)probe.walk.n;
}

JNIEXPORT void JNICALL Java_bench_Walk_raiseSignals(JNIEnv *jni, jclass c, jint n) {
    (void)jni, (void)c;
    for (jint i = 0; i < n; i++)
        raise(SIGNAL);
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double percentile(struct timing *t, uint32_t percent) {
    qsort(t->ns, t->n, sizeof t->ns[0], by_value);
    return t->n ? t->ns[(uint64_t)(t->n - 1) * percent / 100] / 1e3 : 0;
}

JNIEXPORT jstring JNICALL Java_bench_Walk_figures(JNIEnv *jni, jclass c) {
    char text[160];
    (void)c;
    probe.outside = 0;
    probe.depth = 0;
    double walk = percentile(&probe.walk, 50);
    double handler = percentile(&probe.handler, 50);
    snprintf(text, sizeof text, "%6.2f %6.2f %11.2f %6.2f %8.2f %8u %7u", walk,
             percentile(&probe.walk, 99), handler, percentile(&probe.handler, 99),
             walk > 0 ? handler / walk : 0, probe.walk.n, probe.failed);
    return (*jni)->NewStringUTF(jni, text);
}
