/* What the texts of the kernel, of JVMs and of C libraries mean for an attach. */
#include "attach/load/connect.h"
#include "attach/load/listener.h"
#include "attach/load/load_trouble.h"
#include "attach/load/standstill.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define LIB "/opt/libjtop-agent.so"

static void loading(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        enum load_kind kind;
    } some[] = {
        {"Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch "
         "target VM.",
         LOAD_DISABLED},
        {LIB " was not loaded. " LIB ": cannot open shared object file: No such file or directory",
         LOAD_MISSING},
        {LIB " was not loaded. libc.so.6: cannot open shared object file: No such file or "
             "directory",
         LOAD_NEEDS},
        {"Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed "
         "by " LIB ")",
         LOAD_NEEDS},
        {"Error loading shared library " LIB ": No such file or directory", LOAD_MISSING},
        {LIB " was not loaded. " LIB
             ": cannot open shared object file: No such file or directory (Possible cause: can't "
             "load AARCH64 .so on a AMD 64 platform)",
         LOAD_MACHINE},
        {LIB " was not loaded. " LIB ": wrong ELF class: ELFCLASS32", LOAD_MACHINE},
        {"Error loading shared library " LIB ": Exec format error", LOAD_MACHINE},
        {LIB " was not loaded. " LIB ": failed to map segment from shared object", LOAD_NOEXEC},
        {"Error loading shared library " LIB ": Operation not permitted", LOAD_NOEXEC},
        {LIB " was not loaded. " LIB ": cannot open shared object file: Permission denied",
         LOAD_DENIED},
        {LIB " was not loaded. /lib/libc.so.6: version `GLIBC_2.34' not found (required by " LIB
             ")",
         LOAD_OLD_LIBC},
        {"Error relocating " LIB ": __fprintf_chk: symbol not found", LOAD_OLD_LIBC},
        {LIB " was not loaded. " LIB ": undefined symbol: pthread_create", LOAD_OLD_LIBC},
        {LIB " was not loaded. " LIB ": invalid ELF header", LOAD_NOT_LIBRARY},
        {LIB " was not loaded. " LIB ": file too short", LOAD_NOT_LIBRARY},
        {"Agent_OnAttach is not available in " LIB, LOAD_NOT_AGENT},
        {"something new", LOAD_UNKNOWN},
        {"", LOAD_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (load_kind(some[i].text, LIB) != some[i].kind)
            fail_msg("%d, not %d: %s", load_kind(some[i].text, LIB), some[i].kind, some[i].text);
}

/* What cannot be provoked on every machine: each is one line with the facts. */
static void outcomes(void **unused) {
    (void)unused;
    const struct jvm j = {.pid = 12, .inner_pid = 7, .uid = 1000, .name = "Main", .user = "me"};
    static const struct {
        struct helper_outcome o;
        int code;
        const char *part[3];
    } some[] = {
        {{HELPER_SIGNAL, EPERM, 0}, EPERM, {"SIGQUIT", "uid 1000", "AppArmor"}},
        {{HELPER_CONNECT, EACCES, 0}, EACCES, {".java_pid7", "Permission denied", "AppArmor"}},
        {{HELPER_CONNECT, ENOMEM, 0}, ENOMEM, {".java_pid7", "uid 1000", "Cannot allocate"}},
        {{HELPER_TRIGGER, EACCES, 0}, EACCES, {".attach_pid7", "uid 1000", "Permission"}},
        {{HELPER_TMP, EROFS, 0}, EROFS, {"/proc/12/root/tmp", "Read-only", "tmpfs"}},
        {{HELPER_TRACED, 0, 34}, ETIMEDOUT, {"process 34", "/proc/12/stat", "debugger"}},
        {{HELPER_TRACED, 0, 0}, ETIMEDOUT, {"debugger (", "/proc/12/stat", "try again"}},
        {{HELPER_SILENT, 0, 0}, ETIMEDOUT, {"safepoint", ".attach_pid7", "try again"}},
        {{HELPER_SILENT, 0, 1}, ETIMEDOUT, {"ShdPnd", ".attach_pid7", "try again"}},
        {{HELPER_UNCAUGHT, 0, 0}, EOPNOTSUPP, {"SIGQUIT", "-Xrs", "+StartAttachListener"}},
        {{HELPER_UNCAUGHT, 0, 1}, ENOENT, {"was removed", "-Xrs", "restart"}},
        {{HELPER_REMOVED, 0, 0}, ENOENT, {".java_pid7", "8u332", "restart"}},
        {{HELPER_PEER, 0, 0}, EPERM, {"another pid namespace", "JVM 12", "shared"}},
        {{HELPER_OWNER, ECONNREFUSED, 1}, EPERM, {"uid 1,", "uid 1000", "remove it"}},
        {{HELPER_LOST, 0, 0}, EIO, {"JVM 12", "without an answer", "try again"}},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct err e = {0};
        assert_int_equal(connect_explain(&j, &some[i].o, &e), -some[i].code);
        assert_null(strchr(e.message, '\n'));
        for (int k = 0; k < 3; k++)
            if (!strstr(e.message, some[i].part[k]))
                fail_msg("no \"%s\" in: %s", some[i].part[k], e.message);
    }
}

/* Who may look and cannot write gains nothing by being somebody else. */
static void advice_on_tmp(void **unused) {
    (void)unused;
    static const int full[] = {EROFS, ENOENT};
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        assert_non_null(strstr(connect_tmp_remedy(full[i]), "tmpfs"));
        assert_null(strstr(connect_tmp_remedy(full[i]), "root"));
    }
    assert_null(strstr(connect_tmp_remedy(EACCES), "tmpfs"));
    assert_non_null(strstr(connect_tmp_remedy(EACCES), geteuid() ? "as root" : "CAP_SYS_PTRACE"));
}

