/* Quotas of control groups: the texts, real groups where this machine lets us make some, and how
 * readings add up. */
#include "attach/proc/cgroup.h"

#include "core/session/drain/cpu_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void near(double got, double wanted) {
    if (got < wanted - 1e-9 || got > wanted + 1e-9)
        fail_msg("%f instead of %f", got, wanted);
}

static void quotas(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        bool valid;
        double quota;
    } max[] = {
        {"50000 100000\n", true, 0.5},
        {"max 100000\n", true, 0},
        {"150000 100000", true, 1.5},
        {"1000 1000000\n", true, .001},
        {"max\n", false, 0},
        {"", false, 0},
        {"0 100000\n", false, 0},
        {"-1 100000\n", false, 0},
        {"50000 0\n", false, 0},
        {"50000 -1\n", false, 0},
        {"50000\n", false, 0},
        {"50000 100000 7\n", false, 0},
        {"5e4 100000\n", false, 0},
        {"maximum 1\n", false, 0},
        {"99999999999999999999 1", false, 0},
    };
    static const struct {
        const char *quota, *period;
        bool valid;
        double cpus;
    } v1[] = {
        {"50000\n", "100000\n", true, 0.5}, {"-1\n", "100000\n", true, 0},
        {"200000", "100000", true, 2},      {"-2\n", "100000\n", false, 0},
        {"50000\n", "0\n", false, 0},       {"\n", "100000\n", false, 0},
        {"50000\n", "", false, 0},          {"x", "100000", false, 0},
    };
    for (size_t i = 0; i < sizeof max / sizeof *max; i++) {
        double quota = -1;
        assert_int_equal(cgroup_parse_max(max[i].text, &quota), max[i].valid);
        near(quota, max[i].quota);
    }
    for (size_t i = 0; i < sizeof v1 / sizeof *v1; i++) {
        double quota = -1;
        assert_int_equal(cgroup_parse_quota(v1[i].quota, v1[i].period, &quota), v1[i].valid);
        near(quota, v1[i].cpus);
    }
}

static void statistics(void **unused) {
    (void)unused;
    struct cgroup_cpu c = {0};
    assert_true(cgroup_parse_stat("nr_periods 120\nnr_throttled 31\nthrottled_time 4200000000\n"
                                  "nr_bursts 0\nburst_time 0\n",
                                  &c));
    assert_int_equal(c.periods, 120);
    assert_int_equal(c.throttled, 31);
    assert_int_equal(c.throttled_ns, 4200000000);
    assert_true(cgroup_parse_stat("usage_usec 17\nuser_usec 9\nsystem_usec 8\nnr_periods 7\n"
                                  "nr_throttled 3\nthrottled_usec 42\nnr_bursts 0",
                                  &c));
    assert_int_equal(c.periods, 7);
    assert_int_equal(c.throttled_ns, 42000);
    assert_true(
        cgroup_parse_stat("nr_periods 1\nnr_throttled 1\nthrottled_usec 99999999999999999999", &c));
    assert_int_equal(c.throttled_ns, UINT64_MAX);
    /* v2 without its CPU controller has the usage alone */
    assert_false(cgroup_parse_stat("usage_usec 17\nuser_usec 9\nsystem_usec 8\n", &c));
    assert_false(cgroup_parse_stat("nr_periods\nnr_throttled -4\nthrottled_time x\n", &c));
    assert_false(cgroup_parse_stat("", &c));
}

