#include "core/agent/engine/engine_wall.h"

#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10) /* the C library takes its threads' variables out of it */
#define TICKS 8                  /* an interval, so that not all threads are looked at at once */
#define SLICE 100000u            /* ns */
#define TICK_MIN 1000000u        /* ns */
#define LIST_MIN 20000000u       /* ns between two looks at who is there */

static struct wall wall;
static uint64_t ended_cpu_ns; /* of those before */

static void wait_while(_Atomic uint32_t *word, uint32_t value, uint64_t ns) {
    struct timespec t = clock_timespec(ns);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void tell(_Atomic uint32_t *word, uint32_t value) {
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void publish(struct wall *w) {
    struct wire_engine_status *s = w->run->status;
    uint64_t covered = atomic_load(&w->covered_ns);
    /* A handler may have counted time that no look has yet. */
    __atomic_store_n(&s->expected_ns, w->expected_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&s->covered_ns, covered < w->expected_ns ? covered : w->expected_ns,
                     __ATOMIC_RELAXED);
    atomic_store(&w->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void go_round(struct wall *w) {
    uint64_t interval = w->run->request.interval;
    uint64_t now = clock_now_ns();
    if (now >= w->next_list_ns) {
        wall_threads_list(w, now);
        publish(w);
        w->next_list_ns = now + (interval > LIST_MIN ? interval : LIST_MIN);
    }
    for (uint32_t i = 0; i < w->count && !atomic_load_explicit(&w->quit, memory_order_relaxed);
         i++) {
        if (w->due_ns[i] > now || !w->entry[i].tid)
            continue;
        w->due_ns[i] = UINT64_MAX;
        uint64_t at = clock_now_ns();
        uint64_t pause = wall_look(w, &w->entry[i], at);
        if (w->entry[i].tid)
            w->due_ns[i] = at + wall_pause(w, pause);
    }
}

/* Who waits for a processor until somebody goes to sleep sees too many asleep: ask for the shortest
 * slice, which lets a thread that wakes run first (Linux 6.12; others do not look at it). */
static void hurry(void) {
    struct attributes {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } a = {.size = sizeof a};
    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER)
        return;
    a.runtime = SLICE;
    syscall(SYS_sched_setattr, 0, &a, 0);
}

static void *wall_main(void *arg) {
    struct wall *w = arg;
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    uint64_t tick = w->run->request.interval / TICKS;
    pthread_setname_np(pthread_self(), "jtop-wall");
    threads_own(w->run->threads, tid, true); /* before anybody arms it */
    hurry();
    tell(&w->own_tid, tid);
    w->random = clock_now_ns() | 1;
    while (!atomic_load(&w->quit)) {
        go_round(w);
        wait_while(&w->quit, 0, wall_pause(w, tick > TICK_MIN ? tick : TICK_MIN));
    }
    uint64_t now = clock_now_ns();
    for (uint32_t i = 0; i < w->count; i++)
        if (w->entry[i].tid)
            wall_close(w, &w->entry[i], now);
    publish(w);
    return NULL;
}

/* Nobody's signals are for it, but for those of what it does itself: guarded reads, and functions
 * that have a breakpoint (trap.h), which would end the process otherwise. */
static int start_thread(struct wall *w) {
    pthread_attr_t attr;
    sigset_t block;
    sigset_t before;
    sigfillset(&block);
    sigdelset(&block, SIGSEGV);
    sigdelset(&block, SIGBUS);
    sigdelset(&block, SIGTRAP);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &block, &before);
    int r = pthread_create(&w->thread, &attr, wall_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    while (r == 0 && !atomic_load(&w->own_tid))
        wait_while(&w->own_tid, 0, 100000000u);
    return -r;
}

static int wall_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)jni;
    struct wall *w = &wall;
    memset(w, 0, sizeof *w);
    w->run = run;
    w->pid = (int32_t)getpid();
    int r = wall_threads_map(w);
    if (r < 0) {
        snprintf(why, why_bytes, "no address space for the list of threads");
        return r;
    }
    r = thread_states_open(&w->states);
    if (r < 0) {
        snprintf(why, why_bytes, "/proc/self/task cannot be opened (errno %d)", -r);
        wall_threads_unmap(w);
        return r;
    }
    r = wall_try_signal(w);
    if (r < 0) {
        snprintf(why, why_bytes, "signals cannot be sent to threads here (errno %d)", -r);
    } else {
        r = start_thread(w);
        if (r < 0)
            snprintf(why, why_bytes, "no thread for the wall clock (errno %d)", -r);
    }
    if (r < 0) {
        thread_states_close(&w->states);
        wall_threads_unmap(w);
    }
    return r;
}

static void wall_stop(struct engine_run *run, JNIEnv *jni) {
    (void)jni;
    struct wall *w = &wall;
    tell(&w->quit, 1);
    pthread_join(w->thread, NULL);
    threads_own(run->threads, atomic_load(&w->own_tid), false);
    ended_cpu_ns += atomic_exchange(&w->cpu_ns, 0);
    thread_states_close(&w->states);
    wall_threads_unmap(w);
}

static bool wall_handle(struct engine_run *run, const siginfo_t *info, void *context) {
    struct wall *w = &wall;
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr;
    uint32_t tid = (uint32_t)(value >> 32);
    uint32_t i = (uint32_t)value;
    uint32_t sent = WALL_SENT;
    if (info->si_code != SI_QUEUE || info->si_pid != w->pid || i >= THREADS_MAX)
        return false;
    struct wall_thread *t = &w->entry[i];
    if (t->tid != tid || !atomic_compare_exchange_strong(&t->turn, &sent, WALL_ITS))
        return true; /* it has come too late */
    const struct vm *vm = run->sampler->walker.vm;
    uint64_t until = atomic_load(&t->until_ns);
    struct sample_request q = {
        .context = context,
        .tid = tid,
        .event = WIRE_EVENT_WALL,
        .weight = until - t->since_ns,
        .count = wall_count(t, run->request.interval, until - t->since_ns),
        .state = thread_state_of_registers(&w->states, vm, vm_current_java_thread(vm), context),
    };
    t->sampled = sampler_take(run->sampler, &q);
    if (t->sampled) {
        atomic_fetch_add(&w->covered_ns, atomic_load(&t->covers_ns));
        t->since_ns = until;
        t->state = (uint8_t)q.state;
    }
    t->handled = true;
    atomic_store(&t->turn, WALL_OURS);
    return true;
}

uint64_t wall_own_cpu_ns(void) {
    return ended_cpu_ns + atomic_load(&wall.cpu_ns);
}

void wall_forget_cpu(void) {
    ended_cpu_ns = 0;
}

const struct engine engine_wall = {
    .event = WIRE_EVENT_WALL,
    .mechanism = WIRE_MECHANISM_SIGNAL,
    .by_signal = true,
    .interval = WALL_INTERVAL,
    .interval_min = WALL_INTERVAL_MIN,
    .start = wall_start,
    .stop = wall_stop,
    .handle = wall_handle,
};
