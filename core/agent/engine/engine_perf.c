#include "core/agent/engine/engine_perf.h"

#include "core/agent/broker.h"
#include "core/agent/engine/perf_buffer.h"
#include "core/agent/process/guarded.h"
#include "core/agent/process/reserve.h"
#include "core/agent/process/sigtrap.h"
#include "core/agent/threads.h"
#include "core/base/clock.h"
#include "core/wire/broker.h"
#include "core/wire/perf_attr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDS_MAX (1u << 20)
#define WEIGHT_MAX (UINT64_C(1) << 48) /* more since the last sample is invalid */
#define STORM_NS 200000u               /* between samples that the handler itself may cause */
#define STORM_SAMPLES 4u               /* in a row, from the same place: the handler causes them */
#define STORM_PERIOD 4u                /* a period that ends this */
#define PROBED_MAX 200u                /* threads */
#define FIRST_WAIT_MS 1000u            /* for the reader's first event */

#define COST_MOST_NS 250000u /* of one sample; what took longer includes another thread's time */
#define COST_SHARE 8u        /* a new cost's weight in their average is 1 / 8 */
#define COST_FIRST_NS 25000u /* as long as it is not known */
#define COST_SAMPLES 64u     /* from one check of the average to the next */

/* What a thread's handlers note about its event; only they use it. */
struct note {
    uintptr_t pc, sp;  /* where it was interrupted last */
    uint64_t ended_ns; /* the last handler, or almost */
    uint64_t period;   /* in force, where it was changed; 0: as opened */
    uint32_t storm;    /* samples in a row that look like our own doing */
    uint32_t samples;  /* by SIGTRAP: since the period was checked */
    uint64_t own_ns;   /* by SIGTRAP: what the counter has counted in the last handler */
    uint64_t cost_ns;  /* by SIGTRAP: average time from an overflow to the handler's end */
    bool busy;         /* by SIGTRAP: the thread is in the handler */
    bool unsure;       /* by SIGTRAP: a signal may be to come, though its sample was read */
};

struct perf_run {
    struct engine_run *_Atomic run; /* NULL: not running */
    enum perf_kind kind;
    bool brokered;        /* the reader opens the events */
    bool by_trap;         /* events send SIGTRAP, and go on counting in the handler */
    struct note *note;    /* THREADS_MAX, by the thread's index; address space */
    uint32_t turned_away; /* sampler.turned_away when it was last read */
};

/* Descriptor → index of its thread + 1: what a signal brings is the descriptor. Address space
 * only; pages are touched as descriptors are used. */
static _Atomic uint32_t *_Atomic index_of_fd;
static struct perf_run perf[2]; /* cpu, any event */
static size_t page_bytes;       /* of the machine: the control page and the data page of an event */
static uint32_t fd_limit;       /* the application keeps what is above */

static struct perf_run *run_of(const struct engine_run *run) {
    return &perf[run->request.event != WIRE_EVENT_CPU];
}

static int open_event(const struct engine_run *run, pid_t tid, uint64_t period) {
    struct perf_event_attr a;
    perf_attr_fill(&a, &run->request);
    a.sample_period = period;
    uint32_t number = tid ? (uint32_t)tid : (uint32_t)syscall(SYS_gettid);
    if (run_of(run)->by_trap && !perf_attr_trap(&a, perf_trap_data(number)))
        return -ENOTSUP;
    int cpu = run->request.flags & WIRE_ENGINE_TARGET_CPU ? run->request.cpu : -1;
    long fd = syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* Says what failed: of the CPU's clock "no perf_events", of another event its name. */
static int refuse(const struct engine_run *run, int error, const char *reason, char *why,
                  size_t why_bytes) {
    bool cpu = run->request.event == WIRE_EVENT_CPU;
    snprintf(why, why_bytes, "%s: %s", cpu ? "no perf_events" : run->request.name, reason);
    return -error;
}

/* Every thread takes a descriptor of the application's limit, for each event: leave it at least
 * half. */
static int check_descriptors(const struct engine_run *run, char *why, size_t why_bytes) {
    char reason[96];
    struct rlimit limit;
    uint32_t events = 1;
    for (size_t i = 0; i < sizeof perf / sizeof perf[0]; i++)
        events += perf[i].run && perf[i].run != run;
    fd_limit = FDS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur / 2 < fd_limit)
        fd_limit = (uint32_t)(limit.rlim_cur / 2);
    if (fd_limit > events * run->threads->alive + 64)
        return 0;
    snprintf(reason, sizeof reason, "%u threads would take half of the %lu descriptors",
             run->threads->alive, (unsigned long)limit.rlim_cur);
    return refuse(run, EMFILE, reason, why, why_bytes);
}