/* However long they are, the message is one line and says what to do. */
static void long_texts(void **unused) {
    (void)unused;
    struct jvm j = {.pid = 12, .name = "Main"};
    char path[4096], text[4096];
    struct err e = {0};
    memset(path, 'p', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    memset(text, 't', sizeof text);
    memcpy(text, "wrong ELF class", 15);
    text[sizeof text - 1] = '\0';
    assert_int_equal(load_trouble(&j, path, text, &e), -EPROTO);
    assert_true(strlen(e.message) < sizeof e.message);
    assert_int_equal(load_trouble(&j, LIB, text, &e), -EPROTO);
    assert_non_null(strstr(e.message, "another machine"));
    assert_int_equal(load_trouble(&j, LIB, "Dynamic agent loading is not enabled", &e),
                     -EOPNOTSUPP);
    assert_non_null(strstr(e.message, "-agentpath"));
}

static void unix_lines(void **unused) {
    (void)unused;
    static const struct {
        const char *line;
        pid_t pid;
        uint64_t inode;
    } some[] = {
        {"00000000618557b8: 00000002 00000000 00010000 0001 01 2831119 /tmp/.java_pid14339.tmp",
         14339, 2831119},
        {"0000000000000000: 00000002 00000000 00010000 0001 01 7 /tmp/.java_pid1", 1, 7},
        {"0000000000000000: 00000002 00000000 00010000 0001 01 7 /tmp/.java_pid12", 1, 0},
        {"0000000000000000: 00000002 00000000 00010000 0001 01 7 /tmp/.java_pid1.old", 1, 0},
        {"0000000000000000: 00000003 00000000 00000000 0001 03 7 /tmp/.java_pid1", 1, 0},
        {"0000000000000000: 00000002 00000000 00010000 0001 01 7 @/tmp/.java_pid1", 1, 0},
        {"0000000000000000: 00000002 00000000 00010000 0001 01 7", 1, 0},
        {"Num       RefCount Protocol Flags    Type St Inode Path", 1, 0},
        {"", 1, 0},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (listener_line(some[i].line, some[i].pid) != some[i].inode)
            fail_msg("%s", some[i].line);
}

static void versions(void **unused) {
    (void)unused;
    static const char *const renew[] = {
        "",         "?",     "25.332-b09", "25.504-b01", "25+36",
        "25.0.3+9", "14+36", "17.0.15+6",  "11.0.13+8",  "11.0.24+8-post-Debian-2deb11u1",
        "28-ea+18"};
    static const char *const do_not[] = {"25.232-b09", "25.322-b06", "11+28", "11.0.2+9",
                                         "11.0.12+7",  "9.0.4+11",   "10+46", "13.0.2+8"};
    for (size_t i = 0; i < sizeof renew / sizeof *renew; i++)
        if (!listener_is_renewed(renew[i]))
            fail_msg("%s", renew[i]);
    for (size_t i = 0; i < sizeof do_not / sizeof *do_not; i++)
        if (listener_is_renewed(do_not[i]))
            fail_msg("%s", do_not[i]);
}

/* A socket of our own, with and without its name, and of another process. */
static void listening(void **unused) {
    (void)unused;
    char dir[] = "/tmp/jtop-prof-test-XXXXXX";
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    assert_non_null(mkdtemp(dir));
    snprintf(a.sun_path, sizeof a.sun_path, "%s/.java_pid77", dir);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s, (const struct sockaddr *)&a, sizeof a), 0);
    assert_false(listener_is_open(getpid(), 77));
    assert_int_equal(listen(s, 1), 0);
    assert_true(listener_is_open(getpid(), 77));
    unlink(a.sun_path);
    assert_true(listener_is_open(getpid(), 77));
    assert_false(listener_is_open(getpid(), 7));
    pid_t other = fork();
    if (other == 0) {
        close(s);
        for (;;)
            pause();
    }
    close(s);
    assert_false(listener_is_open(getpid(), 77));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    assert_false(listener_is_open(other, 77));
    rmdir(dir);
}

