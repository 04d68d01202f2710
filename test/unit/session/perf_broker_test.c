/* The reader's end: what an agent gets, and what it does not. The JVMs here are this process, and
 * children of it. */
#include "core/session/drain/perf_broker.h"
#include "core/session/drain/sigtrap_proof.h"

#include "core/session/drain/jvm_tids.h"
#include "core/wire/broker.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 20000 /* long, on a busy machine */
#define GENERATION 5

static const struct wire_engine_request cpu = {.event = WIRE_EVENT_CPU};

static int descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t own_tid(void) {
    return (uint32_t)syscall(SYS_gettid);
}

/* A broker for a process, and the agent's end of its socket. */
struct talk {
    struct perf_broker *broker;
    int fd;
    int before; /* descriptors */
};

static struct talk begin_for(pid_t pid, pid_t inner) {
    struct jvm j = {.pid = pid, .inner_pid = inner};
    struct talk t = {.before = descriptors()};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
                     0);
    t.fd = pair[0];
    assert_int_equal(perf_broker_begin(&j, pair[1], &t.broker), 0);
    perf_broker_allow(t.broker, &cpu, 1, GENERATION);
    return t;
}

static void end(struct talk *t) {
    perf_broker_end(t->broker);
    close(t->fd);
    assert_int_equal(descriptors(), t->before);
}

/* 0, or the errno of the answer; -1: the connection is closed. *fd: what came with it, or -1. */
static int receive(const struct talk *t, uint32_t number, int *fd) {
    struct broker_answer a;
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr align;
    } ancillary;
    struct iovec part = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &ancillary,
                       .msg_controllen = sizeof ancillary};
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    *fd = -1;
    assert_int_equal(poll(&p, 1, ANSWER_MS), 1);
    ssize_t n = recvmsg(t->fd, &m, MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return -1;
    assert_int_equal(n, sizeof a);
    assert_int_equal(a.number, number);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    assert_true((*fd >= 0) == (a.error == 0));
    return a.error;
}

static int ask_for(const struct talk *t, uint32_t event, uint32_t generation, uint32_t tid) {
    static uint32_t number;
    struct broker_question q = {++number, event, tid, generation};
    int fd;
    if (send(t->fd, &q, sizeof q, MSG_NOSIGNAL) != sizeof q)
        return -1;
    int r = receive(t, number, &fd);
    if (fd >= 0) {
        uint64_t id;
        assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
        close(fd);
    }
    return r;
}

static int ask(const struct talk *t, uint32_t tid) {
    return ask_for(t, WIRE_EVENT_CPU, GENERATION, tid);
}

