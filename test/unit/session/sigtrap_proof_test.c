/* The proof comes to an end, whatever the machine is like. */
#include "core/session/drain/sigtrap_proof.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 20

static void traced(void) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    (void)sigtrap_proof(); /* either answer is right */
    _exit(0);
}

/* Goes on after a stop of the process or of its child; at each system call, too, as strace does. A
 * signal is delivered. */
static void go_on(pid_t pid, int status) {
    int signo = WSTOPSIG(status);
    bool ours = status >> 16 || signo == SIGSTOP || signo == (SIGTRAP | 0x80);
    ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)(ours ? 0 : signo));
}

/* Under strace, perf trace and the like, each trap takes longer than the counter's period. */
static void ends_under_a_tracer(void **state) {
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0)
        traced();
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status))
        skip(); /* it may not be traced here */
    assert_int_equal(
        ptrace(PTRACE_SETOPTIONS, child, NULL,
               (void *)(PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)),
        0);
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    time_t end = time(NULL) + LIMIT_S;
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        assert_true(pid > 0);
        if (pid == child && !WIFSTOPPED(status))
            break;
        if (time(NULL) > end) {
            kill(child, SIGKILL);
            fail_msg("it does not end");
        }
        if (WIFSTOPPED(status))
            go_on(pid, status);
    }
    assert_true(WIFEXITED(status));
}

static void answers_twice(void **state) {
    (void)state;
    sigtrap_proof_begin();
    bool first = sigtrap_proof();
    assert_int_equal(sigtrap_proof(), first);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* its child is gone */
    assert_int_equal(errno, ECHILD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_under_a_tracer),
        cmocka_unit_test(answers_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
