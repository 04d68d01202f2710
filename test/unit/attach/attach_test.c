/*
 * The attach protocol against real JVMs, and against everything that is not ready for it.
 *
 * JTOP_TEST_JDKS: more JDK directories to try, separated by colons.
 */
#include "attach/load/attach.h"

#include "test/unit/attach/java_child.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

static bool have_java;
static char agent[128];

static const char agent_source[] = "#include <stdlib.h>\n"
                                   "int Agent_OnAttach(void *vm, char *options, void *reserved) {\n"
                                   "    (void)vm, (void)reserved;\n"
                                   "    return options && *options ? atoi(options) : 0;\n"
                                   "}\n";

static int setup(void **state) {
    (void)state;
    char path[128], command[512];
    have_java = java_setup();
    snprintf(agent, sizeof agent, "%s/agent.so", java_dir);
    snprintf(path, sizeof path, "%s/agent.c", java_dir);
    FILE *f = fopen(path, "w");
    if (!f || fputs(agent_source, f) < 0 || fclose(f) != 0)
        return -1;
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s && chmod 755 %s", agent, path,
             agent);
    return system(command);
}

static int teardown(void **state) {
    (void)state;
    java_teardown();
    return 0;
}

struct target {
    struct java_child c;
    struct jvm j;
};

static struct target start(struct java_options o) {
    struct target t;
    struct err e;
    if (!have_java)
        skip();
    t.c = java_start(o);
    if (t.c.pid == 0)
        fail_msg("the JVM did not start: see %s", t.c.log);
    if (jvm_inspect(t.c.pid, &t.j, &e) != 0)
        fail_msg("%s", e.message);
    return t;
}

/* No attach attempt may make the JVM print a thread dump, or leave its trigger behind. */
static void stop(struct target *t) {
    char trigger[128];
    assert_false(java_log_has(&t->c, "Full thread dump"));
    snprintf(trigger, sizeof trigger, "%s/.attach_pid%d", java_dir, (int)t->j.inner_pid);
    assert_int_equal(access(trigger, F_OK), -1);
    snprintf(trigger, sizeof trigger, "/tmp/.attach_pid%d", (int)t->j.inner_pid);
    assert_int_equal(access(trigger, F_OK), -1);
    java_stop(&t->c);
}

static void load_ok(const struct jvm *j, const char *options, int expected) {
    struct err e = {0};
    int result = -1;
    if (attach_load(j, agent, options, ATTACH_TIMEOUT_MS, &result, &e) != 0)
        fail_msg("%s: %s", j->version, e.message);
    assert_int_equal(result, expected);
}

static void refused(const struct jvm *j, int code, const char *says) {
    struct err e = {0};
    int result = -1;
    int rc = attach_load(j, agent, "", ATTACH_TIMEOUT_MS, &result, &e);
    if (rc != -code || !strstr(e.message, says) || strchr(e.message, '\n'))
        fail_msg("%d, %s; not %d, %s", rc, e.message, -code, says);
}

static void check_protocol(const struct jvm *j) {
    const char *const uptime[3] = {"VM.uptime"}, *const nonsense[3] = {"No.Such"};
    struct err e = {0};
    char *reply = NULL;
    int result;
    load_ok(j, NULL, 0);
    load_ok(j, "102", 102);
    assert_int_equal(attach_load(j, "/no/such.so", "", ATTACH_TIMEOUT_MS, &result, &e), -EPROTO);
    assert_non_null(strstr(e.message, "/no/such.so"));
    if (attach_command(j, "jcmd", uptime, ATTACH_TIMEOUT_MS, &reply, &e) != 0)
        fail_msg("%s: %s", j->version, e.message);
    assert_true(strtod(reply, NULL) > 0);
    assert_non_null(strstr(reply, " s"));
    free(reply);
    assert_int_equal(attach_command(j, "jcmd", nonsense, ATTACH_TIMEOUT_MS, &reply, &e), -EPROTO);
    assert_non_null(strstr(e.message, "Unknown diagnostic command"));
    assert_null(reply);
    assert_int_equal(attach_command(j, "bogus", NULL, ATTACH_TIMEOUT_MS, NULL, &e), -EPROTO);
    assert_non_null(strstr(e.message, "not recognized"));
}