/* To the kernel each thread's probe is a separate one. It takes 20 to 100 ms to remove one, because
 * it must be sure that no processor is in it. A tracepoint that stands for a probe has no such
 * delay. */
static int check_probed(const struct engine_run *run, char *why, size_t why_bytes) {
    char reason[96];
    uint32_t threads = 0;
    for (uint32_t i = 0; i < run->threads->count; i++)
        threads += run->threads->tid[i] && sampler_allows(run->sampler, run->threads->tid[i]);
    if (threads <= PROBED_MAX)
        return 0;
    snprintf(reason, sizeof reason, "%u threads are too many for a probe (%u): use --filter",
             threads, PROBED_MAX);
    return refuse(run, E2BIG, reason, why, why_bytes);
}

/* What another process may have the right to where we have not. */
static bool is_denied(int error) {
    return error == EACCES || error == EPERM || error == ENOSYS;
}

static int perf_fetch(struct engine_run *run, uint32_t tid, uint32_t wait_ms) {
    uint32_t event = run->request.event | (run_of(run)->by_trap ? BROKER_SIGTRAP : 0);
    return broker_ask(run->broker, event, tid, wait_ms);
}

/* Opens the event for the calling thread, or lets the reader open it: then `why` reports that. */
static int open_first(struct engine_run *run, const struct perf_machine *m, char *why,
                      size_t why_bytes) {
    char reason[112];
    int fd = open_event(run, 0, run->request.interval);
    run_of(run)->brokered = false;
    if (fd >= 0)
        return fd;
    perf_reason(&run->request, m, -fd, reason, sizeof reason);
    if (is_denied(-fd) && run->broker->open) {
        int got = perf_fetch(run, (uint32_t)syscall(SYS_gettid), FIRST_WAIT_MS);
        run_of(run)->brokered = got >= 0;
        if (got >= 0) {
            snprintf(why, why_bytes, BROKER_REASON "; not allowed for the JVM: %s", reason);
            return got;
        }
        if (!is_denied(-got) && got != -ENOTCONN && got != -ETIMEDOUT) {
            fd = got; /* it has the right, so this is what is wrong with the event */
            perf_reason(&run->request, m, -fd, reason, sizeof reason);
        }
    }
    return refuse(run, -fd, reason, why, why_bytes);
}

/* As it will be for all threads. */
static int try_event(struct engine_run *run, const struct perf_machine *m, char *why,
                     size_t why_bytes) {
    char reason[128];
    int fd = open_first(run, m, why, why_bytes);
    if (fd < 0)
        return fd;
    void *buffer = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int e = errno;
    close(fd);
    if (buffer != MAP_FAILED) {
        munmap(buffer, 2 * page_bytes);
        return 0;
    }
    snprintf(reason, sizeof reason,
             "buffer of 8 KiB refused, errno %d (kernel.perf_event_mlock_kb, memlock limit)", e);
    return refuse(run, e, reason, why, why_bytes);
}

static void perf_stop(struct engine_run *run, JNIEnv *jni) {
    (void)jni;
    struct perf_run *p = run_of(run);
    p->run = NULL;
    if (p->note)
        munmap(p->note, THREADS_MAX * sizeof *p->note);
    p->note = NULL;
    if (perf[0].run || perf[1].run || !index_of_fd)
        return;
    munmap((void *)index_of_fd, FDS_MAX * sizeof *index_of_fd);
    index_of_fd = NULL;
}

static int start(struct engine_run *run, JNIEnv *jni, bool by_trap, char *why, size_t why_bytes) {
    struct perf_run *p = run_of(run);
    struct perf_machine machine;
    perf_machine_read(&machine);
    enum perf_kind kind = perf_kind(&run->request, &machine);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    run->request.interval = perf_interval(&run->request, kind);
    p->by_trap = by_trap;
    /* The others are queued one by one, up to a limit of the user's; when that is reached the
     * kernel sends SIGIO instead (fs/fcntl.c), which would end the JVM. */
    if (run->signo >= SIGRTMIN)
        return refuse(run, EINVAL, "perf_events need a signal below 32", why, why_bytes);
    int r = check_descriptors(run, why, why_bytes);
    if (r == 0 && perf_kind_is_probe(kind))
        r = check_probed(run, why, why_bytes);
    if (r == 0)
        r = try_event(run, &machine, why, why_bytes);
    if (r < 0)
        return r;
    if (!index_of_fd)
        index_of_fd = reserve(FDS_MAX * sizeof *index_of_fd);
    p->note = reserve(THREADS_MAX * sizeof *p->note);
    p->kind = kind;
    p->turned_away = atomic_load(&run->sampler->turned_away);
    if (!index_of_fd || !p->note) {
        perf_stop(run, jni);
        return refuse(run, ENOMEM, "out of memory", why, why_bytes);
    }
    p->run = run;
    return 0;
}

