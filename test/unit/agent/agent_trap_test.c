#include "core/agent/patch/trap.h"

#include "core/agent/process/trap_process.h"
#include "core/agent/process/guarded.h"
#include "core/agent/process/registers.h"
#include "core/agent/process/sigtrap.h"
#include "test/unit/agent/trap_functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CODE_BYTES 32

static function *const steps[] = {with_mark, with_push, with_room, with_jump};
#define STEPS (sizeof steps / sizeof steps[0])

static struct {
    _Atomic uint64_t hits;
    enum trap_then then;
    uint64_t argument[5];
} seen;

static enum trap_then on_hit(void *arg, void *context) {
    (void)arg;
    atomic_fetch_add(&seen.hits, 1);
    for (int i = 0; i < 5; i++)
        seen.argument[i] = trap_argument(context, i);
    return seen.then;
}

static int install(function *f, bool lifts) {
    char why[160] = "";
    int trap = trap_install(address_of(f), on_hit, NULL, lifts, why, sizeof why);
    if (trap < 0)
        print_error("%s\n", why);
    assert_true(trap >= 0);
    return trap;
}

/* When sampling has ended. */
static struct sigaction disposition(void) {
    struct sigaction now;
    sigtrap_leave();
    assert_int_equal(sigaction(SIGTRAP, NULL, &now), 0);
    return now;
}

/* In the test, not around it: cmocka puts its own fault handlers in place for each test. */
static void begin(void) {
    seen.hits = 0;
    seen.then = TRAP_GO_ON;
    assert_int_equal(guarded_install(), 0);
}

static void end(void) {
    guarded_remove();
}

static void functions_run_on(void **state) {
    (void)state;
    begin();
    for (size_t i = 0; i < STEPS; i++) {
        uint8_t before[CODE_BYTES];
        memcpy(before, (const void *)address_of(steps[i]), sizeof before);
        int protection = trap_process_protection(address_of(steps[i]));
        assert_int_equal(protection, PROT_READ | PROT_EXEC);
        assert_true(trap_goes_on(address_of(steps[i])));
        int trap = install(steps[i], false);
        assert_memory_not_equal((const void *)address_of(steps[i]), before, sizeof before);
        assert_int_equal(trap_process_protection(address_of(steps[i])), protection);
        uint64_t hits = seen.hits;
        for (long n = 0; n < 100; n++)
            assert_int_equal(steps[i](n, 2, 3, 4, 5), n + 1);
        assert_int_equal(seen.hits - hits, 100);
        assert_int_equal(seen.argument[0], 99);
        assert_int_equal(seen.argument[4], 5);
        trap_remove(&trap, 1);
        assert_memory_equal((const void *)address_of(steps[i]), before, sizeof before);
        assert_int_equal(trap_process_protection(address_of(steps[i])), protection);
        assert_int_equal(steps[i](1, 2, 3, 4, 5), 2);
        assert_int_equal(seen.hits - hits, 100);
    }
    assert_true(disposition().sa_handler == SIG_DFL);
    end();
}

static void functions_are_left_out(void **state) {
    (void)state;
    begin();
    seen.then = TRAP_RETURN;
    assert_false(trap_goes_on(address_of(without_step)));
    int trap = install(without_step, false);
    for (long n = 0; n < 10; n++)
        without_step(n, 0, 0, 0, 0);
    assert_int_equal(seen.hits, 10);
    trap_remove(&trap, 1);
    assert_int_equal(without_step(1, 0, 0, 0, 0), 2);
    end();
}

static int traps[2];

static enum trap_then take_turns(void *arg, void *context) {
    (void)context;
    int met = arg != NULL;
    atomic_fetch_add(&seen.hits, met ? 1000 : 1);
    trap_lift(traps[met]);
    trap_set(traps[!met]);
    return TRAP_GO_ON;
}

static void breakpoints_take_turns(void **state) {
    (void)state;
    begin();
    char why[160];
    uint8_t before[CODE_BYTES];
    memcpy(before, (const void *)address_of(without_step), sizeof before);
    traps[0] = trap_install(address_of(without_step), take_turns, NULL, true, why, sizeof why);
    traps[1] =
        trap_install(address_of(other_without_step), take_turns, traps, true, why, sizeof why);
    assert_true(traps[0] >= 0 && traps[1] >= 0);
    trap_lift(traps[1]);
    for (long n = 0; n < 5; n++) {
        assert_int_equal(other_without_step(n, 0, 0, 0, 0), n + 1);
        for (long k = 0; k < 3; k++)
            assert_int_equal(without_step(n, 0, 0, 0, 0), n + 1);
        assert_int_equal(seen.hits, 1000 * n + n + 1);
        assert_int_equal(other_without_step(n, 0, 0, 0, 0), n + 1);
    }
    trap_remove(traps, 2);
    assert_memory_equal((const void *)address_of(without_step), before, sizeof before);
    assert_int_equal(trap_process_protection(address_of(without_step)), PROT_READ | PROT_EXEC);
    assert_true(disposition().sa_handler == SIG_DFL);
    end();
}