static void groups(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *path;
        bool v2;
    } some[] = {
        {"0::/system.slice/docker-0123.scope\n", "/system.slice/docker-0123.scope", true},
        {"0::/\n", "/", true},
        {"0::/../web\n", "/../web", true},
        {"12:pids:/a\n4:cpu,cpuacct:/kubepods/pod1/web\n0::/b\n", "/kubepods/pod1/web", false},
        {"4:cpuacct,cpu:/x\n", "/x", false},
        {"2:cpuacct:/no\n3:cpuset:/no\n1:cpu:/yes\n0::/\n", "/yes", false},
        {"0::/with:colon and blank\n", "/with:colon and blank", true},
        {"9:name=cpu:/no\n0::/b", "/b", true},
        {"2:cpuacct:/no\n3:cpuset:/no\n", NULL, false},
        {"1:cpu:relative\n", NULL, false},
        {"1:cpu\n0\n::\n", NULL, false},
        {"1:pids:/a:cpu:/no\n", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        char path[CGROUP_PATH] = "";
        bool v2;
        assert_int_equal(cgroup_parse_group(some[i].text, &v2, path), some[i].path != NULL);
        if (!some[i].path)
            continue;
        assert_string_equal(path, some[i].path);
        assert_int_equal(v2, some[i].v2);
    }
    char path[CGROUP_PATH], text[CGROUP_PATH + 16] = "0::/";
    bool v2;
    memset(text + 4, 'a', CGROUP_PATH - 1);
    assert_false(cgroup_parse_group(text, &v2, path));
}