static int perf_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    return start(run, jni, false, why, why_bytes);
}

static int trap_start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    return start(run, jni, true, why, why_bytes);
}

static int set_signal(int fd, int signo, uint32_t tid) {
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};
    bool set = fcntl(fd, F_SETFL, O_ASYNC) == 0 && fcntl(fd, F_SETSIG, signo) == 0 &&
               fcntl(fd, F_SETOWN_EX, &owner) == 0;
    return set ? 0 : -errno;
}

/* The period until a thread's first sample: by chance, so that the threads are not in step. */
static uint64_t first_period(const struct engine_run *run, uint32_t tid) {
    uint64_t interval = run->request.interval, first = interval;
    /* Not where periods are short: the kernel takes a new one over only after a few events. */
    if (perf_kind_pauses(run_of(run)->kind))
        first = engine_first_interval(interval, tid + clock_now_ns());
    /* Or it comes again before the thread gets on. */
    uint64_t least = interval < COST_FIRST_NS ? interval : COST_FIRST_NS;
    return run_of(run)->by_trap && first < least ? least : first;
}

/* The thread's handlers may already run for the other event. They read this one as soon as its
 * buffer is known, so everything else is set before. */
static int adopt(struct engine_run *run, struct engine_thread *t, uint32_t index, int fd,
                 uint64_t first) {
    struct perf_run *p = run_of(run);
    int r = (uint32_t)fd < fd_limit ? 0 : -EMFILE;
    if (r == 0 && !p->by_trap)
        r = set_signal(fd, run->signo, t->tid);
    void *buffer =
        r ? MAP_FAILED : mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r == 0 && buffer == MAP_FAILED)
        r = errno == EAGAIN ? -ENOMEM : -errno; /* EAGAIN: mlockall, and its limit */
    if (r < 0) {
        close(fd);
        return r;
    }
    perf_buffer_touch(buffer, page_bytes);
    p->note[index] = (struct note){0};
    t->counted = first - run->request.interval; /* the first sample stands for a whole one */
    t->handle = fd;
    atomic_store_explicit(&index_of_fd[fd], index + 1, memory_order_release);
    __atomic_store_n(&t->page, buffer, __ATOMIC_RELEASE);
    /* Cannot fail for an event that is open and has a period. */
    if (perf_kind_pauses(p->kind) && !p->by_trap)
        (void)ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    else
        (void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    return 0;
}

/* It was opened with the whole interval. */
static int perf_adopt(struct engine_run *run, struct engine_thread *t, uint32_t index, int fd) {
    uint64_t first = first_period(run, t->tid);
    if (first != run->request.interval && ioctl(fd, PERF_EVENT_IOC_PERIOD, &first) != 0)
        first = run->request.interval;
    return adopt(run, t, index, fd, first);
}

static int perf_arm(struct engine_run *run, struct engine_thread *t, uint32_t index) {
    if (run_of(run)->brokered)
        return run->broker->open ? -EAGAIN : -ENOTCONN;
    bool clock = run_of(run)->kind == PERF_CPU_CLOCK; /* others may refuse a short period */
    uint64_t first = clock ? first_period(run, t->tid) : run->request.interval;
    int fd = open_event(run, (pid_t)t->tid, first);
    return fd < 0 ? fd : clock ? adopt(run, t, index, fd, first) : perf_adopt(run, t, index, fd);
}

/* In a thread that disarms itself a signal may come at any line, and the handler finds the event by
 * the descriptor or by the thread: so both go first. Other threads' events are only taken down when
 * the thread is gone or all handlers are shut out. */