/* A child that does nothing, and does not outlive us. */
static void wait_to_be_killed(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static void need_the_right(void) {
    if (perf_broker_right() != 0)
        skip();
}

/* ---- what it gets ---- */

static void its_own_threads(void **state) {
    (void)state;
    need_the_right();
    struct talk t = begin_for(getpid(), getpid());
    assert_int_equal(ask(&t, own_tid()), 0);
    assert_int_equal(ask(&t, own_tid()), 0);
    end(&t);
}

static void no_other_threads(void **state) {
    (void)state;
    need_the_right();
    struct talk t = begin_for(getpid(), getpid());
    pid_t child = fork();
    if (child == 0)
        wait_to_be_killed();
    const uint32_t foreign[] = {0, 1, (uint32_t)child, 2, UINT32_MAX, 1u << 31, 1u << 22};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (ask(&t, foreign[i]) != ESRCH)
            fail_msg("thread %u", foreign[i]);
    assert_int_equal(ask(&t, own_tid()), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    end(&t);
}

/* Short-lived threads are gone by the time they are asked for: that must be cheap. */
static void a_thread_that_is_gone_is_not_looked_for(void **state) {
    (void)state;
    const struct jvm j = {.pid = getpid(), .inner_pid = getpid()};
    struct jvm_tids tids;
    uint32_t outer;
    assert_int_equal(jvm_tids_open(&tids, &j), 0);
    assert_int_equal(jvm_tids_outer(&tids, own_tid(), &outer), 0);
    assert_int_equal(jvm_tids_outer(&tids, 1, &outer), -ESRCH);
    assert_int_equal(tids.looked_at, 0);
    jvm_tids_close(&tids);
}

static void only_what_is_asked_for_now(void **state) {
    (void)state;
    need_the_right();
    struct talk t = begin_for(getpid(), getpid());
    assert_int_equal(ask_for(&t, WIRE_EVENT_PERF, GENERATION, own_tid()), EPERM);
    assert_int_equal(ask_for(&t, WIRE_EVENT_CPU, GENERATION - 1, own_tid()), ESTALE);
    const struct wire_engine_request faults = {
        .event = WIRE_EVENT_PERF,
        .perf = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}};
    perf_broker_allow(t.broker, &faults, 1, GENERATION + 1);
    assert_int_equal(ask_for(&t, WIRE_EVENT_PERF, GENERATION + 1, own_tid()), 0);
    assert_int_equal(ask_for(&t, WIRE_EVENT_CPU, GENERATION + 1, own_tid()), EPERM);
    perf_broker_allow(t.broker, NULL, 0, GENERATION + 2);
    assert_int_equal(ask_for(&t, WIRE_EVENT_CPU, GENERATION + 2, own_tid()), EPERM);
    end(&t);
}

static void an_event_that_sends_sigtrap(void **state) {
    (void)state;
    need_the_right();
    struct talk t = begin_for(getpid(), getpid());
    int expected = sigtrap_proof() ? 0 : EOPNOTSUPP;
    assert_int_equal(ask_for(&t, WIRE_EVENT_CPU | BROKER_SIGTRAP, GENERATION, own_tid()), expected);
    assert_int_equal(ask_for(&t, WIRE_EVENT_CPU, GENERATION, own_tid()), 0);
    end(&t);
}

static void nothing_once_it_is_gone(void **state) {
    (void)state;
    need_the_right();
    pid_t child = fork();
    if (child == 0)
        wait_to_be_killed();
    struct talk t = begin_for(child, child);
    assert_int_equal(ask(&t, (uint32_t)child), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(ask(&t, (uint32_t)child), ESRCH);
    assert_int_equal(ask(&t, own_tid()), ESRCH);
    end(&t);
}

/* The same process, but another's: as after execve of a setuid program. */
static void nothing_once_its_rights_are_others(void **state) {
    (void)state;
    need_the_right();
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    if (child == 0) {
        if (seteuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
            _exit(1);
        raise(SIGSTOP);
        if (seteuid(0) == 0)
            wait_to_be_killed();
        _exit(1);
    }
    waitpid(child, NULL, WUNTRACED);
    struct talk t = begin_for(child, child);
    assert_int_equal(ask(&t, (uint32_t)child), 0);
    kill(child, SIGCONT);
    int r = 0;
    for (double until = seconds() + 20; r == 0 && seconds() < until;)
        r = ask(&t, (uint32_t)child);
    assert_int_equal(r, ESRCH);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    end(&t);
}

static void another_process_of_that_number(void **state) {
    (void)state;
    struct jvm j = {.pid = getpid(), .inner_pid = getpid(), .start_ticks = 1};
    struct perf_broker *b;
    int pair[2], before = descriptors();
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(perf_broker_begin(&j, pair[1], &b), -ESRCH);
    assert_null(b);
    close(pair[0]);
    assert_int_equal(descriptors(), before);
}

/* ---- namespaces ---- */

static void *wait_for_ever(void *arg) {
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

/* Process 1 of a namespace of its own, in which it has a second thread, 2. Our number of it; -1
 * where there are no namespaces to be had. *parent is to be waited for, too. */
static pid_t begin_inner(pid_t *parent) {
    *parent = fork();
    if (*parent == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWPID) != 0)
            _exit(1);
        pid_t child = fork();
        pthread_t thread;
        if (child == 0 && pthread_create(&thread, NULL, wait_for_ever, NULL) == 0)
            wait_to_be_killed();
        waitpid(child, NULL, 0);
        _exit(0);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)*parent, (int)*parent);
    while (waitpid(*parent, NULL, WNOHANG) == 0) {
        struct stat st;
        int number = -1;
        FILE *f = fopen(path, "re");
        if (f && fscanf(f, "%d", &number) != 1)
            number = -1;
        if (f)
            fclose(f);
        char tasks[64];
        snprintf(tasks, sizeof tasks, "/proc/%d/task", number);
        if (number > 0 && stat(tasks, &st) == 0 && st.st_nlink == 4) /* two threads */
            return number;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return -1;
}

static void numbers_of_another_namespace(void **state) {
    (void)state;
    need_the_right();
    pid_t parent;
    pid_t pid = begin_inner(&parent);
    if (pid < 0)
        skip();
    struct talk t = begin_for(pid, 1);
    assert_int_equal(ask(&t, 1), 0);
    assert_int_equal(ask(&t, 2), 0);
    assert_int_equal(ask(&t, 2), 0);
    assert_int_equal(ask(&t, 3), ESRCH);
    assert_int_equal(ask(&t, (uint32_t)parent), ESRCH);
    struct jvm_tids tids;
    const struct jvm j = {.pid = pid, .inner_pid = 1};
    uint32_t outer = 0;
    assert_int_equal(jvm_tids_open(&tids, &j), 0);
    assert_int_equal(jvm_tids_outer(&tids, 1, &outer), 0);
    assert_int_equal(outer, pid);
    assert_false(jvm_tids_is(&tids, outer, 2));
    id_map_clear(&tids.outer); /* the number was read, when it was another thread's */
    assert_int_equal(jvm_tids_outer(&tids, 1, &outer), 0);
    assert_int_equal(outer, pid);
    assert_false(jvm_tids_is(&tids, 1, 1));
    kill(pid, SIGKILL);
    waitpid(parent, NULL, 0);
    assert_int_equal(jvm_tids_outer(&tids, 1, &outer), -ESRCH);
    jvm_tids_close(&tids);
    assert_int_equal(ask(&t, 1), ESRCH);
    end(&t);
}

/* ---- uprobes ---- */

static uint32_t uprobe_type(void) {
    unsigned type = 0;
    FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    if (f && fscanf(f, "%u", &type) != 1)
        type = 0;
    if (f)
        fclose(f);
    return type;
}

static void copy_self(const char *to) {
    char bytes[65536];
    int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(out, bytes, (size_t)n), n);
    close(in);
    close(out);
}

/* The file is the JVM's, whatever lies under its name here; and no link leads out to ours. */
static void files_as_the_jvm_sees_them(void **state) {
    (void)state;
    need_the_right();
    char root[] = "/tmp/jtop-broker-XXXXXX";
    char file[64], link[64];
    if (geteuid() != 0 || !uprobe_type())
        skip();
    assert_non_null(mkdtemp(root));
    snprintf(file, sizeof file, "%s/only-inside", root);
    snprintf(link, sizeof link, "%s/link", root);
    copy_self(file);
    assert_int_equal(symlink("/proc/self/exe", link), 0);
    pid_t child = fork();
    if (child == 0) {
        if (chroot(root) != 0)
            _exit(1);
        wait_to_be_killed();
    }
    char place[PATH_MAX] = "", of[64];
    snprintf(of, sizeof of, "/proc/%d/root", (int)child);
    while (strcmp(place, root) != 0) {
        ssize_t n = readlink(of, place, sizeof place - 1);
        place[n > 0 ? n : 0] = '\0';
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    struct talk t = begin_for(child, child);
    struct wire_engine_request q = {.event = WIRE_EVENT_PERF,
                                    .flags = WIRE_ENGINE_TEXT_CONFIG,
                                    .perf = {.type = uprobe_type(), .config2 = 0x40}};
    const struct {
        const char *path;
        int error;
    } known[] = {{"/only-inside", 0},
                 {"/link", ENOENT},
                 {"/proc/self/exe", ENOENT},
                 {"/../../../../../proc/self/exe", ENOENT},
                 {"/", ENOENT}};
    for (uint32_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        snprintf(q.text, sizeof q.text, "%s", known[i].path);
        perf_broker_allow(t.broker, &q, 1, 100 + i);
        int r = ask_for(&t, WIRE_EVENT_PERF, 100 + i, (uint32_t)child);
        if (r != known[i].error)
            fail_msg("%s: errno %d", known[i].path, r);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    end(&t);
    unlink(file);
    unlink(link);
    rmdir(root);
}

/* ---- what it must not ask ---- */

static bool is_closed(const struct talk *t) {
    char byte;
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, ANSWER_MS), 1);
    return recv(t->fd, &byte, 1, 0) <= 0;
}

static void questions_without_sense(void **state) {
    (void)state;
    const struct broker_question good = {1, WIRE_EVENT_CPU, own_tid(), GENERATION};
    const uint32_t events[] = {WIRE_EVENT_WALL, WIRE_EVENTS, UINT32_MAX, WIRE_EVENT_ALLOC,
                               WIRE_EVENT_PERF | BROKER_SIGTRAP};
    const size_t lengths[] = {0, 1, sizeof good - 1, sizeof good + 1, 4096};
    char bytes[4096] = {0};
    memcpy(bytes, &good, sizeof good);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct talk t = begin_for(getpid(), getpid());
        struct broker_question q = good;
        q.event = events[i];
        assert_int_equal(send(t.fd, &q, sizeof q, 0), sizeof q);
        assert_true(is_closed(&t));
        end(&t);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct talk t = begin_for(getpid(), getpid());
        assert_int_equal(send(t.fd, bytes, lengths[i], 0), lengths[i]);
        assert_true(is_closed(&t));
        end(&t);
    }
}

