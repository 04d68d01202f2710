#include "core/agent/engine/engine_wall.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/reserve.h"
#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void wall_threads_unmap(struct wall *w) {
    if (w->entry)
        munmap(w->entry, THREADS_MAX * sizeof *w->entry);
    if (w->due_ns)
        munmap(w->due_ns, THREADS_MAX * sizeof *w->due_ns);
    if (w->tids)
        munmap(w->tids, THREADS_MAX * sizeof *w->tids);
    if (w->index_of_tid)
        munmap(w->index_of_tid, WIRE_TID_MAX * sizeof *w->index_of_tid);
    w->entry = NULL;
    w->due_ns = NULL;
    w->tids = NULL;
    w->index_of_tid = NULL;
}

int wall_threads_map(struct wall *w) {
    w->entry = reserve(THREADS_MAX * sizeof *w->entry);
    w->due_ns = reserve(THREADS_MAX * sizeof *w->due_ns);
    w->tids = reserve(THREADS_MAX * sizeof *w->tids);
    w->index_of_tid = reserve(WIRE_TID_MAX * sizeof *w->index_of_tid);
    if (w->entry && w->due_ns && w->tids && w->index_of_tid)
        return 0;
    wall_threads_unmap(w);
    return -ENOMEM;
}

/* xorshift64 */
static uint64_t random_below(struct wall *w, uint64_t limit) {
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return limit ? w->random % limit : 0;
}

uint64_t wall_pause(struct wall *w, uint64_t ns) {
    return ns / 2 + random_below(w, ns);
}

/* Adds an entry for a new thread. Signals carry its index, so it keeps its place. */
static void add(struct wall *w, uint32_t tid, uint64_t now) {
    uint32_t i = w->free_hint;
    while (i < w->count && w->entry[i].tid)
        i++;
    if (i == THREADS_MAX)
        return;
    w->free_hint = i + 1;
    if (i == w->count)
        w->count++;
    struct wall_thread *t = &w->entry[i];
    t->calm = 0;
    t->sampled = t->handled = false;
    t->cpu_ns = 0;
    t->since_ns = t->same_ns = t->looked_ns = now;
    t->seen = w->lists;
    atomic_store(&t->turn, WALL_OURS);
    t->tid = tid;
    w->index_of_tid[tid] = i + 1;
    w->due_ns[i] = now + random_below(w, w->run->request.interval);
}

/* Records that the thread's last sample stands for all time up to the last check. */
static void wall_repeat(struct wall *w, struct wall_thread *t);

/* The thread is gone or no longer wanted. */
static void wall_threads_drop(struct wall *w, struct wall_thread *t) {
    uint32_t i = (uint32_t)(t - w->entry);
    wall_repeat(w, t);
    w->index_of_tid[t->tid] = 0;
    w->due_ns[i] = UINT64_MAX;
    t->tid = 0;
    if (i < w->free_hint)
        w->free_hint = i;
}

void wall_threads_list(struct wall *w, uint64_t now) {
    uint32_t n = threads_list(w->run->threads, w->tids, THREADS_MAX);
    w->lists++;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t tid = w->tids[k];
        if (tid >= WIRE_TID_MAX || !sampler_allows(w->run->sampler, tid))
            continue;
        if (!w->index_of_tid[tid])
            add(w, tid, now);
        else
            w->entry[w->index_of_tid[tid] - 1].seen = w->lists;
    }
    uint64_t threads = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        struct wall_thread *t = &w->entry[i];
        if (!t->tid)
            continue;
        threads++;
        uint32_t turn = WALL_SENT; /* not while its handler runs */
        if (t->seen != w->lists &&
            (atomic_compare_exchange_strong(&t->turn, &turn, WALL_OURS) || turn == WALL_OURS)) {
            wall_threads_drop(w, t);
            threads--;
        }
    }
    __atomic_store_n(&w->run->status->threads, threads, __ATOMIC_RELAXED);
}