static void standing_still(void **unused) {
    (void)unused;
    static const struct {
        const char *line, *file;
    } some[] = {
        {"6:freezer:/docker/12ab\n5:cpu:/x", "/sys/fs/cgroup/freezer/docker/12ab/freezer.state"},
        {"6:cpu,freezer:/a", "/sys/fs/cgroup/freezer/a/freezer.state"},
        {"6:freezerx:/a", NULL},
        {"6:cpu:/freezer:/a", NULL},
        {"0::/../other", NULL},
        {"0:", NULL},
        {"", NULL},
    };
    char out[256], tiny[16];
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        assert_int_equal(standstill_file(some[i].line, out, sizeof out), some[i].file != NULL);
        if (some[i].file)
            assert_string_equal(out, some[i].file);
    }
    assert_true(standstill_file("0::/a.slice\n", out, sizeof out));
    assert_non_null(strstr(out, "/a.slice/cgroup.events"));
    assert_false(standstill_file("0::/a.slice\n", tiny, sizeof tiny));

    pid_t tracer = 1, child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    assert_int_equal(standstill_of(child, &tracer), STANDSTILL_NONE);
    assert_int_equal(tracer, 0);
    kill(child, SIGSTOP);
    int status;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_int_equal(standstill_of(child, &tracer), STANDSTILL_STOPPED);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_int_equal(standstill_of(child, &tracer), STANDSTILL_NONE);
}

/* A SIGQUIT that is blocked is seen as sent and not taken. */
static void pending(void **unused) {
    (void)unused;
    struct proc_status s;
    sigset_t quit, before;
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    sigprocmask(SIG_BLOCK, &quit, &before);
    assert_int_equal(proc_status(getpid(), &s), 0);
    assert_false(s.quit_pends);
    kill(getpid(), SIGQUIT);
    assert_int_equal(proc_status(getpid(), &s), 0);
    assert_true(s.quit_pends);
    int sig;
    sigwait(&quit, &sig);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading),       cmocka_unit_test(outcomes),
        cmocka_unit_test(advice_on_tmp), cmocka_unit_test(long_texts),
        cmocka_unit_test(unix_lines),    cmocka_unit_test(versions),
        cmocka_unit_test(listening),     cmocka_unit_test(standing_still),
        cmocka_unit_test(pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
