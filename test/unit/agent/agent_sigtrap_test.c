#include "core/agent/process/sigtrap.h"

#include "core/agent/process/guarded.h"
#include "core/wire/perf_attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DATA 0x1234567800000042u

static _Atomic uint32_t events, breakpoints, others;

static bool on_event(siginfo_t *info, void *context) {
    uint64_t data;
    (void)context;
    if (!sigtrap_is_event(info, &data) || data != DATA)
        return false;
    atomic_fetch_add(&events, 1);
    return true;
}

static bool on_breakpoint(siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code != SI_QUEUE)
        return false;
    atomic_fetch_add(&breakpoints, 1);
    return true;
}

static void on_other(int signo) {
    (void)signo;
    atomic_fetch_add(&others, 1);
}

/* When sampling has ended. */
static struct sigaction disposition(void) {
    struct sigaction now;
    sigtrap_leave();
    assert_int_equal(sigaction(SIGTRAP, NULL, &now), 0);
    return now;
}

static uint32_t own_tid(void) {
    return (uint32_t)syscall(SYS_gettid);
}

static void wait_until(_Atomic uint32_t *counter, uint32_t value) {
    while (atomic_load(counter) < value)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- who gets the signal ---- */

/* To the calling thread, as the kernel would. */
static void send_event(uint64_t data) {
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = 6};
    memcpy((char *)&info + 24, &data, sizeof data);
    assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), own_tid(), SIGTRAP, &info), 0);
}

static void each_user_gets_its_own(void **state) {
    (void)state;
    struct sigaction mine = {.sa_handler = on_other};
    assert_int_equal(sigaction(SIGTRAP, &mine, NULL), 0);
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_event), 0);
    assert_int_equal(sigtrap_take(SIGTRAP_OF_BREAKPOINTS, on_breakpoint), 0);
    assert_true(sigtrap_is_front());
    events = breakpoints = others = 0;
    send_event(DATA);
    sigqueue(getpid(), SIGTRAP, (union sigval){0});
    raise(SIGTRAP);
    send_event(DATA + 1); /* another tool's event */
    sigtrap_owe(own_tid());
    assert_int_equal(events, 1);
    assert_int_equal(breakpoints, 1);
    assert_int_equal(others, 2);
    sigtrap_give_back(SIGTRAP_OF_BREAKPOINTS);
    sigtrap_leave();
    assert_true(sigtrap_is_front());
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    assert_ptr_equal(disposition().sa_handler, on_other);
    signal(SIGTRAP, SIG_DFL);
}

/* ---- a signal that is still to come when the handler is given back ---- */

struct sleeper {
    _Atomic uint32_t tid, woken;
    bool blocks;
    int pipe[2];
};

static void *sleep_long(void *arg) {
    struct sleeper *s = arg;
    sigset_t trap;
    char c;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    if (s->blocks)
        pthread_sigmask(SIG_BLOCK, &trap, NULL);
    s->tid = own_tid();
    while (read(s->pipe[0], &c, 1) < 0)
        s->woken++;
    pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
    return NULL;
}

static pthread_t begin(struct sleeper *s) {
    pthread_t thread;
    assert_int_equal(pipe(s->pipe), 0);
    assert_int_equal(pthread_create(&thread, NULL, sleep_long, s), 0);
    wait_until(&s->tid, 1);
    return thread;
}

static void end(struct sleeper *s, pthread_t thread) {
    assert_int_equal(write(s->pipe[1], "x", 1), 1);
    pthread_join(thread, NULL);
    close(s->pipe[0]);
    close(s->pipe[1]);
}

static void a_sleeper_handles_it_first(void **state) {
    (void)state;
    struct sleeper s = {0};
    pthread_t thread = begin(&s);
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_event), 0);
    sigtrap_owe(s.tid);
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    assert_ptr_equal(disposition().sa_handler, SIG_DFL);
    end(&s, thread);
    assert_int_equal(s.woken, 0); /* system calls are restarted */
}

static void where_it_is_blocked_the_handler_stays(void **state) {
    (void)state;
    struct sleeper s = {.blocks = true};
    pthread_t thread = begin(&s);
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_event), 0);
    sigtrap_owe(s.tid);
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    sigtrap_leave();
    assert_true(sigtrap_is_front());
    end(&s, thread); /* it is delivered, and does not end the process */
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_event), 0);
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    assert_ptr_equal(disposition().sa_handler, SIG_DFL);
}

/* ---- real events ---- */

static _Atomic uint32_t depth, deepest;
static int event = -1;

static bool on_real_event(siginfo_t *info, void *context) {
    uint32_t inside = atomic_fetch_add(&depth, 1) + 1;
    bool ours = on_event(info, context);
    if (inside > deepest)
        deepest = inside;
    /* Longer than the period: meanwhile the counter overflows again. */
    for (volatile int i = 0; i < 200000; i++)
        continue;
    if (events >= 50)
        ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
    atomic_fetch_sub(&depth, 1);
    return ours;
}

static int open_event(void) {
    const struct wire_engine_request q = {
        .event = WIRE_EVENT_CPU, .interval = 20000, .flags = WIRE_ENGINE_ALL_USER};
    struct perf_event_attr a;
    perf_attr_fill(&a, &q);
    if (!perf_attr_trap(&a, DATA))
        return -1;
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void events_do_not_interrupt_their_handler(void **state) {
    (void)state;
    event = open_event();
    if (event < 0) {
        print_message("no perf_events, or none that send SIGTRAP\n");
        skip();
    }
    events = deepest = 0;
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_real_event), 0);
    ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    while (events < 50)
        sched_yield();
    close(event);
    sigtrap_owe(own_tid());
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    assert_int_equal(deepest, 1);
    assert_ptr_equal(disposition().sa_handler, SIG_DFL);
}

/* ---- where a handler of faults is interrupted ---- */

static char *unmapped;

static bool on_event_that_faults(siginfo_t *info, void *context) {
    if (!on_event(info, context))
        return false;
    sigtrap_unblock(context);
    return guarded_load64((uintptr_t)unmapped) == 0 && atomic_fetch_add(&others, 1) == 0;
}

/* As the VM's: it blocks SIGSEGV, but not SIGTRAP. */
static void on_fault(int signo, siginfo_t *info, void *context) {
    (void)signo, (void)info, (void)context;
    send_event(DATA);
    mmap(unmapped, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void a_fault_in_a_handler_of_faults(void **state) {
    (void)state;
    struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
    unmapped = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    events = others = 0;
    assert_int_equal(sigaction(SIGSEGV, &mine, &before), 0);
    assert_int_equal(guarded_install(), 0);
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_event_that_faults), 0);
    uint64_t faults = guarded_faults();
    *(volatile char *)unmapped = 1; /* the process would end here */
    assert_int_equal(events, 1);
    assert_int_equal(others, 1);
    assert_int_equal(guarded_faults(), faults + 1);
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    assert_ptr_equal(disposition().sa_handler, SIG_DFL);
    guarded_remove();
    sigaction(SIGSEGV, &before, NULL);
    munmap(unmapped, 4096);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_user_gets_its_own),
        cmocka_unit_test(a_sleeper_handles_it_first),
        cmocka_unit_test(where_it_is_blocked_the_handler_stays),
        cmocka_unit_test(events_do_not_interrupt_their_handler),
        cmocka_unit_test(a_fault_in_a_handler_of_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
