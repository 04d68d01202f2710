/* JVMs as they are found and described, and the command lines they are known by. */
#include "attach/find/java_args.h"
#include "attach/find/jvm.h"
#include "attach/find/no_access.h"
#include "attach/proc/process_status.h"
#include "attach/proc/proc.h"
#include "attach/proc/thread_stat.h"

#include "test/unit/attach/java_child.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static bool have_java;

static int setup(void **state) {
    (void)state;
    have_java = java_setup();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    java_teardown();
    return 0;
}

static struct java_child start(struct java_options o) {
    if (!have_java)
        skip();
    struct java_child c = java_start(o);
    if (c.pid == 0)
        fail_msg("the JVM did not start: see %s", c.log);
    return c;
}

/* Words are separated by blanks here, by NULs in the kernel's text. */
static void test_command_lines(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"java Main", "Main", ""},
        {"/opt/jdk/bin/java -Xmx1g -Dx=y org.example.Main a b", "org.example.Main", "a b"},
        {"java -cp a.jar:b.jar -ea Main", "Main", ""},
        {"java --class-path=a.jar --add-opens java.base/java.lang=X Main x", "Main", "x"},
        {"java -Xms1m -jar /srv/app.jar --port 80", "/srv/app.jar", "--port 80"},
        {"java -p mods -m shop/org.shop.Main x", "shop/org.shop.Main", "x"},
        {"java --module=shop/org.shop.Main", "shop/org.shop.Main", ""},
        {"java @args Main", "Main", ""},
        {"jsvc -cp x Main", "jsvc", "-cp x Main"},
        {"java -version", "java", "-version"},
        {"java -cp", "java", "-cp"},
        {"java -jar", "java", "-jar"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], program[128] = "";
        struct java_args args;
        size_t len = strlen(cases[i][0]) + 1;
        memcpy(text, cases[i][0], len);
        for (char *p = text; *p; p++)
            if (*p == ' ')
                *p = '\0';
        assert_true(java_args_parse(text, len, &args));
        assert_string_equal(args.main, cases[i][1]);
        memcpy(program, args.program, args.program_len);
        for (size_t k = 0; k + 1 < args.program_len; k++)
            if (!program[k])
                program[k] = ' ';
        assert_string_equal(program, cases[i][2]);
    }
    struct java_args args;
    assert_false(java_args_parse("", 0, &args));
    assert_false(java_args_parse("java", 4, &args)); /* no NUL at the end */
    assert_false(java_args_parse("", 1, &args));
}

