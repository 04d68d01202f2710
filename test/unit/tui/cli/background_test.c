/* What comes back from whoever profiles a JVM is written only where it was asked for; and the
 * figures that a monitoring system reads. */
#include "tui/cli/background/background_parts.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/report/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_that_may_come_back(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool may;
    } cases[] = {
        {"out.svg", "out.svg", true},
        {"out.svg", "out-cpu.svg", true},
        {"out.svg", "out-java.lang.String.hashCode.svg", true},
        {"a/out.pb.gz", "a/out-alloc.pb.gz", true},
        {"a/out.pb.gz", "a/out.pb.gz-alloc", true},
        {"plain", "plain-wall", true},
        {"p%p-%n{3}-%t.txt", "p123-2-20260101-101500.txt", true},
        {"%e.svg", "cpu.svg", true},
        {"100%%.svg", "100%.svg", true},
        {"we[i]rd*.svg", "we[i]rd*-cpu.svg", true},
        {"out.svg", "/etc/passwd", false},
        {"out.svg", "../out.svg", false},
        {"out.svg", "./out.svg", false},
        {"out.svg", "out-../../x.svg", false},
        {"out.svg", "out-a/b.svg", false},
        {"out.svg", "outcpu.svg", false},
        {"out.svg", "out.svg.sh", false},
        {"%e.svg", "../x.svg", false},
        {"d%p/out.svg", "d1/../out.svg", false},
        {"d%p/out.svg", "d1/out.svg", true},
        {"we*rd.svg", "weird.svg", false},
        {"", "x", false},
        {"/data/%p/x.svg", "/data/17/x.svg", true},
        {"/data/%p/x.svg", "/data/17/x-alloc.svg", true},
        {"/data/%p/x.svg", "/data/../x.svg", false},
        {"/data/%p/x.svg", "/data/x/x.svg", false},
        {"/data/%p/x.svg", "/data//x.svg", false},
        {"/root/%t", "/root/20260101-101500", true},
        {"/root/%t", "/root/20260101-101500-cpu", true},
        {"/root/%t", "/root/.bashrc", false},
        {"/root/%t", "/root/x", false},
        {"/root/%n", "/root/", false},
        {"/root/%n", "/root/12", true},
        {"/root/%n{3}", "/root/2-cpu", true},
        {"/root/%n", "/root/1.5", false},
        {"/root/%e", "/root/sched_sched_switch", true},
        {"/root/%e", "/root/java.lang.String._init_", true},
        {"/root/%e", "/root/.bashrc", false},
        {"/root/%e", "/root/..", false},
        {"/root/%e", "/root/a b", false},
        {"/root/%e/x", "/root/../x", false},
        {"/root/%e", "/root/a/b", false},
        {"%e%e-%p", "a-b-c-1", true},
        {"%e-%p", "a-b-c-", false},
        {"%x.svg", "x.svg", false},
        {"%x.svg", "%x.svg", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (background_expects(cases[i].pattern, cases[i].path) != cases[i].may)
            fail_msg("%s for %s", cases[i].path, cases[i].pattern);
}

static void names_that_are_too_long(void **state) {
    (void)state;
    char path[5000];
    memset(path, '1', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_false(background_expects("%p", path));
    path[4095] = '\0';
    assert_true(background_expects("%p%p%p%p%p%p", path));
}

static void settles(const char *pattern, const char *expected) {
    struct text t = {0};
    struct err e;
    assert_int_equal(background_settle_pattern(pattern, &t, &e), 0);
    assert_string_equal(t.data, expected);
    text_free(&t);
}

static void environment_is_the_callers(void **state) {
    (void)state;
    setenv("JTOP_TEST_HOST", "web%1", 1);
    unsetenv("JTOP_TEST_NONE");
    settles("a-%{JTOP_TEST_HOST}-%p.svg", "a-web%%1-%p.svg");
    settles("%{JTOP_TEST_NONE}%n{3}%%{x}", "%n{3}%%{x}");
    settles("%{open", "%{open");
    settles("100%", "100%");
    unsetenv("JTOP_TEST_HOST");
}

static void programs_by_name(void **state) {
    (void)state;
    assert_true(background_is_asprof("asprof"));
    assert_true(background_is_asprof("/opt/ap/profiler.sh"));
    assert_false(background_is_asprof("jtop-prof"));
    assert_false(background_is_asprof("/opt/asprof/jtop-prof"));
}

static void shows(const char *data, size_t bytes, const char *expected) {
    char out[64];
    size_t n = background_clean(out, data, bytes);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(out, expected, n);
}

static void terminals_get_text(void **state) {
    (void)state;
#define SHOWS(text, expected) shows(text, sizeof(text) - 1, expected)
    SHOWS("", "");
    SHOWS("a\n\tb\n\n", "a\n\tb\n\n");
    SHOWS("h\xc3\xa9 \xf0\x9f\x98\x80\n", "h\xc3\xa9 \xf0\x9f\x98\x80\n");
    SHOWS("\x1b[2J\r\x7f", "?[2J??");
    SHOWS("\xc2\x9b"
          "2J\xc2\x9d"
          "0;x\xc2\x9c\n",
          "?2J?0;x?\n");
    SHOWS("\x9b"
          "2J\n\xc2\nb",
          "?2J\n?\nb");
    SHOWS("a\0b", "a?b");
#undef SHOWS
}

static void count_line(const char *text, const char *line, int expected) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, line)) != NULL; p++)
        n += p == text || p[-1] == '\n';
    if (n != expected)
        fail_msg("%d times: %s\n%s", n, line, text);
}