#define REPEAT_NS UINT64_C(900000000) /* a live screen gets a sleeper's repeat this often */
#define TRIES 3                       /* to find a thread asleep from one end to the other */
#define CALM_LOOKS 8                  /* without a move, until looks become fewer */
#define CALM_FACTOR 4
#define HANDLER_NS 200000u /* a handler and its thread's way back to sleep use less */
#define LINK_BYTES 8192u   /* of a stack without Java, searched for a frame */

/* How much of the time up to a look its sample covers. */
static uint64_t covered(const struct wall *w, const struct wall_thread *t, uint64_t now) {
    uint64_t most = 2 * w->run->request.interval;
    return now - t->since_ns < most ? now - t->since_ns : most;
}

/* How many samples the next one of that weight counts as: on average one an interval, also if
 * checks come late. Called by the thread that owns the entry's turn. */
static uint32_t wall_count(struct wall_thread *t, uint64_t interval, uint64_t weight) {
    int64_t ns = (int64_t)interval;
    t->rest_ns += (int64_t)weight;
    int64_t count = t->rest_ns > 0 ? (t->rest_ns + ns / 2) / ns : 0;
    count = count < 1 ? 1 : count > UINT32_MAX ? UINT32_MAX : count;
    t->rest_ns -= count * ns;
    t->rest_ns = t->rest_ns < -4 * ns ? -4 * ns : t->rest_ns;
    return (uint32_t)count;
}

static void wall_repeat(struct wall *w, struct wall_thread *t) {
    uint64_t interval = w->run->request.interval;
    if (!t->sampled || t->same_ns <= t->since_ns)
        return;
    struct wire_repeat *r = ring_reserve(&w->run->sampler->ring, WIRE_REPEAT, sizeof *r);
    if (!r)
        return; /* later, with what comes then */
    uint64_t weight = t->same_ns - t->since_ns;
    uint32_t count = wall_count(t, interval, weight);
    memset((char *)r + sizeof r->header, 0, sizeof *r - sizeof r->header);
    r->time_ns = t->same_ns;
    r->weight = weight;
    r->tid = t->tid;
    r->count = count;
    r->event = WIRE_EVENT_WALL;
    r->state = t->state;
    ring_commit(r, WIRE_REPEAT);
    engine_count(&w->run->status->samples, count);
    t->since_ns = t->same_ns;
}

static void note_same(struct wall *w, struct wall_thread *t, uint64_t from, uint64_t now) {
    t->calm++;
    t->same_ns = now;
    atomic_fetch_add(&w->covered_ns, now - from);
    if (now - t->since_ns >= REPEAT_NS)
        wall_repeat(w, t);
}

/* What tells that a thread has slept all the while. */
struct check {
    uint32_t tid;
    uint64_t cpu_ns;
};

static bool has_slept(void *arg) {
    const struct check *c = arg;
    return clock_ns(clock_of_thread(c->tid)) == c->cpu_ns;
}

/* The JavaThread*, if the thread's it is. */
static uintptr_t java_thread(struct wall *w, uint32_t tid) {
    uintptr_t java = threads_java_of(w->run->threads, tid);
    return java && threads_tid_of(w->run->threads, java) == tid ? java : 0;
}

/* Where a sleeper's stack begins. False: not known from here. */
static bool registers_of(struct wall *w, const struct thread_sleep *sleep,
                         struct sample_request *q) {
    const struct walker *walker = &w->run->sampler->walker;
    const struct vm_layout *at = &walker->vm->at;
    uintptr_t java = q->sleeper->java;
    uintptr_t anchor =
        java ? guarded_load64(java + (uintptr_t)(at->thread_anchor + at->anchor_sp)) : 0;
    q->from = (struct registers){.pc = sleep->pc, .sp = sleep->sp};
    if (sleep->syscall < 0) { /* only its last Java frame is known */
        q->from.sp = anchor;
        q->java_only = true;
        return anchor != 0;
    }
    q->from.fp = walk_find_link(walker, sleep->sp, anchor ? anchor : sleep->sp + LINK_BYTES);
    return true;
}