static void mounts(void **unused) {
    (void)unused;
    char root[CGROUP_PATH], point[CGROUP_PATH];
    static const char v1[] =
        "32 31 0:29 / /sys/fs/cgroup/cpu\\040x rw,relatime shared:9 master:1 - "
        "cgroup cgroup rw,cpuacct,cpu\n";
    static const char v2[] = "41 31 0:38 /../../web /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw";
    assert_true(cgroup_parse_mount(v1, false, root, point));
    assert_string_equal(root, "/");
    assert_string_equal(point, "/sys/fs/cgroup/cpu x");
    assert_true(cgroup_parse_mount(v2, true, root, point));
    assert_string_equal(root, "/../../web");
    assert_string_equal(point, "/sys/fs/cgroup");
    static const char *const none[] = {
        "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct",
        "33 31 0:30 / /a rw - tmpfs cgroup rw,cpu",
        "33 31 0:30 / /a rw cgroup cgroup rw,cpu",
        "33 31 0:30 / - cgroup cgroup rw,cpu",
        "33 31 0:30 x /a rw - cgroup cgroup rw,cpu",
        "33 31 0:30 / a rw - cgroup cgroup rw,cpu",
        "33 31 0:30 / /a\\000b rw - cgroup c rw,cpu",
        "33 31",
        "",
        " ",
        "     ",
        " - cgroup cgroup rw,cpu"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(cgroup_parse_mount(none[i], false, root, point));
}

static void below(void **unused) {
    (void)unused;
    static const struct {
        const char *root, *path, *rest;
    } some[] = {
        {"/", "/", ""},
        {"/", "/a/b", "a/b"},
        {"/a", "/a", ""},
        {"/a", "/a/b", "b"},
        {"/a", "/ab", NULL},
        {"/a", "/", NULL},
        {"/", "/../b", NULL},
        {"/a", "/a/../b", NULL},
        {"/", "/a/..", NULL},
        {"/", "/..", NULL},
        {"/", "/a..b/..c/d..", "a..b/..c/d.."},
        {"/../b", "/../b", ""},
        {"/../b", "/../b/c", "c"},
        {"/..", "/../b", "b"},
        {"/..", "/../../b", NULL},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const char *rest = cgroup_below(some[i].root, some[i].path);
        if (!some[i].rest)
            assert_null(rest);
        else
            assert_string_equal(rest, some[i].rest);
    }
}

static bool put(const char *dir, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

/* Our own group's directory, where one may be made in it; what it is called to the process. */
static bool find_own(char dir[300]) {
    char text[CGROUP_PATH], line[CGROUP_PATH * 2], root[CGROUP_PATH], point[CGROUP_PATH];
    bool v2 = true, found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = '\0';
    if (!cgroup_parse_group(line, &v2, text) || v2) /* v2's CPU controller takes empty groups */
        return false;
    f = fopen("/proc/self/mountinfo", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *rest =
            cgroup_parse_mount(line, false, root, point) ? cgroup_below(root, text) : NULL;
        found = rest && strlen(point) + strlen(rest) < 200;
        if (found)
            snprintf(dir, 300, "%.200s/%.98s", point, rest);
    }
    if (f)
        fclose(f);
    return found && access(dir, W_OK) == 0;
}

static void real(void **unused) {
    (void)unused;
    char own[300], outer[340], inner[360], pid[16];
    struct cgroup_cpu c;
    struct cgroup g;
    if (!find_own(own))
        skip();
    snprintf(outer, sizeof outer, "%s/jtop-test-%d", own, (int)getpid());
    snprintf(inner, sizeof inner, "%s/inner", outer);
    if (mkdir(outer, 0755) != 0 || mkdir(inner, 0755) != 0) {
        rmdir(outer);
        skip();
    }
    pid_t child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    snprintf(pid, sizeof pid, "%d", (int)child);
    bool set = put(outer, "cpu.cfs_quota_us", "150000") && put(inner, "cgroup.procs", pid);
    cgroup_open(&g, child);
    int first = cgroup_read(&g, &c), second = -1, third = -1;
    struct cgroup_cpu tighter = {0}, free_again = {0};
    if (put(inner, "cpu.cfs_quota_us", "50000"))
        second = cgroup_read(&g, &tighter);
    if (put(own, "cgroup.procs", pid))
        third = cgroup_read(&g, &free_again);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    struct cgroup_cpu gone;
    int fourth = cgroup_read(&g, &gone);
    cgroup_close(&g);
    cgroup_close(&g);
    rmdir(inner);
    rmdir(outer);

    assert_true(set);
    assert_int_equal(first, 0);
    assert_true(c.known);
    near(c.quota, 1.5);
    assert_non_null(strstr(c.path, "/jtop-test-"));
    assert_null(strstr(c.path, "/inner"));
    assert_int_equal(second, 0);
    near(tighter.quota, 0.5);
    assert_non_null(strstr(tighter.path, "/inner"));
    assert_int_equal(third, 0);
    assert_null(strstr(free_again.path, "/jtop-test-"));
    assert_int_equal(fourth, -ESRCH);
    assert_false(gone.known);
}

static void nobody(void **unused) {
    (void)unused;
    struct cgroup_cpu c = {.known = true};
    assert_int_equal(cgroup_cpu_read(0x7ffffffe, &c), -ESRCH);
    assert_false(c.known);
}

static void counting(void **unused) {
    (void)unused;
    struct cpu_limit l = {0};
    struct session_cpu out;
    struct cgroup_cpu c = {.known = true,
                           .quota = .5,
                           .periods = 1000,
                           .throttled = 400,
                           .throttled_ns = 9,
                           .path = "/a"};
    cpu_limit_count(&l, &c, &out);
    assert_true(out.known);
    near(out.quota, .5);
    assert_int_equal(out.periods, 0);
    near(out.share, 0);
    c.periods += 10, c.throttled += 3, c.throttled_ns += 50;
    cpu_limit_count(&l, &c, &out);
    assert_int_equal(out.periods, 10);
    assert_int_equal(out.throttled, 3);
    assert_int_equal(out.throttled_ns, 50);
    near(out.share, .3);
    cpu_limit_count(&l, &c, &out); /* it slept */
    near(out.share, 0);
    assert_int_equal(out.throttled, 3);
    c.periods += 2, c.throttled += 5; /* read while they grew */
    cpu_limit_count(&l, &c, &out);
    near(out.share, 1);
    c.periods = 7; /* made anew */
    cpu_limit_count(&l, &c, &out);
    assert_int_equal(out.periods, 0);
    c.periods = 70;
    snprintf(c.path, sizeof c.path, "/b");
    cpu_limit_count(&l, &c, &out);
    assert_int_equal(out.periods, 0);
    assert_string_equal(out.group, "/b");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas), cmocka_unit_test(statistics), cmocka_unit_test(groups),
        cmocka_unit_test(mounts), cmocka_unit_test(below),      cmocka_unit_test(real),
        cmocka_unit_test(nobody), cmocka_unit_test(counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