static void perf_disarm(struct engine_run *run, struct engine_thread *t) {
    void *buffer = t->page;
    atomic_store_explicit(&index_of_fd[t->handle], 0, memory_order_release);
    __atomic_store_n(&t->page, NULL, __ATOMIC_RELEASE);
    atomic_signal_fence(memory_order_seq_cst);
    ioctl(t->handle, PERF_EVENT_IOC_DISABLE, 0);
    /* A thread that was in the kernel when the counter overflowed may have slept there since. */
    struct perf_run *p = run_of(run);
    if (p->by_trap && (perf_buffer_waits(buffer) || p->note[t - run->thread].unsure))
        sigtrap_owe(t->tid);
    munmap(buffer, 2 * page_bytes);
    close(t->handle);
}

/* A signal may come late, or stand for several samples: the counter knows. But a clock goes on
 * where the event is not to look (--all-user …), and only its overflows tell. */
static uint64_t weigh(const struct perf_run *p, const struct engine_run *run,
                      struct engine_thread *t, const struct perf_news *news) {
    const uint32_t rings = WIRE_ENGINE_ALL_USER | WIRE_ENGINE_ALL_KERNEL;
    uint64_t weight = news->counter - t->counted; /* enormous where it went back */
    t->counted = news->counter;
    if ((p->kind == PERF_CPU_CLOCK && run->request.flags & rings) || !weight || weight > WEIGHT_MAX)
        return news->samples * run->request.interval;
    return weight;
}

/* Whether the thread was interrupted at the end of a system call, or is about to repeat one. */
static bool at_system_call(uintptr_t pc) {
#if defined(__x86_64__)
    uint32_t around = guarded_load32(pc - 2);
    return (around & 0xffff) == 0x050f || around >> 16 == 0x050f;
#elif defined(__aarch64__)
    return guarded_load32(pc - 4) == 0xd4000001 || guarded_load32(pc) == 0xd4000001;
#endif
}

static void set_period(struct note *n, int fd, uint64_t period) {
    if (ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) == 0)
        n->period = period;
}

/* Some events come of the signal itself: a thread that waits in the kernel is woken for its
 * handler and goes back to sleep (sched:sched_switch); the handler's return is a system call, and
 * repeating an interrupted one is another (raw_syscalls:sys_enter). With too short a period the
 * next signal always arrives before the thread has done any work of its own. If it looks like that,
 * the thread's period is doubled, to 4 at most. Weights stay right, because they are differences of
 * the counter. */
static void calm(struct note *n, const struct engine_run *run, int fd, const struct registers *at) {
    uint64_t period = n->period ? n->period : run->request.interval;
    if (period >= STORM_PERIOD)
        return;
    bool same = at->pc == n->pc && at->sp == n->sp && clock_now_ns() - n->ended_ns < STORM_NS;
    n->pc = at->pc;
    n->sp = at->sp;
    n->storm = same && at_system_call(at->pc) ? n->storm + 1 : 0;
    if (n->storm < STORM_SAMPLES)
        return;
    n->storm = 0;
    set_period(n, fd, 2 * period);
}

/* Of an event that goes on: the handler may have caused it too (its functions' breakpoints, page
 * faults). A signal of that is pending, and must find nothing, or there would be no end of it.
 * Where every one is told apart, they are in no weight either. */
static void leave_out_own(const struct engine_run *run, struct note *n, struct engine_thread *t,
                          void *buffer, struct perf_news *news) {
    if (perf_buffer_read(buffer, page_bytes, news) && !n->period && run->request.interval == 1)
        t->counted = news->counter;
    n->ended_ns = clock_now_ns();
}

static void look(const struct perf_run *p, struct engine_run *run, uint32_t index, void *context) {
    struct engine_thread *threads = run->thread; /* NULL while it begins */
    struct engine_thread *t = threads ? &threads[index] : NULL;
    void *buffer = t ? __atomic_load_n(&t->page, __ATOMIC_ACQUIRE) : NULL;
    struct perf_news news;
    /* Nothing new: another signal's handler has taken it. */
    if (!buffer || !perf_buffer_read(buffer, page_bytes, &news))
        return;
    struct sample_request q = {
        .context = context,
        .tid = t->tid,
        .event = (enum wire_event)run->request.event,
        .weight = weigh(p, run, t, &news),
        .count = news.samples,
        .state = WIRE_THREAD_RUNNING,
        .kernel = news.kernel,
        .kernel_frames = news.frames,
    };
    struct note *n = &p->note[index];
    if (perf_kind_pauses(p->kind)) {
        sampler_take(run->sampler, &q);
        if (!n->period) /* that was the first */
            set_period(n, t->handle, run->request.interval);
        /* The event switched itself off: time spent here is not the application's. */
        ioctl(t->handle, PERF_EVENT_IOC_REFRESH, 1);
        return;
    }
    struct registers at = registers_read(context);
    calm(n, run, t->handle, &at);
    sampler_take(run->sampler, &q);
    leave_out_own(run, n, t, buffer, &news);
}

