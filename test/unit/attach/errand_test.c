/* What a child process does for us: its answer, its descriptor, and its tidying up. */
#include "attach/proc/errand.h"

#include "attach/proc/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 30000

static uint64_t in_ms(uint64_t ms) {
    return proc_now_ns() + ms * UINT64_C(1000000);
}

struct job {
    int pipe[2]; /* what `after` says */
    bool hang;
    pid_t child;
};

static void work(void *context, void *result, int *fd) {
    const struct job *j = context;
    pid_t pid = getpid();
    if (j->hang)
        pause();
    memcpy(result, &pid, sizeof pid);
    *fd = dup(j->pipe[1]);
}

static void after(void *context) {
    const struct job *j = context;
    if (write(j->pipe[1], "x", 1) != 1)
        _exit(1);
}

/* Whether `after` has been there, at the latest within `ms`. */
static bool said(const struct job *j, int ms) {
    char byte;
    struct pollfd p = {.fd = j->pipe[0], .events = POLLIN};
    return poll(&p, 1, ms) == 1 && read(j->pipe[0], &byte, 1) == 1;
}

static struct job new_job(void) {
    struct job j = {0};
    assert_int_equal(pipe(j.pipe), 0);
    return j;
}

static void end_job(struct job *j) {
    close(j->pipe[0]);
    close(j->pipe[1]);
    /* Whoever waits for any child of theirs never sees one of these. */
    assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void answers(void **state) {
    (void)state;
    struct job j = new_job();
    pid_t child = 0;
    int fd = -1;
    assert_int_equal(errand_run(work, &j, in_ms(WAIT_MS), &child, sizeof child, &fd), 0);
    assert_true(child > 0 && child != getpid());
    assert_int_equal(kill(child, 0), -1);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_true(said(&j, WAIT_MS));
    close(fd);
    assert_int_equal(errand_run(work, &j, in_ms(WAIT_MS), &child, ERRAND_RESULT_MAX + 1, &fd),
                     -EINVAL);
    end_job(&j);
}

static void a_hung_one_is_ended(void **state) {
    (void)state;
    struct job j = new_job();
    pid_t child = 7;
    int fd = 3;
    j.hang = true;
    assert_int_equal(errand_run(work, &j, in_ms(50), &child, sizeof child, &fd), 0);
    assert_int_equal(child, 7);
    assert_int_equal(fd, -1);
    struct errand e;
    assert_int_equal(errand_begin(work, after, &j, in_ms(50), &child, sizeof child, &fd, &e), 0);
    assert_int_equal(child, 7);
    assert_false(errand_end(&e));
    assert_false(said(&j, 0));
    end_job(&j);
}

static void tidies_up_when_asked(void **state) {
    (void)state;
    struct job j = new_job();
    struct errand e;
    pid_t child = 0;
    int fd = -1;
    assert_int_equal(errand_begin(work, after, &j, in_ms(WAIT_MS), &child, sizeof child, &fd, &e),
                     0);
    close(fd);
    assert_int_equal(e.child, child);
    assert_false(said(&j, 50));
    assert_true(errand_end(&e));
    assert_true(said(&j, 0));
    assert_true(errand_end(&e));
    assert_int_equal(kill(child, 0), -1);
    end_job(&j);
}

/* By SIGKILL, to the caller alone or to its whole group. */
static void tidies_up_after(bool group) {
    struct job j = new_job();
    pid_t caller = fork();
    if (caller == 0) {
        struct errand e;
        int fd;
        setpgid(0, 0);
        if (errand_begin(work, after, &j, in_ms(WAIT_MS), &j.child, sizeof j.child, &fd, &e) == 0)
            kill(group ? 0 : getpid(), SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(caller, &status, 0), caller);
    assert_true(WIFSIGNALED(status));
    assert_true(said(&j, WAIT_MS));
    end_job(&j);
}

static void tidies_up_after_a_killed_caller(void **state) {
    (void)state;
    tidies_up_after(false);
}

static void tidies_up_after_a_killed_group(void **state) {
    (void)state;
    tidies_up_after(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(a_hung_one_is_ended),
        cmocka_unit_test(tidies_up_when_asked),
        cmocka_unit_test(tidies_up_after_a_killed_caller),
        cmocka_unit_test(tidies_up_after_a_killed_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