/* Takes a sleeper's sample from here. False: it was not asleep, or there was no room. */
static bool take(struct wall *w, struct wall_thread *t, const struct thread_sleep *sleep,
                 uint64_t now, uint64_t cpu, bool *can) {
    struct sampler *s = w->run->sampler;
    struct check check = {t->tid, cpu};
    struct sample_sleeper sleeper = {java_thread(w, t->tid), has_slept, &check};
    struct sample_request q = {.sleeper = &sleeper, .tid = t->tid, .event = WIRE_EVENT_WALL};
    if (!sampler_enter(s))
        return false;
    bool taken = false;
    *can = registers_of(w, sleep, &q);
    if (*can) {
        q.state = thread_state_of_sleep(&w->states, s->walker.vm, sleeper.java, sleep, q.from.fp);
        q.weight = now - t->since_ns;
        q.count = wall_count(t, w->run->request.interval, q.weight);
        t->window = atomic_load(&s->window);
        taken = sampler_take(s, &q);
        if (taken) {
            t->calm = 0;
            atomic_fetch_add(&w->covered_ns, covered(w, t, now));
            t->state = (uint8_t)q.state;
            t->cpu_ns = cpu;
            t->since_ns = now;
            t->sampled = true;
        }
    }
    sampler_leave(s);
    return taken;
}

/* With what tells the handler whose it is. 0 or -errno. */
static int queue_signal(int32_t pid, uint32_t tid, int signo, uint32_t index) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signo;
    info.si_code = SI_QUEUE;
    info.si_pid = pid;
    info.si_value.sival_ptr = (void *)((uintptr_t)tid << 32 | index);
    return syscall(SYS_rt_tgsigqueueinfo, pid, tid, signo, &info) == 0 ? 0 : -errno;
}

/* Whether signals can be sent: 0 or -errno. Sends none. */
static int wall_try_signal(struct wall *w) {
    return queue_signal(w->pid, (uint32_t)syscall(SYS_gettid), 0, 0);
}

static void send(struct wall *w, struct wall_thread *t, uint64_t now, uint64_t cpu) {
    t->calm = 0;
    t->sent_ns = now;
    atomic_store(&t->until_ns, now);
    atomic_store(&t->covers_ns, covered(w, t, now));
    t->cpu_ns = cpu;
    t->window = atomic_load(&w->run->sampler->window);
    atomic_store(&t->turn, WALL_SENT);
    if (queue_signal(w->pid, t->tid, w->run->signo, (uint32_t)(t - w->entry)) < 0)
        atomic_store(&t->turn, WALL_OURS); /* gone, or too many signals wait: the next time */
}

/* Whether sleepers are sampled from here; else by a signal each time they have moved. */
static bool sees_sleepers(const struct wall *w) {
    return w->run->sampler->walker.vm->heaps > 0 && !w->states.hidden;
}

/* Whether a thread has not moved since its last sample. What a handler itself has used must not
 * look like a move if the next check would send a signal again. */
static bool has_stayed(const struct wall *w, struct wall_thread *t, uint64_t cpu) {
    bool by_handler = t->handled && !sees_sleepers(w) && cpu - t->cpu_ns <= HANDLER_NS;
    t->handled = false;
    if (by_handler)
        t->cpu_ns = cpu;
    return t->sampled && cpu == t->cpu_ns && t->window == atomic_load(&w->run->sampler->window);
}