static void check_jdk(const char *java) {
    struct target t = start((struct java_options){.java = java});
    check_protocol(&t.j);
    stop(&t);
}

static void test_jdks(void **state) {
    (void)state;
    check_jdk(NULL);
    const char *more = getenv("JTOP_TEST_JDKS");
    char homes[1024], java[1100], *rest;
    snprintf(homes, sizeof homes, "%s", more ? more : "");
    for (char *home = strtok_r(homes, ":", &rest); home; home = strtok_r(NULL, ":", &rest)) {
        snprintf(java, sizeof java, "%s/bin/java", home);
        check_jdk(java);
    }
}

/* A thread dump is larger than the first buffer. */
static void test_long_reply(void **state) {
    (void)state;
    struct target t = start((struct java_options){0});
    struct err e;
    char *reply;
    assert_int_equal(attach_command(&t.j, "properties", NULL, ATTACH_TIMEOUT_MS, &reply, &e), 0);
    assert_non_null(strstr(reply, "java.vm.version="));
    free(reply);
    assert_int_equal(attach_command(&t.j, "threaddump", NULL, ATTACH_TIMEOUT_MS, &reply, &e), 0);
    assert_true(strlen(reply) > 4096);
    assert_non_null(strstr(reply, "Idle.main"));
    free(reply);
    stop(&t);
}

static void test_arguments(void **state) {
    (void)state;
    struct target t = start((struct java_options){0});
    char text[1026];
    struct err e;
    int result;
    memset(text, '0', sizeof text);
    text[1025] = '\0';
    assert_int_equal(attach_load(&t.j, agent, text, ATTACH_TIMEOUT_MS, &result, &e), -E2BIG);
    assert_int_equal(attach_command(&t.j, "averylongcommand!", NULL, 100, NULL, &e), -EINVAL);
    text[1024] = '\0';
    load_ok(&t.j, text, 0);
    stop(&t);
}

