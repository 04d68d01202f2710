#include "core/agent/engine/engine_perf.h"
#include "core/agent/threads.h"
#include "core/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The process's CPU time at the last signal: the kernel checks the timer once a tick, so what a
 * signal stands for is measured, not assumed. */
static _Atomic uint64_t last_cpu_ns;

/* The period of our timer, as the kernel has it: another profiler may set its own meanwhile. */
static struct timeval own_period;

static int itimer_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)jni;
    /* One less than asked: it shows whose timer it is, and the kernel rounds up to its ticks. */
    uint64_t us = run->request.interval / 1000 > 1 ? run->request.interval / 1000 - 1 : 1;
    struct timeval period = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    struct itimerval timer = {period, period};
    if (run->signo != SIGPROF) {
        snprintf(why, why_bytes, "itimer can use only SIGPROF");
        return -EINVAL;
    }
    struct itimerval before;
    if (getitimer(ITIMER_PROF, &before) == 0 &&
        (before.it_value.tv_sec || before.it_value.tv_usec)) {
        snprintf(why, why_bytes,
                 "another profiler uses ITIMER_PROF; -e cpu and -e ctimer work beside it");
        return -EBUSY;
    }
    atomic_store(&last_cpu_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    if (setitimer(ITIMER_PROF, &timer, NULL) != 0) {
        snprintf(why, why_bytes, "setitimer failed with errno %d", errno);
        return -errno;
    }
    own_period = period;
    if (getitimer(ITIMER_PROF, &timer) == 0)
        own_period = timer.it_interval; /* old kernels round it up to their ticks */
    return 0;
}

static void itimer_stop(struct engine_run *run, JNIEnv *jni) {
    (void)run, (void)jni;
    struct itimerval now, off = {0};
    if (getitimer(ITIMER_PROF, &now) == 0 && now.it_interval.tv_sec == own_period.tv_sec &&
        now.it_interval.tv_usec == own_period.tv_usec)
        setitimer(ITIMER_PROF, &off, NULL);
}

/* What the process used since the last call. Handlers of several threads may call this at once:
 * each nanosecond is given out once, and a handler that comes too late gets none. */
static uint64_t take_cpu_ns(void) {
    uint64_t now = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t last = atomic_load(&last_cpu_ns);
    for (int tries = 0; now > last && tries < 64; tries++)
        if (atomic_compare_exchange_weak(&last_cpu_ns, &last, now))
            return now - last;
    return 0;
}

/* The time used since the last signal counts for the processor that this one came on. */
static bool on_wanted_cpu(const struct wire_engine_request *q) {
    return !(q->flags & WIRE_ENGINE_TARGET_CPU) || sched_getcpu() == q->cpu;
}

static bool itimer_handle(struct engine_run *run, const siginfo_t *info, void *context) {
    uint64_t weight = 0;
    if (info->si_code != SI_KERNEL)
        return false;
    struct sample_request q = {
        .context = context,
        .tid = (uint32_t)syscall(SYS_gettid),
        .event = WIRE_EVENT_CPU,
        .state = WIRE_THREAD_RUNNING,
    };
    if (q.tid < WIRE_TID_MAX && run->threads->index_of_tid)
        perf_catch_up(run->signo, run->threads->index_of_tid[q.tid] - 1, context);
    if (!threads_is_own(run->threads, q.tid))
        weight = take_cpu_ns();
    q.weight = weight;
    if (weight && on_wanted_cpu(&run->request))
        sampler_take(run->sampler, &q);
    return true;
}

const struct engine engine_cpu_itimer = {
    .event = WIRE_EVENT_CPU,
    .mechanism = WIRE_MECHANISM_ITIMER,
    .by_signal = true,
    .interval = CPU_INTERVAL,
    .interval_min = CPU_INTERVAL_MIN,
    .start = itimer_start,
    .stop = itimer_stop,
    .handle = itimer_handle,
};
