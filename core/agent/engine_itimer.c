#include "core/agent/engine.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The process's CPU time at the last signal: the kernel looks at the timer once a tick, so what a
 * signal stands for is measured, not assumed. */
static _Atomic uint64_t last_cpu_ns;

static uint64_t process_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int itimer_start(const struct engine_config *config, char *why, size_t why_bytes) {
    uint64_t us = config->interval / 1000 ? config->interval / 1000 : 1;
    struct timeval period = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    struct itimerval timer = {period, period};
    if (config->signo != SIGPROF) {
        snprintf(why, why_bytes, "itimer works with SIGPROF only");
        return -EINVAL;
    }
    struct itimerval before;
    if (getitimer(ITIMER_PROF, &before) == 0 &&
        (before.it_value.tv_sec || before.it_value.tv_usec)) {
        snprintf(why, why_bytes, "ITIMER_PROF is in use by another profiler");
        return -EBUSY;
    }
    atomic_store(&last_cpu_ns, process_cpu_ns());
    if (setitimer(ITIMER_PROF, &timer, NULL) != 0) {
        snprintf(why, why_bytes, "setitimer failed with errno %d", errno);
        return -errno;
    }
    return 0;
}

static void itimer_stop(void) {
    struct itimerval off = {0};
    setitimer(ITIMER_PROF, &off, NULL);
}

/* What the process used since somebody asked last. Handlers of several threads may ask at once:
 * each nanosecond is given out once, and whoever comes too late gets none. */
static uint64_t take_cpu_ns(void) {
    uint64_t now = process_cpu_ns();
    uint64_t last = atomic_load(&last_cpu_ns);
    for (int tries = 0; now > last && tries < 64; tries++)
        if (atomic_compare_exchange_weak(&last_cpu_ns, &last, now))
            return now - last;
    return 0;
}

static void itimer_handle(struct sampler *s, const struct engine_config *config,
                          struct engine_thread *thread, uint32_t threads, const siginfo_t *info,
                          void *context) {
    (void)config, (void)thread, (void)threads, (void)info;
    uint64_t weight = take_cpu_ns();
    struct sample_request q = {
        .context = context,
        .tid = (uint32_t)syscall(SYS_gettid),
        .event = WIRE_EVENT_CPU,
        .weight = weight,
    };
    sampler_take(s, &q);
}

const struct engine engine_itimer = {
    .mechanism = WIRE_MECHANISM_ITIMER,
    .start = itimer_start,
    .stop = itimer_stop,
    .handle = itimer_handle,
};