/* Threads that call while breakpoints come and go. */

static _Atomic bool stop;
static _Atomic uint64_t wrong;

static void *call_all(void *arg) {
    (void)arg;
    for (long n = 0; !atomic_load(&stop); n++)
        for (size_t i = 0; i < STEPS; i++)
            if (steps[i](n, 0, 0, 0, 0) != n + 1)
                atomic_fetch_add(&wrong, 1);
    return NULL;
}

static void comes_and_goes_under_threads(void **state) {
    (void)state;
    begin();
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call_all, NULL), 0);
    for (int round = 0; round < 12; round++) {
        int trap[STEPS];
        uint64_t hits = seen.hits;
        for (size_t i = 0; i < STEPS; i++)
            trap[i] = install(steps[i], i % 2);
        while (seen.hits < hits + 100)
            sched_yield();
        trap_remove(trap, STEPS);
        hits = seen.hits;
        for (int i = 0; i < 100; i++)
            sched_yield();
        assert_int_equal(seen.hits, hits);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
    end();
}

static void children_go_on(void **state) {
    (void)state;
    begin();
    int step = install(with_push, false);
    int lifted = install(without_step, true);
    int *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        bool right = with_push(1, 0, 0, 0, 0) == 2 && without_step(1, 0, 0, 0, 0) == 2 &&
                     without_step(2, 0, 0, 0, 0) == 3;
        *told = right && seen.hits == 0;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(*told, 1);
    munmap(told, sizeof *told);
    trap_remove((int[]){step, lifted}, 2);
    end();
}

static _Atomic int passed_on;

static void others_handler(int signo) {
    (void)signo;
    atomic_fetch_add(&passed_on, 1);
}

static void others_handlers_hear_of_theirs(void **state) {
    (void)state;
    begin();
    signal(SIGTRAP, others_handler);
    int trap = install(with_mark, false);
    raise(SIGTRAP);
    assert_int_equal(passed_on, 1);
    assert_int_equal(with_mark(1, 0, 0, 0, 0), 2);
    assert_int_equal(passed_on, 1);
    assert_int_equal(seen.hits, 1);
    trap_remove(&trap, 1);
    assert_true(disposition().sa_handler == others_handler);
    signal(SIGTRAP, SIG_DFL);
    end();
}

