/* Putting the JVM's own recording behind ours: only into a file that can be replaced, and only from
 * one that has an end. */
#include "tui/cli/output/jfr_join.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/jtop-prof-join-XXXXXX";

static int make(void **state) {
    (void)state;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

/* And nothing else was left. */
static int clear(void **state) {
    (void)state;
    static const char *const name[] = {"ours", "theirs", "pipe", "link"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        unlink(name[i]);
    return chdir("/") == 0 && rmdir(dir) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void has(const char *path, const char *text) {
    char found[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, found, sizeof found - 1), strlen(text));
    assert_string_equal(found, text);
    close(fd);
}

static int check(const char *path) {
    struct err e = {0};
    return jfr_join_check(path, &e) == 0 ? 0 : e.exit_code;
}

static int join(const char *path, const char *other) {
    struct err e = {0};
    int theirs = open(other, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    int r = jfr_join(path, theirs, &e);
    close(theirs);
    return r == 0 ? 0 : e.exit_code;
}

static void files_that_can_be_replaced(void **state) {
    (void)state;
    put("ours", "a");
    assert_int_equal(symlink("ours", "link"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(check("ours"), 0);
    assert_int_equal(check("none"), 0);
    assert_int_equal(check("link"), 0); /* it is replaced itself */
    assert_int_equal(check("pipe"), ERR_EXIT_ARGUMENT);
    assert_int_equal(check("/dev/stdout"), ERR_EXIT_ARGUMENT);
    assert_int_equal(check("/dev/fd/1"), ERR_EXIT_ARGUMENT);
    assert_int_equal(check("/dev/null"), ERR_EXIT_ARGUMENT);
    assert_int_equal(check("none/ours"), ERR_EXIT_ARGUMENT);
    assert_int_equal(unlink("pipe"), 0);
    assert_int_equal(unlink("link"), 0);
    has("ours", "a");
}

static void one_behind_the_other(void **state) {
    (void)state;
    put("ours", "FLR1");
    put("theirs", "FLR2");
    assert_int_equal(join("ours", "theirs"), 0);
    has("ours", "FLR1FLR2");
    has("theirs", "FLR2");
}

static void what_has_no_end(void **state) {
    (void)state;
    put("ours", "FLR1");
    put("theirs", "FLR2");
    assert_int_equal(join("ours", "ours"), ERR_EXIT_PROFILER);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(join("ours", "pipe"), ERR_EXIT_PROFILER);
    assert_int_equal(join("pipe", "theirs"), ERR_EXIT_PROFILER);
    assert_int_equal(symlink("ours", "link"), 0);
    assert_int_equal(join("link", "theirs"), ERR_EXIT_PROFILER);
    assert_int_equal(truncate("theirs", (INT64_C(1) << 30) + 1), 0);
    assert_int_equal(join("ours", "theirs"), ERR_EXIT_PROFILER);
    has("ours", "FLR1");
}

/* As with "-f /dev/stdout > x.jfr", where it would be read while it is written. */
static void standard_output(void **state) {
    (void)state;
    put("ours", "FLR1");
    put("theirs", "FLR2");
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    int ours = open("ours", O_WRONLY | O_APPEND | O_CLOEXEC);
    fflush(stdout);
    dup2(ours, STDOUT_FILENO);
    int answer = join("/dev/stdout", "theirs");
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(ours);
    assert_int_equal(answer, ERR_EXIT_PROFILER);
    has("ours", "FLR1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_can_be_replaced),
        cmocka_unit_test(one_behind_the_other),
        cmocka_unit_test(what_has_no_end),
        cmocka_unit_test(standard_output),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
