/*
 * Real JVMs for tests: test/java/Idle.java in a jar of its own, run as a child that ends when its
 * standard input does, so none outlives the test.
 *
 * Everything lies in one directory in /var/tmp that any user may read: the tests change users, and
 * hide /tmp.
 */
#ifndef JTOP_TEST_JAVA_CHILD_H
#define JTOP_TEST_JAVA_CHILD_H

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JAVA_NOBODY 65534
#define JAVA_WAIT_MS 30000 /* for things that take a moment; a test that waits longer fails */

struct java_child {
    pid_t pid;    /* the JVM, as we see it; 0: could not be started */
    pid_t parent; /* what to wait for: the JVM, or what stands between in a pid namespace */
    int in;       /* its standard input */
    char log[96]; /* its output */
};

struct java_options {
    const char *option[4];   /* of the JVM */
    const char *environment; /* NAME=VALUE */
    const char *java;        /* NULL: the one in the path */
    bool nobody;             /* another user; needs root */
    bool namespaces;         /* new mount and pid namespaces with a /tmp of its own; needs root */
};

static char java_dir[64]; /* holds idle-PID.jar */
static char java_jar[128];
static char java_name[32]; /* unique on this machine: idle-PID */

__attribute__((unused)) static void java_nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* False where there is no JDK. */
__attribute__((unused)) static bool java_setup(void) {
    char command[512];
    snprintf(java_dir, sizeof java_dir, "/var/tmp/jtop-prof-test-XXXXXX");
    if (!mkdtemp(java_dir) || chmod(java_dir, 0755) != 0)
        return false;
    snprintf(java_name, sizeof java_name, "idle-%d", (int)getpid());
    snprintf(java_jar, sizeof java_jar, "%s/%s.jar", java_dir, java_name);
    snprintf(command, sizeof command,
             "javac -nowarn -Xlint:-options --release 8 -d %s test/java/Idle.java && "
             "jar cfe %s Idle -C %s Idle.class && chmod 644 %s",
             java_dir, java_jar, java_dir, java_jar);
    return system(command) == 0;
}

__attribute__((unused)) static void java_teardown(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", java_dir);
    if (system(command) != 0)
        perror(command);
}

static void java_exec(const struct java_options *o) {
    const char *argv[10] = {"java"};
    int n = 1;
    for (int i = 0; i < 4 && o->option[i]; i++)
        argv[n++] = o->option[i];
    argv[n++] = "-jar";
    argv[n++] = java_jar;
    argv[n++] = "one";
    argv[n++] = "two three";
    argv[n] = NULL;
    /* Of an earlier process with this number: nobody could not remove it, nor listen there. */
    char left[64];
    snprintf(left, sizeof left, "/tmp/.java_pid%d", (int)getpid());
    unlink(left);
    if (o->nobody && (setgid(JAVA_NOBODY) != 0 || setuid(JAVA_NOBODY) != 0))
        _exit(126);
    if (o->environment)
        putenv((char *)(uintptr_t)o->environment);
    execvp(o->java ? o->java : "java", (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* In the child: new namespaces, and the JVM as the first process in them. Never returns. */
static void java_exec_apart(const struct java_options *o, int report) {
    if (unshare(CLONE_NEWNS | CLONE_NEWPID) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/tmp", "tmpfs", 0, NULL) != 0)
        _exit(125);
    pid_t pid = fork();
    if (pid == 0)
        java_exec(o);
    if (write(report, &pid, sizeof pid) != sizeof pid)
        _exit(124);
    /* Nothing of the test's: it would keep the other JVMs' inputs open. */
    close_range(0, ~0U, 0);
    waitpid(pid, NULL, 0);
    _exit(0);
}

static bool java_log_has(const struct java_child *c, const char *what) {
    char text[65536];
    int fd = open(c->log, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strstr(text, what) != NULL;
}

/* Starts one and waits until main runs. */
__attribute__((unused)) static struct java_child java_start(struct java_options o) {
    static int number;
    struct java_child c = {0};
    int in[2], report[2];
    snprintf(c.log, sizeof c.log, "%s/log.%d", java_dir, number++);
    int log = open(c.log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (log < 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
        abort();
    c.parent = fork();
    if (c.parent == 0) {
        if (dup2(in[0], 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir(java_dir) != 0)
            _exit(123);
        if (o.namespaces)
            java_exec_apart(&o, report[1]);
        java_exec(&o);
    }
    close(report[1]);
    close(in[0]);
    close(log);
    c.in = in[1];
    pid_t pid = c.parent;
    if (o.namespaces && read(report[0], &pid, sizeof pid) != sizeof pid)
        pid = 0;
    close(report[0]);
    for (int ms = 0; pid && ms < JAVA_WAIT_MS && !java_log_has(&c, "ready"); ms += 2) {
        if (waitpid(c.parent, NULL, WNOHANG) == c.parent) {
            c.parent = 0;
            pid = 0;
        }
        java_nap();
    }
    c.pid = java_log_has(&c, "ready") ? pid : 0;
    return c;
}

__attribute__((unused)) static void java_stop(struct java_child *c) {
    if (c->pid > 0)
        kill(c->pid, SIGKILL);
    if (c->parent > 0) {
        if (c->pid <= 0)
            kill(c->parent, SIGKILL);
        waitpid(c->parent, NULL, 0);
    }
    char socket[64];
    snprintf(socket, sizeof socket, "/tmp/.java_pid%d", (int)c->pid);
    unlink(socket);
    close(c->in);
    *c = (struct java_child){0};
}

#endif