/* In a child: what it does to itself is gone with it. */
static void in_a_child(bool (*right)(void)) {
    pid_t child = fork();
    if (child == 0)
        _exit(right() ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static uint32_t events;

static bool on_event(siginfo_t *info, void *context) {
    uint64_t data;
    (void)context;
    if (!sigtrap_is_event(info, &data))
        return false;
    events++;
    return true;
}

#if defined(__x86_64__)
/* An event of perf comes with the pc just behind the function's first byte. Returns where the thread
 * goes on. */
static uintptr_t send_event(function *f, bool executed) {
    struct sigaction now;
    ucontext_t context;
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = 6};
    uint64_t stack[2] = {1, 2}; /* the return address is on top */
    assert_int_equal(sigaction(SIGTRAP, NULL, &now), 0);
    assert_int_equal(getcontext(&context), 0);
    registers_set_pc(&context, address_of(f) + TRAP_AHEAD);
    context.uc_mcontext.gregs[REG_RBP] = 3;
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&stack[1];
    if (executed) {
        context.uc_mcontext.gregs[REG_RSP] -= 8;
        stack[0] = 3;
    }
    greg_t sp = context.uc_mcontext.gregs[REG_RSP];
    now.sa_sigaction(SIGTRAP, &info, &context);
    assert_int_equal(context.uc_mcontext.gregs[REG_RSP], sp);
    return registers_pc(&context);
}

/* Where the function has a breakpoint, and where it had one. */
static void events_are_no_breakpoints(void **state) {
    (void)state;
    begin();
    events = 0;
    int trap[2] = {install(with_push, false), install(with_room, false)};
    assert_int_equal(sigtrap_take(SIGTRAP_OF_EVENTS, on_event), 0);
    for (int removed = 0; removed < 2; removed++) {
        assert_int_equal(send_event(with_push, true), address_of(with_push) + 1);
        assert_int_equal(send_event(with_push, false), address_of(with_push));
        assert_int_equal(send_event(with_room, false), address_of(with_room));
        assert_int_equal(with_push(1, 0, 0, 0, 0), 2);
        assert_int_equal(seen.hits, 1);
        assert_int_equal(events, 3 + 3 * removed);
        trap_remove(trap, removed ? 0 : 2);
    }
    sigtrap_give_back(SIGTRAP_OF_EVENTS);
    assert_true(disposition().sa_handler == SIG_DFL);
    end();
}
#else
static void events_are_no_breakpoints(void **state) {
    (void)state; /* the pc stays at the breakpoint */
    (void)on_event;
}
#endif

enum { CALLS = 4000 };

static void *call_on(void *arg) {
    long *failed = arg;
    for (long i = 0; i < CALLS; i++)
        *failed += with_push(i, 0, 0, 0, 0) != i + 1;
    return arg;
}

/* A SIGTRAP that another thread sends may take the place of a breakpoint's: the kernel queues one. */
static bool others_signals_hide_none(void) {
    pthread_t thread;
    long failed = 0;
    guarded_install();
    (void)sigtrap_take(SIGTRAP_OF_EVENTS, on_event);
    install(with_push, false);
    if (pthread_create(&thread, NULL, call_on, &failed) != 0)
        return false;
    const union sigval kick = {.sival_ptr = (void *)(uintptr_t)UINT64_C(0x6a746f704b49434b)};
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        pthread_sigqueue(thread, SIGTRAP, kick);
    return failed == 0 && atomic_load(&seen.hits) == CALLS;
}

static void signals_hide_no_breakpoints(void **state) {
    (void)state;
    seen.hits = 0;
    seen.then = TRAP_GO_ON;
    in_a_child(others_signals_hide_none);
}

static int refused(uintptr_t address, const char *reason) {
    char why[160] = "";
    int r = trap_install(address, on_hit, NULL, false, why, sizeof why);
    assert_true(r < 0);
    assert_non_null(strstr(why, reason));
    assert_true(disposition().sa_handler == SIG_DFL);
    return r;
}

static void refuses_what_would_do_harm(void **state) {
    (void)state;
    begin();
    static uint8_t data[64];
    assert_int_equal(refused(8, "no code"), -EFAULT);
    assert_int_equal(refused((uintptr_t)data, "is not in a library"), -EFAULT);
    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    assert_int_equal(refused(address_of(with_mark), "blocks SIGTRAP"), -EPERM);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    int trap = install(with_mark, false);
    char why[160];
    assert_int_equal(trap_install(address_of(with_mark), on_hit, NULL, false, why, sizeof why),
                     -EBUSY);
    trap_remove(&trap, 1);
    assert_true(disposition().sa_handler == SIG_DFL);
    end();
}

static void block_trap(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Their line in /proc/self/status is longer than what is read at a time. */
static bool seen_behind_many_groups(void) {
    gid_t group[400];
    for (size_t i = 0; i < sizeof group / sizeof group[0]; i++)
        group[i] = (gid_t)(4000000000u + i);
    if (setgroups(sizeof group / sizeof group[0], group) != 0)
        return errno == EPERM; /* only root may */
    if (trap_process_blocked() != 0)
        return false;
    block_trap();
    return trap_process_blocked() == (uint32_t)getpid();
}

static void *run(void *arg) {
    while (!atomic_load(&stop))
        ;
    return arg;
}

/* What cannot be looked at may block the signal, and may be on the way to the handler. */
static bool careful_without_descriptors(void) {
    pthread_t thread;
    atomic_store(&stop, false);
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        return false;
    int last = -1;
    for (int fd; (fd = dup(STDERR_FILENO)) >= 0;)
        last = fd;
    bool right = trap_process_blocked() != 0 && !trap_process_passed();
    close(last); /* the folder can be read now, and nothing in it */
    return right && trap_process_blocked() != 0;
}

static void knows_what_it_cannot_know(void **state) {
    (void)state;
    in_a_child(seen_behind_many_groups);
    in_a_child(careful_without_descriptors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_run_on),
        cmocka_unit_test(functions_are_left_out),
        cmocka_unit_test(breakpoints_take_turns),
        cmocka_unit_test(comes_and_goes_under_threads),
        cmocka_unit_test(children_go_on),
        cmocka_unit_test(others_handlers_hear_of_theirs),
        cmocka_unit_test(events_are_no_breakpoints),
        cmocka_unit_test(signals_hide_no_breakpoints),
        cmocka_unit_test(refuses_what_would_do_harm),
        cmocka_unit_test(knows_what_it_cannot_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