static int open_fds(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static volatile sig_atomic_t children_ended;

static void on_child(int sig) {
    (void)sig;
    children_ended++;
}

/* The caller's world: no fd, zombie, SIGCHLD, signal mask, working directory or uid changes. */
static void test_no_trace(void **state) {
    (void)state;
    struct target t = start((struct java_options){.nobody = geteuid() == 0});
    struct sigaction action = {.sa_handler = on_child}, before_action;
    static sigset_t before, after; /* all of it is compared, the kernel fills the first words */
    char cwd[4096], cwd_after[4096];
    int fds = open_fds();
    sigaction(SIGCHLD, &action, &before_action);
    sigprocmask(SIG_SETMASK, NULL, &before);
    assert_non_null(getcwd(cwd, sizeof cwd));
    uid_t uid = geteuid();
    for (int i = 0; i < 20; i++)
        load_ok(&t.j, "7", 7);
    sigprocmask(SIG_SETMASK, NULL, &after);
    sigaction(SIGCHLD, &before_action, NULL);
    assert_int_equal(children_ended, 0);
    assert_int_equal(open_fds(), fds);
    assert_memory_equal(&before, &after, sizeof before);
    assert_string_equal(getcwd(cwd_after, sizeof cwd_after), cwd);
    assert_int_equal(geteuid(), uid);
    assert_int_equal(waitpid(-1, NULL, (int)(WNOHANG | __WCLONE)), -1);
    stop(&t);
}

static void test_disabled(void **state) {
    (void)state;
    static const struct java_options ways[] = {
        {.option = {"-XX:+DisableAttachMechanism"}},
        {.option = {"-XX:+DisableAttachMechanism", "-XX:-UsePerfData"}},
        {.option = {"-XX:-UsePerfData"},
         .environment = "JAVA_TOOL_OPTIONS=-Dx=1 -XX:+DisableAttachMechanism"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct target t = start(ways[i]);
        refused(&t.j, EOPNOTSUPP, "DisableAttachMechanism");
        assert_int_equal(jvm_refresh(&t.j), 0);
        stop(&t);
    }
    /* What comes later overrides. */
    struct target t =
        start((struct java_options){.option = {"-XX:-UsePerfData", "-XX:+DisableAttachMechanism",
                                               "-XX:-DisableAttachMechanism"}});
    load_ok(&t.j, "", 0);
    stop(&t);
}

/* With -Xrs the JVM listens from its start, and SIGQUIT would kill it. */
static void test_without_handler(void **state) {
    (void)state;
    struct target t = start((struct java_options){.option = {"-Xrs"}});
    char socket_path[64];
    load_ok(&t.j, "", 0);
    snprintf(socket_path, sizeof socket_path, "/tmp/.java_pid%d", (int)t.c.pid);
    assert_int_equal(unlink(socket_path), 0);
    for (int ms = 0; t.j.uptime_ms <= 5000 && ms < JAVA_WAIT_MS; ms += 2) {
        java_nap();
        assert_int_equal(jvm_refresh(&t.j), 0);
    }
    refused(&t.j, ENOENT, "SIGQUIT would kill it");
    assert_int_equal(jvm_refresh(&t.j), 0);
    stop(&t);
}

static void test_stopped(void **state) {
    (void)state;
    struct target t = start((struct java_options){0});
    siginfo_t info;
    kill(t.c.pid, SIGSTOP);
    assert_int_equal(waitid(P_PID, (id_t)t.c.pid, &info, WSTOPPED), 0);
    refused(&t.j, ETIMEDOUT, "stopped by a signal");
    kill(t.c.pid, SIGCONT);
    load_ok(&t.j, "", 0);
    stop(&t);
}

static void test_gone(void **state) {
    (void)state;
    struct target t = start((struct java_options){0});
    struct jvm other = t.j;
    other.start_ticks++;
    refused(&other, ESRCH, "gone"); /* the pid is another process by now */
    struct jvm before = t.j;
    stop(&t);
    refused(&before, ESRCH, "gone");
}

/* What is at the socket's place must be a socket, and the JVM itself must listen there. */
static void test_false_socket(void **state) {
    (void)state;
    struct target t = start((struct java_options){0});
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/.java_pid%d", (int)t.c.pid);
    int fd = open(address.sun_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    refused(&t.j, ENOTSOCK, "not a socket");
    assert_int_equal(unlink(address.sun_path), 0);

    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 5), 0);
    refused(&t.j, EPERM, "listens there");
    close(fd); /* now a left-over: nobody listens, and the JVM replaces it */
    load_ok(&t.j, "", 0);
    stop(&t);
}

static void test_nobodys_jvm(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct target t = start((struct java_options){.nobody = true});
    assert_int_equal(t.j.uid, JAVA_NOBODY);
    check_protocol(&t.j);
    stop(&t);
}

/* Another user's JVM of this number was killed: its socket stays, and nobody may replace it. */
static void test_left_socket(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct target t = start((struct java_options){.nobody = true});
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/.java_pid%d", (int)t.c.pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    refused(&t.j, EPERM, "remove it if an earlier process left it");
    assert_int_equal(unlink(address.sun_path), 0);
    load_ok(&t.j, "", 0);
    stop(&t);
}

static void test_namespaces(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct target t = start((struct java_options){.namespaces = true});
    assert_int_equal(t.j.inner_pid, 1);
    check_protocol(&t.j);
    stop(&t);
}

static void attach_as_nobody(const struct jvm *j) {
    struct err e = {0};
    int result;
    if (setgid(JAVA_NOBODY) != 0 || setuid(JAVA_NOBODY) != 0)
        _exit(1);
    int rc = attach_load(j, agent, "", ATTACH_TIMEOUT_MS, &result, &e);
    _exit(rc == -EPERM && strstr(e.message, "uid 0") && strstr(e.message, "uid 65534") ? 0 : 2);
}

static void test_other_user(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct target t = start((struct java_options){0});
    pid_t child = fork();
    if (child == 0)
        attach_as_nobody(&t.j);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    stop(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jdks),         cmocka_unit_test(test_long_reply),
        cmocka_unit_test(test_arguments),    cmocka_unit_test(test_no_trace),
        cmocka_unit_test(test_disabled),     cmocka_unit_test(test_without_handler),
        cmocka_unit_test(test_stopped),      cmocka_unit_test(test_gone),
        cmocka_unit_test(test_false_socket), cmocka_unit_test(test_nobodys_jvm),
        cmocka_unit_test(test_left_socket),  cmocka_unit_test(test_namespaces),
        cmocka_unit_test(test_other_user),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
