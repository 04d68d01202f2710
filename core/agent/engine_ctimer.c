#include "core/agent/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The CPU clock of one thread (source: clock_getcpuclockid in the kernel's posix-timers.h). */
static clockid_t thread_clock(uint32_t tid) {
    return (clockid_t)(~tid << 3 | 6);
}

static int ctimer_start(const struct engine_config *config, char *why, size_t why_bytes) {
    (void)config;
    struct timespec t;
    if (clock_gettime(thread_clock((uint32_t)syscall(SYS_gettid)), &t) == 0)
        return 0;
    snprintf(why, why_bytes, "no CPU clocks of threads here (errno %d)", errno);
    return -errno;
}

static int ctimer_arm(const struct engine_config *config, struct engine_thread *t, uint32_t index) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = config->signo;
    event.sigev_value.sival_int = (int)index;
    event._sigev_un._tid = (pid_t)t->tid;
    int id;
    /* The kernel's own timer numbers: the C library's wrapper keeps a table and allocates. */
    if (syscall(SYS_timer_create, thread_clock(t->tid), &event, &id) != 0)
        return -errno;
    time_t seconds = (time_t)(config->interval / 1000000000u);
    long ns = (long)(config->interval % 1000000000u);
    struct itimerspec spec = {{seconds, ns}, {seconds, ns}};
    if (syscall(SYS_timer_settime, id, 0, &spec, NULL) != 0) {
        int e = errno;
        syscall(SYS_timer_delete, id);
        return -e;
    }
    t->handle = id;
    return 0;
}

static void ctimer_disarm(struct engine_thread *t) {
    syscall(SYS_timer_delete, t->handle);
}

static void ctimer_stop(void) {
}

static void ctimer_handle(struct sampler *s, const struct engine_config *config,
                          struct engine_thread *thread, uint32_t threads, const siginfo_t *info,
                          void *context) {
    uint32_t index = (uint32_t)info->si_value.sival_int;
    if (info->si_code != SI_TIMER || index >= threads)
        return;
    /* The kernel looks at the timer once a tick; the overruns say how many periods went by. */
    uint64_t periods = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
    struct sample_request q = {
        .context = context,
        .tid = thread[index].tid,
        .event = WIRE_EVENT_CPU,
        .weight = periods * config->interval,
    };
    sampler_take(s, &q);
}

const struct engine engine_ctimer = {
    .mechanism = WIRE_MECHANISM_CTIMER,
    .per_thread = true,
    .start = ctimer_start,
    .arm = ctimer_arm,
    .disarm = ctimer_disarm,
    .stop = ctimer_stop,
    .handle = ctimer_handle,
};