void perf_catch_up(int signo, uint32_t index, void *context) {
    for (size_t i = 0; i < sizeof perf / sizeof perf[0]; i++) {
        struct engine_run *run = perf[i].run;
        if (run && run->signo == signo && index < THREADS_MAX && !perf[i].by_trap)
            look(&perf[i], run, index, context);
    }
}

static bool perf_handle(struct engine_run *run, const siginfo_t *info, void *context) {
    _Atomic uint32_t *indices = index_of_fd;
    if (info->si_code < POLL_IN || info->si_code > POLL_HUP || info->si_fd < 0 ||
        (uint32_t)info->si_fd >= FDS_MAX || !indices)
        return false;
    uint32_t index = atomic_load_explicit(&indices[info->si_fd], memory_order_acquire) - 1;
    if (index >= THREADS_MAX)
        return false;
    perf_catch_up(run->signo, index, context);
    return true;
}

/* By SIGTRAP. The event counts on in the handler: what it has counted there is taken off the next
 * sample's weight, and samples of the handler itself are left out. Pausing the event instead, as
 * above, takes an interrupt more, which the processor sends itself. */

/* What the counter has counted from `begin` on, in a handler that is about to end. If the thread ran
 * all the time, that is the time that has passed. */
static uint64_t count_own(const struct engine_thread *t, const struct perf_news *news,
                          uint64_t begin_ns, uint64_t end_ns, bool ran) {
    uint64_t now, before = begin_ns - news->time_ns;
    if (ran)
        return end_ns - begin_ns;
    if (before > COST_MOST_NS || read(t->handle, &now, sizeof now) != sizeof now)
        return 0;
    before += news->counter;
    return now > before ? now - before : 0;
}

/* Between two samples is one interval of the application's time, and the cost of one sample. */
static void keep_period(struct note *n, const struct engine_run *run, int fd, uint64_t cost_ns) {
    uint64_t interval = run->request.interval;
    uint64_t most_ns = 4 * interval > COST_MOST_NS ? 4 * interval : COST_MOST_NS;
    if (cost_ns > most_ns)
        cost_ns = most_ns;
    n->cost_ns += n->cost_ns ? cost_ns / COST_SHARE - n->cost_ns / COST_SHARE : cost_ns;
    if (++n->samples < COST_SAMPLES)
        return;
    n->samples = 0;
    uint64_t wanted = interval + n->cost_ns;
    uint64_t off = wanted > n->period ? wanted - n->period : n->period - wanted;
    if (off > interval / COST_SHARE / 4)
        set_period(n, fd, wanted);
}

/* Where the machine is so busy that the counter overflows again and again before the handler has
 * got on, it would never end. */
static void avoid_storm(struct note *n, const struct engine_run *run, int fd) {
    uint64_t period = n->period ? n->period : run->request.interval;
    if (++n->storm < STORM_SAMPLES)
        return;
    n->storm = 0;
    n->samples = 0;
    set_period(n, fd, 2 * period);
}

static void look_by_trap(struct engine_run *run, struct engine_thread *t, struct note *n,
                         void *buffer, void *context) {
    struct perf_news news;
    uint32_t schedule = perf_buffer_schedule(buffer);
    uint64_t begin_ns = clock_now_ns();
    bool any = perf_buffer_read_since(buffer, page_bytes, n->ended_ns, &news);
    if (news.early)
        sampler_discard(run->sampler, news.early);
    if (!any)
        return;
    uint64_t weight = news.counter - t->counted;
    t->counted = news.counter;
    if (!weight || weight > WEIGHT_MAX)
        weight = news.samples * run->request.interval;
    struct sample_request q = {
        .context = context,
        .tid = t->tid,
        .event = WIRE_EVENT_CPU,
        .weight = weight > n->own_ns ? weight - n->own_ns : 0,
        .count = news.samples,
        .state = WIRE_THREAD_RUNNING,
        .kernel = news.kernel,
        .kernel_frames = news.frames,
        .faults = !n->unsure,
    };
    sampler_take(run->sampler, &q);
    uint64_t end_ns = clock_now_ns();
    bool ran = perf_buffer_schedule(buffer) == schedule;
    n->own_ns = count_own(t, &news, begin_ns, end_ns, ran);
    keep_period(n, run, t->handle, ran ? end_ns - news.time_ns : n->cost_ns);
    n->ended_ns = end_ns;
}