/* A thread that may have moved since its last sample. */
static void take_or_send(struct wall *w, struct wall_thread *t, uint64_t now, uint64_t cpu) {
    bool described = w->run->sampler->walker.vm->heaps > 0;
    for (int i = 0; i < TRIES && cpu; i++) {
        struct thread_sleep sleep;
        bool can = false;
        enum thread_look look =
            described ? thread_state_look(&w->states, t->tid, &sleep) : THREAD_RUNS;
        uint32_t sent = WALL_SENT;
        if (look == THREAD_GONE)
            return;
        /* It may have slept with the signal blocked, or the handler have been shut out: then the
         * signal is void now. */
        bool waits = look == THREAD_RUNS && now - t->sent_ns <= w->run->request.interval;
        if (atomic_load(&t->turn) != WALL_OURS &&
            (waits || !atomic_compare_exchange_strong(&t->turn, &sent, WALL_OURS)))
            return;
        if (look == THREAD_RUNS) {
            send(w, t, now, cpu);
            return;
        }
        if (take(w, t, &sleep, now, cpu, &can))
            return;
        if (!can) {
            send(w, t, now, cpu);
            return;
        }
        cpu = clock_ns(clock_of_thread(t->tid));
    }
}

/* Outside of a window time does not count. */
static bool is_outside(struct wall *w, struct wall_thread *t, uint64_t now) {
    if (atomic_load(&w->run->sampler->window) != SAMPLER_OUTSIDE)
        return false;
    wall_repeat(w, t);
    t->since_ns = t->looked_ns = now;
    t->sampled = false;
    return true;
}

uint64_t wall_look(struct wall *w, struct wall_thread *t, uint64_t now) {
    uint64_t interval = w->run->request.interval;
    uint32_t turn = atomic_load(&t->turn);
    if (turn == WALL_ITS || (turn == WALL_OURS && is_outside(w, t, now)))
        return interval;
    uint64_t cpu = clock_ns(clock_of_thread(t->tid));
    if (!cpu) {
        wall_threads_drop(w, t);
        return interval;
    }
    uint64_t from = t->looked_ns;
    t->looked_ns = now;
    w->expected_ns += now - from;
    if (turn == WALL_SENT && cpu == t->cpu_ns) { /* it waits for a processor */
        atomic_store(&t->until_ns, now);
        atomic_fetch_add(&t->covers_ns, now - from);
        return interval;
    }
    if (turn == WALL_OURS && has_stayed(w, t, cpu)) {
        note_same(w, t, from, now);
        return t->calm < CALM_LOOKS ? interval : CALM_FACTOR * interval;
    }
    if (turn == WALL_OURS)
        wall_repeat(w, t);
    take_or_send(w, t, now, cpu);
    return interval;
}

void wall_close(struct wall *w, struct wall_thread *t, uint64_t now) {
    if (atomic_load(&t->turn) != WALL_OURS || !t->sampled)
        return;
    if (clock_ns(clock_of_thread(t->tid)) == t->cpu_ns && now > t->looked_ns) {
        w->expected_ns += now - t->looked_ns;
        atomic_fetch_add(&w->covered_ns, now - t->looked_ns);
        t->same_ns = now;
    }
    wall_repeat(w, t);
}

#define STACK_BYTES (256u << 10) /* the C library takes its threads' variables out of it */
#define TICKS 8                  /* an interval, so that not all threads are checked at once */
#define SLICE 100000u            /* ns */
#define TICK_MIN 1000000u        /* ns */
#define LIST_MIN 20000000u       /* ns between two listings of the threads */

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

/* If jtop-wall gets a processor only when another thread goes to sleep, it sees too many asleep. So
 * it requests the shortest slice, which lets a thread that wakes run first (Linux 6.12; other
 * kernels ignore it). */
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
    threads_own(w->run->threads, tid, true); /* before an engine arms it */
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

/* The thread blocks all signals except those it causes itself: guarded reads, and functions that
 * have a breakpoint (trap.h). Blocked, these would end the process. */
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
            snprintf(why, why_bytes, "cannot start the wall clock's thread (errno %d)", -r);
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