static void no_descriptors_are_taken(void **state) {
    (void)state;
    struct talk t = begin_for(getpid(), getpid());
    struct broker_question q = {1, WIRE_EVENT_CPU, own_tid(), GENERATION};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } ancillary = {0};
    struct iovec part = {&q, sizeof q};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &ancillary,
                       .msg_controllen = sizeof ancillary};
    ancillary.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&ancillary.header), &t.fd, sizeof t.fd);
    assert_int_equal(sendmsg(t.fd, &m, 0), sizeof q);
    assert_true(is_closed(&t));
    end(&t);
}

/* It asks without end and reads every answer: after the first thousands, so many a second. */
static void a_flood_has_to_wait(void **state) {
    (void)state;
    struct talk t = begin_for(getpid(), getpid());
    double from = seconds();
    uint32_t asked = 0, answered = 0;
    struct broker_question q = {1, WIRE_EVENT_CPU, 0, GENERATION}; /* no thread: cheap */
    while (seconds() - from < 0.5 || answered < 8192) {
        struct broker_answer a;
        if (asked - answered < 100 && send(t.fd, &q, sizeof q, MSG_NOSIGNAL) == sizeof q)
            asked++;
        ssize_t n;
        while ((n = recv(t.fd, &a, sizeof a, MSG_DONTWAIT)) == sizeof a)
            answered++;
        assert_int_not_equal(n, 0); /* closed */
    }
    double most = 8192 + 2000 * (seconds() - from) + 1;
    if (answered > most)
        fail_msg("%u answers, where %.0f are fine", answered, most);
    end(&t);
}

/* One that reads no answers is left alone, with what fits into a socket. */
static void a_deaf_agent(void **state) {
    (void)state;
    struct talk t = begin_for(getpid(), getpid());
    struct broker_question q = {1, WIRE_EVENT_CPU, 0, GENERATION};
    bool closed = false;
    for (double until = seconds() + 20; !closed && seconds() < until;)
        closed = send(t.fd, &q, sizeof q, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE;
    assert_true(closed);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_threads),
        cmocka_unit_test(no_other_threads),
        cmocka_unit_test(a_thread_that_is_gone_is_not_looked_for),
        cmocka_unit_test(only_what_is_asked_for_now),
        cmocka_unit_test(an_event_that_sends_sigtrap),
        cmocka_unit_test(nothing_once_it_is_gone),
        cmocka_unit_test(nothing_once_its_rights_are_others),
        cmocka_unit_test(another_process_of_that_number),
        cmocka_unit_test(numbers_of_another_namespace),
        cmocka_unit_test(files_as_the_jvm_sees_them),
        cmocka_unit_test(questions_without_sense),
        cmocka_unit_test(no_descriptors_are_taken),
        cmocka_unit_test(a_flood_has_to_wait),
        cmocka_unit_test(a_deaf_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