static bool trap_handle(struct engine_run *run, const siginfo_t *info, void *context) {
    struct engine_thread *threads = run->thread; /* NULL while it begins */
    uint64_t data;
    if (!sigtrap_is_event(info, &data) || !perf_is_trap(data))
        return false;
    uint32_t index = threads_index_of(run->threads, (uint32_t)data);
    if (!threads || index >= THREADS_MAX)
        return true;
    struct engine_thread *t = &threads[index];
    struct note *n = &perf[0].note[index];
    void *buffer = __atomic_load_n(&t->page, __ATOMIC_ACQUIRE);
    if (n->busy && buffer) /* it will be left out */
        avoid_storm(n, run, t->handle);
    if (n->busy || !buffer)
        return true;
    n->busy = true;
    n->storm = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (!n->period) /* the first one may be very short */
        set_period(n, t->handle, run->request.interval + COST_FIRST_NS);
    /* A pending SIGTRAP is handled before the buffer is read: for what comes into it later, a signal
     * is to come. And where a guarded read fails, the kernel may deliver a blocked SIGTRAP before the
     * SIGSEGV, at the wrong place (6.18: dequeue_synchronous_signal does not check the mask). */
    n->unsure = sampler_stack_is_small(context); /* then nothing is read */
    if (!n->unsure)
        context = sigtrap_unblock(context);
    look_by_trap(run, t, n, buffer, context);
    atomic_signal_fence(memory_order_seq_cst);
    n->busy = false;
    return true;
}

/* While another engine is stopped all handlers are turned away, and one that should have switched
 * its event on again has not: its sample is still in the buffer. One too many, where the handler is
 * only late, lets two samples come before the event pauses. */
static void perf_turn(struct engine_run *run, JNIEnv *jni, uint64_t now_ms) {
    (void)jni, (void)now_ms;
    struct perf_run *p = run_of(run);
    uint32_t turned_away = atomic_load(&run->sampler->turned_away);
    if (turned_away == p->turned_away || !perf_kind_pauses(p->kind) || p->by_trap)
        return;
    p->turned_away = turned_away;
    pthread_mutex_lock(&run->threads->lock); /* threads that end unmap their buffers */
    for (uint32_t i = 0; i < run->threads->count; i++) {
        const struct engine_thread *t = &run->thread[i];
        if (t->page && perf_buffer_waits(t->page))
            (void)ioctl(t->handle, PERF_EVENT_IOC_REFRESH, 1);
    }
    pthread_mutex_unlock(&run->threads->lock);
}

const struct engine engine_cpu_perf = {
    .event = WIRE_EVENT_CPU,
    .mechanism = WIRE_MECHANISM_PERF,
    .by_signal = true,
    .per_thread = true,
    .interval = CPU_INTERVAL,
    .interval_min = CPU_INTERVAL_MIN,
    .start = perf_start,
    .arm = perf_arm,
    .fetch = perf_fetch,
    .adopt = perf_adopt,
    .disarm = perf_disarm,
    .stop = perf_stop,
    .handle = perf_handle,
    .turn = perf_turn,
};

const struct engine engine_cpu_sigtrap = {
    .event = WIRE_EVENT_CPU,
    .mechanism = WIRE_MECHANISM_SIGTRAP,
    .by_signal = true,
    .by_trap = true,
    .per_thread = true,
    .interval = CPU_INTERVAL,
    .interval_min = CPU_INTERVAL_MIN,
    .start = trap_start,
    .arm = perf_arm,
    .fetch = perf_fetch,
    .adopt = perf_adopt,
    .disarm = perf_disarm,
    .stop = perf_stop,
    .handle = trap_handle,
};

/* Any perf event but the CPU's clock: counts instead of time, otherwise the same. */
const struct engine engine_perf_event = {
    .event = WIRE_EVENT_PERF,
    .mechanism = WIRE_MECHANISM_PERF,
    .by_signal = true,
    .per_thread = true,
    .interval = 1,
    .interval_min = 1,
    .start = perf_start,
    .arm = perf_arm,
    .fetch = perf_fetch,
    .adopt = perf_adopt,
    .disarm = perf_disarm,
    .stop = perf_stop,
    .handle = perf_handle,
    .turn = perf_turn,
};
