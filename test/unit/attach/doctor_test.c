/* What can be told of a JVM before it is attached: told of processes that are none. */
#include "attach/doctor/doctor.h"

#include "attach/find/container.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static struct jvm child(void) {
    struct jvm j = {.uid = geteuid(), .name = "Main", .user = "me", .perf_data = true};
    struct proc_stat st;
    j.pid = j.inner_pid = fork();
    assert_true(j.pid >= 0);
    if (j.pid == 0) {
        for (;;)
            pause();
    }
    assert_int_equal(proc_stat(j.pid, &st), 0);
    j.start_ticks = st.start_ticks;
    return j;
}

static void end(const struct jvm *j) {
    kill(j->pid, SIGKILL);
    waitpid(j->pid, NULL, 0);
}

static void says(const struct jvm *j, uid_t uid, int code, const char *word, const char *part) {
    struct err e = {0};
    const char *got = NULL;
    assert_int_equal(doctor_attach(j, uid, &got, &e), -code);
    if (!code)
        return;
    assert_string_equal(got, word);
    assert_true(strlen(got) <= DOCTOR_WORD);
    assert_int_equal(e.code, code);
    if (!strstr(e.message, part))
        fail_msg("no \"%s\" in: %s", part, e.message);
}

static void process(void **unused) {
    (void)unused;
    struct jvm j = child();
    says(&j, geteuid(), 0, "", "");
    says(&j, j.uid + 1, EPERM, "other user", "run as user me or as root");
    kill(j.pid, SIGSTOP);
    int status;
    assert_int_equal(waitpid(j.pid, &status, WUNTRACED), j.pid);
    says(&j, geteuid(), ETIMEDOUT, "stopped", "kill -CONT");
    kill(j.pid, SIGCONT);
    assert_int_equal(waitpid(j.pid, &status, WCONTINUED), j.pid);
    says(&j, geteuid(), 0, "", "");
    j.start_ticks++; /* its number went to another process */
    says(&j, geteuid(), ESRCH, "gone", "has ended");
    j.start_ticks--;
    end(&j);
    says(&j, geteuid(), ESRCH, "gone", "has ended");
}

/* What lies at the socket's place. */
static void files(void **unused) {
    (void)unused;
    struct jvm j = child();
    char path[64];
    snprintf(path, sizeof path, "/tmp/.java_pid%d", (int)j.pid);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    says(&j, geteuid(), ENOTSOCK, "no socket", "is not a socket: remove it");
    unlink(path);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, sizeof path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof a), 0);
    says(&j, geteuid(), 0, "", "");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        says(&j, 0, EPERM, "socket", "belongs to uid 12345");
    }
    unlink(path);
    close(s);
    end(&j);
}

/* An environment that switches something off, as JAVA_TOOL_OPTIONS does. */
static void switched_off(const char *options, const char *version, int code, const char *word,
                         const char *part) {
    struct jvm j = {.uid = geteuid(), .name = "Main", .user = "me"};
    struct proc_stat st;
    int ready[2];
    snprintf(j.version, sizeof j.version, "%s", version);
    char c;
    assert_int_equal(pipe(ready), 0);
    j.pid = j.inner_pid = fork();
    if (j.pid == 0) {
        char *const argv[] = {"sh", "-c", "echo; read x", NULL};
        char variable[128], *const environment[] = {variable, NULL};
        snprintf(variable, sizeof variable, "JAVA_TOOL_OPTIONS=-Xmx1g %s", options);
        dup2(ready[1], STDOUT_FILENO);
        int in[2];
        if (pipe(in) == 0)
            dup2(in[0], STDIN_FILENO);
        execve("/bin/sh", argv, environment);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(proc_stat(j.pid, &st), 0);
    j.start_ticks = st.start_ticks;
    says(&j, geteuid(), code, word, part);
    end(&j);
    close(ready[0]);
    close(ready[1]);
}

static void disabled(void **unused) {
    (void)unused;
    static const char no_agents[] = "-XX:-EnableDynamicAgentLoading";
    switched_off("-XX:+DisableAttachMechanism", "", EOPNOTSUPP, "disabled",
                 "-XX:+DisableAttachMechanism");
    switched_off(no_agents, "21.0.1+12", EOPNOTSUPP, "no agents", no_agents);
    switched_off(no_agents, "25.412-b08", 0, "", ""); /* JDK 8 does not know it */
    switched_off("-XX:+EnableDynamicAgentLoading", "21.0.1+12", 0, "", "");
}

static void containers(void **unused) {
    (void)unused;
    static const struct {
        const char *cgroup, *name;
    } some[] = {
        {"0::/\n", ""},
        {"0::/user.slice/user-1000.slice/session-2.scope\n", ""},
        {"0::/system.slice/docker-"
         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n",
         "0123456789ab"},
        {"12:cpu:/kubepods/burstable/pod6c7b/"
         "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210\n"
         "1:name=systemd:/x\n",
         "fedcba987654"},
        {"0::/lxc.payload.web/init.scope\n", "web"},
        {"0::/machine.slice/machine-build\033[2J.scope\n", "build?[2J"},
        {"0::/lxc/a-name-that-is-longer-than-room\n", "a-name-that-is-"},
    };
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        char out[CONTAINER_NAME];
        assert_string_equal(container_parse(some[i].cgroup, out), some[i].name);
    }
}

static void groups(void **unused) {
    (void)unused;
    static const struct {
        const char *cgroup, *ours, *name;
    } some[] = {
        {"0::/jtop-test-1-1\n", "0::/\n", "jtop-test-1-1"},
        {"0::/runc/shop/\n", "0::/\n", "shop"},
        {"0::/shop\n", "0::/shop\n", ""}, /* where we are too */
        {"0::/\n", "0::/user.slice\n", ""},
        {"0::/../..\n", "0::/\n", ""},
        {"0::/user.slice/user-1000.slice/session-2.scope\n", "0::/\n", ""},
        {"0::/system.slice/tomcat.service\n", "0::/\n", ""},
        {"12:cpu:/shop\n1:name=systemd:/x\n0::/web\n", "0::/\n", "web"},
        {"12:cpu,cpuacct:/shop\n1:name=systemd:/x\n", "12:cpu,cpuacct:/\n", "shop"},
        {"0::/a\033[2J\n", "", "a?[2J"},
        {"0::/a-name-that-is-longer-than-room\n", "0::/\n", "a-name-that-is-"},
        {"0::\n", "0::/\n", ""},
        {"0:", "", ""},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        char out[CONTAINER_NAME];
        assert_string_equal(container_group(some[i].cgroup, some[i].ours, out), some[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process),    cmocka_unit_test(files),  cmocka_unit_test(disabled),
        cmocka_unit_test(containers), cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