static void metrics_of_a_profile(void **state) {
    (void)state;
    struct session_status st = {.phase = SESSION_RUNNING,
                                .elapsed_ns = 2500000000u,
                                .samples = 30,
                                .agent_ns = 1000000,
                                .failed[WIRE_FAILURE_LOOP] = 7};
    struct jvm j = {.pid = 12, .name = "a \"b\" \\ c", .rss_bytes = 4096};
    struct text t = {0};
    st.engine[WIRE_EVENT_CPU] =
        (struct session_engine){.asked = true, .runs = true, .name = "cpu", .samples = 30};
    st.engine[WIRE_EVENT_PERF] =
        (struct session_engine){.asked = true, .name = "page-faults", .error = 13};
    metrics_write(&t, &st, &j, 8192);
#define JVM "{pid=\"12\",jvm=\"a \\\"b\\\" \\\\ c\""
    count_line(t.data, "jtop_prof_running" JVM "} 1\n", 1);
    count_line(t.data, "jtop_prof_profile_seconds" JVM "} 2.5\n", 1);
    count_line(t.data, "jtop_prof_samples_total" JVM ",event=\"cpu\"} 30\n", 1);
    count_line(t.data, "jtop_prof_engine_running" JVM ",event=\"page-faults\"} 0\n", 1);
    count_line(t.data, "jtop_prof_failed_walks_total" JVM ",reason=\"loop\"} 7\n", 1);
    count_line(t.data, "jtop_prof_agent_cpu_seconds_total" JVM "} 0.001\n", 1);
    count_line(t.data, "jtop_prof_frontend_resident_bytes" JVM "} 8192\n", 1);
    count_line(t.data, "# TYPE jtop_prof_samples_total counter\n", 1);
#undef JVM
    assert_int_equal(t.data[t.len - 1], '\n');
    text_free(&t);
}

/* A copy of this process in another situation. */
static pid_t child_that(int (*changes)(void)) {
    int ready[2], change = 0;
    char c;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        change = changes ? changes() : 0;
        c = change == 0;
        if (write(ready[1], &c, 1) == 1)
            pause();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (c)
        return child;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0; /* it may not */
}

static int other_umask(void) {
    umask(0123);
    return 0;
}

static int no_new_rights(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int other_files(void) {
    return unshare(CLONE_NEWNS);
}

static int other_root(void) {
    return chroot("/proc") || chdir("/");
}

static int other_group(void) {
    gid_t group = 12345;
    return setgroups(1, &group);
}

static int other_personality(void) {
    return personality(ADDR_NO_RANDOMIZE) < 0;
}

static void likeness(void **state) {
    (void)state;
    int (*const changes[])(void) = {other_umask, no_new_rights, other_files,
                                    other_root,  other_group,   other_personality};
    assert_true(background_is_like_us(getpid()));
    assert_false(background_is_like_us(getppid())); /* another program */
    pid_t child = child_that(NULL);
    assert_true(background_is_like_us(child));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(background_is_like_us(child));
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        child = child_that(changes[i]);
        if (!child)
            continue;
        if (background_is_like_us(child))
            fail_msg("change %zu makes no difference", i);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_may_come_back),
        cmocka_unit_test(names_that_are_too_long),
        cmocka_unit_test(environment_is_the_callers),
        cmocka_unit_test(programs_by_name),
        cmocka_unit_test(terminals_get_text),
        cmocka_unit_test(metrics_of_a_profile),
        cmocka_unit_test(likeness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
