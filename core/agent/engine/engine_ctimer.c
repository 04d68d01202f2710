#include "core/agent/engine/engine_perf.h"
#include "core/agent/threads.h"
#include "core/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int ctimer_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)run, (void)jni;
    struct timespec t;
    if (clock_gettime(clock_of_thread((uint32_t)syscall(SYS_gettid)), &t) == 0)
        return 0;
    snprintf(why, why_bytes, "no CPU clocks of threads here (errno %d)", errno);
    return -errno;
}

/* A thread that has ended meanwhile has no valid clock. */
static int error_of(const struct engine_thread *t, int e) {
    bool ended = syscall(SYS_tgkill, getpid(), t->tid, 0) != 0 && errno == ESRCH;
    return e == EINVAL && ended ? -ESRCH : -e;
}

static int ctimer_arm(struct engine_run *run, struct engine_thread *t, uint32_t index) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = run->signo;
    event.sigev_value.sival_int = (int)index;
    event._sigev_un._tid = (pid_t)t->tid;
    int id;
    /* The kernel's own timer numbers: the C library's wrapper keeps a table and allocates. */
    if (syscall(SYS_timer_create, clock_of_thread(t->tid), &event, &id) != 0)
        return error_of(t, errno);
    uint64_t interval = run->request.interval;
    struct itimerspec spec = {
        .it_interval = clock_timespec(interval),
        .it_value = clock_timespec(engine_first_interval(interval, t->tid + (uint64_t)time(NULL))),
    };
    if (syscall(SYS_timer_settime, id, 0, &spec, NULL) != 0) {
        int e = errno;
        syscall(SYS_timer_delete, id);
        return -e;
    }
    t->handle = id;
    return 0;
}

static void ctimer_disarm(struct engine_run *run, struct engine_thread *t) {
    (void)run;
    syscall(SYS_timer_delete, t->handle);
}

static void ctimer_stop(struct engine_run *run, JNIEnv *jni) {
    (void)run, (void)jni;
}

static bool ctimer_handle(struct engine_run *run, const siginfo_t *info, void *context) {
    uint32_t index = (uint32_t)info->si_value.sival_int;
    /* NULL while it begins: what was pending when a timer of the run before was deleted may come
     * now, on kernels before 6.13. */
    const struct engine_thread *threads = run->thread;
    if (info->si_code != SI_TIMER || !threads || index >= THREADS_MAX || !threads[index].tid)
        return false;
    perf_catch_up(run->signo, index, context);
    /* The timer runs wherever the thread does: what it used elsewhere is left out by halves only,
     * where it moved since the last signal. */
    if (run->request.flags & WIRE_ENGINE_TARGET_CPU && sched_getcpu() != run->request.cpu)
        return true;
    /* The kernel checks the timer once a tick; the overruns say how many periods went by. */
    uint64_t periods = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
    struct sample_request q = {
        .context = context,
        .tid = threads[index].tid,
        .event = WIRE_EVENT_CPU,
        .weight = periods * run->request.interval,
        .state = WIRE_THREAD_RUNNING,
    };
    sampler_take(run->sampler, &q);
    return true;
}

const struct engine engine_cpu_ctimer = {
    .event = WIRE_EVENT_CPU,
    .mechanism = WIRE_MECHANISM_CTIMER,
    .by_signal = true,
    .per_thread = true,
    .interval = CPU_INTERVAL,
    .interval_min = CPU_INTERVAL_MIN,
    .start = ctimer_start,
    .arm = ctimer_arm,
    .disarm = ctimer_disarm,
    .stop = ctimer_stop,
    .handle = ctimer_handle,
};