static void test_flags(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int expected;
    } cases[] = {
        {"-XX:+Foo", 1},           {"-XX:-Foo", -1}, {"-XX:+FooBar", 0},      {"x-XX:+Foo", 0},
        {"-XX:+Foo -XX:-Foo", -1}, {"", 0},          {"a \"-XX:+Foo\" b", 1}, {"-XX:+Fo", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(java_args_flag(cases[i].text, strlen(cases[i].text), "Foo"),
                         cases[i].expected);
}

static void test_stat_text(void **state) {
    (void)state;
    struct proc_stat st;
    const char *rest = " S 1 2 3 4 5 6 7 8 9 10 100 50 13 14 15 16 17 18 4242 20 21";
    char text[256];
    snprintf(text, sizeof text, "7 (a) R (b\n)%s", rest);
    assert_int_equal(proc_stat_parse(text, &st), 0);
    assert_string_equal(st.comm, "a) R (b?");
    assert_int_equal(st.state, 'S');
    assert_int_equal(st.cpu_ticks, 150);
    assert_int_equal(st.threads, 17);
    assert_int_equal(st.start_ticks, 4242);
    assert_int_equal(proc_stat_parse("7 (a) S 1 2", &st), -EPROTO);
    assert_int_equal(proc_stat_parse(")(", &st), -EPROTO);
}

static void check_idle(const struct jvm *j, const struct java_child *c) {
    char jar[48];
    snprintf(jar, sizeof jar, "%s.jar", java_name);
    assert_int_equal(j->pid, c->pid);
    assert_string_equal(j->name, jar);
    assert_string_equal(j->arguments, "one two three");
    assert_true(j->rss_bytes > 8 << 20);
    assert_true(j->threads >= 5 && j->threads < 1000);
    assert_true(j->cpu_percent > 0);
}

static void check_perf(const struct jvm *j) {
    assert_true(j->perf_data);
    assert_non_null(strchr(j->version, '.'));
    assert_non_null(strstr(j->vm_name, "VM"));
    assert_true(j->heap_used_bytes <= j->heap_capacity_bytes);
    assert_true(j->heap_capacity_bytes > 0 && j->heap_capacity_bytes <= j->heap_max_bytes);
    assert_in_range(j->heap_max_bytes, 60 << 20, 65 << 20); /* Serial leaves a survivor out */
    assert_in_range(j->classes_loaded, 100, 100000);
}

static void test_inspect(void **state) {
    (void)state;
    static const char *const collectors[] = {"-XX:+UseSerialGC", "-XX:+UseParallelGC",
                                             "-XX:+UseG1GC", "-XX:-UsePerfData"};
    for (size_t i = 0; i < sizeof collectors / sizeof *collectors; i++) {
        struct java_child c = start((struct java_options){.option = {collectors[i], "-Xmx64m"}});
        struct jvm j;
        struct err e = {0};
        if (jvm_inspect(c.pid, &j, &e) != 0)
            fail_msg("%s: %s", collectors[i], e.message);
        check_idle(&j, &c);
        assert_int_equal(j.uid, geteuid());
        assert_int_equal(j.inner_pid, c.pid);
        assert_false(j.container);
        if (strcmp(collectors[i], "-XX:-UsePerfData") != 0) {
            check_perf(&j);
        } else {
            assert_false(j.perf_data);
            assert_int_equal(j.heap_max_bytes, 0);
        }
        java_stop(&c);
    }
}

static void test_refresh(void **state) {
    (void)state;
    struct java_child c = start((struct java_options){.option = {"-Xmx64m"}});
    struct jvm j;
    struct err e;
    assert_int_equal(jvm_inspect(c.pid, &j, &e), 0);
    uint64_t uptime = j.uptime_ms;
    for (int i = 0; i < 100 && j.uptime_ms <= uptime; i++) {
        java_nap();
        assert_int_equal(jvm_refresh(&j), 0);
    }
    assert_true(j.uptime_ms > uptime);
    check_perf(&j);
    struct jvm other = j;
    other.start_ticks--; /* as if the pid had been given to another process */
    assert_int_equal(jvm_refresh(&other), -ESRCH);
    java_stop(&c);
    assert_int_equal(jvm_refresh(&j), -ESRCH);
}

static void test_find(void **state) {
    (void)state;
    struct java_child a = start((struct java_options){0});
    struct jvm j;
    struct err e;
    char jar[48], part[24], pid[16];
    snprintf(jar, sizeof jar, "%s.jar", java_name);
    snprintf(part, sizeof part, "%.*s", (int)strlen(java_name) - 1, java_name);
    snprintf(pid, sizeof pid, "%d", (int)a.pid);
    assert_int_equal(jvm_find(pid, &j, &e), 0);
    check_idle(&j, &a);
    assert_int_equal(jvm_find(jar, &j, &e), 0);
    check_idle(&j, &a);
    assert_int_equal(jvm_find(java_name, &j, &e), 0);
    assert_int_equal(j.pid, a.pid);
    assert_int_equal(jvm_find(java_name + 1, &j, &e), 0); /* a part */
    assert_int_equal(j.pid, a.pid);

    struct java_child b = start((struct java_options){.option = {"-XX:-UsePerfData"}});
    const char *ambiguous[] = {jar, java_name, "jps"};
    for (size_t i = 0; i < 3; i++) {
        e = (struct err){0};
        assert_int_equal(jvm_find(ambiguous[i], &j, &e), -ENOTUNIQ);
        assert_null(strchr(e.message, '\n'));
        snprintf(pid, sizeof pid, "%d", (int)b.pid);
        if (i < 2 && (!strstr(e.message, pid) || !strstr(e.message, jar)))
            fail_msg("not listed: %s", e.message);
    }
    assert_int_equal(jvm_find("no such main class", &j, &e), -ESRCH);
    assert_non_null(strstr(e.message, "no such main class"));
    assert_int_equal(jvm_find("", &j, &e), -EINVAL);
    assert_int_equal(jvm_find("0", &j, &e), -EINVAL);
    assert_int_equal(jvm_find("99999999999999999999", &j, &e), -EINVAL);
    java_stop(&a);
    java_stop(&b);
}

static void test_not_a_jvm(void **state) {
    (void)state;
    struct jvm j;
    struct err e;
    assert_int_equal(jvm_inspect(getpid(), &j, &e), -EINVAL);
    assert_non_null(strstr(e.message, "libjvm.so"));
    assert_int_equal(jvm_inspect(-1, &j, &e), -EINVAL);
    pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(jvm_inspect(ended, &j, &e), -ESRCH); /* a zombie */
    assert_int_equal(waitpid(ended, NULL, 0), ended);
    assert_int_equal(jvm_inspect(ended, &j, &e), -ESRCH);
    assert_non_null(strstr(e.message, "no process"));
}

static void test_threads(void **state) {
    (void)state;
    struct java_child c = start((struct java_options){0});
    struct thread_stat *list;
    int n = thread_stat_list(c.pid, &list);
    assert_in_range(n, 5, 1000);
    int gc = 0;
    for (int i = 0; i < n; i++) {
        assert_true(i == 0 || list[i - 1].tid < list[i].tid);
        assert_non_null(strchr("RSDtTIZX", list[i].state));
        gc += strcmp(list[i].comm, "VM Thread") == 0;
    }
    assert_int_equal(gc, 1);

    struct jvm j;
    struct err e;
    assert_int_equal(jvm_inspect((pid_t)list[n - 1].tid, &j, &e), -EINVAL);
    assert_non_null(strstr(e.message, "thread of process"));
    free(list);
    java_stop(&c);
    assert_int_equal(thread_stat_list(INT32_MAX, &list), -ESRCH);
}

/* Runs as nobody; exit code 0 when another user's JVM is refused with both uids named. */
static void refuse_as_nobody(pid_t pid) {
    struct jvm j, *list;
    struct err e = {0};
    if (setgid(JAVA_NOBODY) != 0 || setuid(JAVA_NOBODY) != 0)
        _exit(1);
    int rc = jvm_inspect(pid, &j, &e);
    int n = jvm_list(&list, &e);
    for (int i = 0; i < n; i++)
        if (list[i].pid == pid)
            _exit(2);
    _exit(rc == -EACCES && strstr(e.message, "uid 0") && strstr(e.message, "uid 65534") ? 0 : 3);
}

static void test_other_user(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct java_child c = start((struct java_options){0});
    pid_t child = fork();
    if (child == 0)
        refuse_as_nobody(c.pid);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    java_stop(&c);
}

/* Runs as nobody; exit code 0 when jvm_inspect says so of another user's process. */
static int inspect_as_nobody(pid_t pid, int expected) {
    pid_t child = fork();
    if (child == 0) {
        struct jvm j;
        if (setgid(JAVA_NOBODY) != 0 || setuid(JAVA_NOBODY) != 0)
            _exit(1);
        _exit(jvm_inspect(pid, &j, NULL) == expected ? 0 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* In a /tmp that containers share: a JVM's file, younger than a process that has its pid. */
static void test_file_of_another(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    struct java_child c = start((struct java_options){0});
    char file[64], copy[64], command[320];
    snprintf(file, sizeof file, "/tmp/hsperfdata_root/%d", (int)c.pid);
    snprintf(copy, sizeof copy, "/tmp/hsperfdata_root/%d", (int)other);
    snprintf(command, sizeof command, "chmod 644 %s && cp %s %s && chmod 644 %s", file, file, copy,
             copy);
    int copied = system(command);
    int of_jvm = inspect_as_nobody(c.pid, 0), of_other = inspect_as_nobody(other, -EACCES);
    unlink(copy);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    java_stop(&c);
    assert_int_equal(copied, 0);
    assert_int_equal(of_jvm, 0);
    assert_int_equal(of_other, 0);
}

/* Its performance data are in a /tmp that we do not see, under another pid. */
static void test_namespaces(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    struct java_child c = start((struct java_options){.option = {"-Xmx64m"}, .namespaces = true});
    struct jvm j;
    struct err e;
    if (jvm_inspect(c.pid, &j, &e) != 0)
        fail_msg("%s", e.message);
    check_idle(&j, &c);
    check_perf(&j);
    assert_true(j.container);
    assert_int_equal(j.inner_pid, 1);
    assert_int_equal(jvm_find(java_name, &j, &e), 0);
    assert_int_equal(j.pid, c.pid);
    java_stop(&c);
}

/* Only a right that is missing is named, and only a change of user that would help. */
static void test_no_access(void **state) {
    (void)state;
    const uint64_t ptrace = 1ULL << CAPABILITY_SYS_PTRACE, setuid_too = 1ULL << CAPABILITY_SETUID;
    static const char missing[] = "CAP_SYS_PTRACE is missing: run with it";
    char out[NO_ACCESS_REMEDY];
    assert_string_equal(no_access_remedy(1000, 0, 1001, 1001, out), "run as its user or as root");
    assert_string_equal(no_access_remedy(1000, 0, 1000, 1000, out), "run as root");
    assert_string_equal(no_access_remedy(0, setuid_too, 1000, 100, out),
                        "CAP_SYS_PTRACE is missing: run with it, or as the JVM's user (setpriv "
                        "--reuid 1000 --regid 100 --clear-groups jtop-prof ...)");
    assert_non_null(strstr(no_access_remedy(0, 0, 1000, 100, out), "CAP_SETGID are missing"));
    assert_non_null(strstr(no_access_remedy(0, setuid_too, 0, 0, out), missing));
    assert_null(strstr(out, "setpriv"));
    for (uid_t uid = 0; uid <= 1000; uid += 500) {
        no_access_remedy(uid, ptrace | setuid_too, 1000, 100, out);
        assert_non_null(strstr(out, "CAP_SYS_PTRACE is there"));
        assert_true(strlen(out) < sizeof out - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command_lines),   cmocka_unit_test(test_flags),
        cmocka_unit_test(test_stat_text),       cmocka_unit_test(test_inspect),
        cmocka_unit_test(test_refresh),         cmocka_unit_test(test_find),
        cmocka_unit_test(test_not_a_jvm),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_access),       cmocka_unit_test(test_other_user),
        cmocka_unit_test(test_file_of_another), cmocka_unit_test(test_namespaces),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
