/* The agent's end, against readers that keep to the contract and such that do not. */
#include "core/agent/broker.h"
#include "core/wire/broker.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static _Atomic bool quit;

static int descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int clock_event(void) {
    struct perf_event_attr a = {.size = sizeof a,
                                .type = PERF_TYPE_SOFTWARE,
                                .config = PERF_COUNT_SW_TASK_CLOCK,
                                .disabled = 1,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What the other end sends, as bytes and descriptors. */
static void put(int to, const void *bytes, size_t n, const int *fd, int fds) {
    union {
        char bytes[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr header;
    } ancillary = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fds) {
        size_t size = (size_t)fds * sizeof *fd;
        m.msg_control = &ancillary;
        m.msg_controllen = CMSG_SPACE(size);
        ancillary.header.cmsg_level = SOL_SOCKET;
        ancillary.header.cmsg_type = SCM_RIGHTS;
        ancillary.header.cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(&ancillary.header), fd, size);
    }
    assert_int_equal(sendmsg(to, &m, MSG_NOSIGNAL), (ssize_t)n);
}

static void answer(int to, uint32_t number, int error, const int *fd, int fds) {
    struct broker_answer a = {number, error};
    put(to, &a, sizeof a, fd, fds);
}

struct ends {
    struct broker broker;
    int other;
    int before; /* descriptors, without either end */
};

static int setup(void **state) {
    static struct ends e;
    int pair[2];
    e.before = descriptors();
    quit = false;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    e.broker = (struct broker){.open = true, .fd = pair[0], .generation = 7, .quit = &quit};
    e.other = pair[1];
    *state = &e;
    return 0;
}

static int teardown(void **state) {
    struct ends *e = *state;
    broker_close(&e->broker);
    broker_close(&e->broker);
    if (e->other >= 0)
        close(e->other);
    assert_int_equal(descriptors(), e->before);
    return 0;
}

static int ask(struct ends *e) {
    return broker_ask(&e->broker, 0, 123, 60);
}

static void an_answer_is_a_perf_event(void **state) {
    struct ends *e = *state;
    int event = clock_event();
    if (event < 0)
        skip();
    answer(e->other, 1, 0, &event, 1);
    int fd = ask(e);
    assert_true(fd >= 0 && fd != event);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    close(event);
    struct broker_question q;
    assert_int_equal(recv(e->other, &q, sizeof q, 0), sizeof q);
    assert_int_equal(q.number, 1);
    assert_int_equal(q.event, 0);
    assert_int_equal(q.tid, 123);
    assert_int_equal(q.generation, 7);
}

static void a_refusal_is_its_errno(void **state) {
    struct ends *e = *state;
    answer(e->other, 1, ESRCH, NULL, 0);
    assert_int_equal(ask(e), -ESRCH);
    answer(e->other, 2, EACCES, NULL, 0);
    assert_int_equal(ask(e), -EACCES);
    answer(e->other, 3, ESTALE, NULL, 0); /* the next request will tell */
    assert_int_equal(ask(e), -ETIMEDOUT);
    assert_true(e->broker.open);
}

static void no_answer_ends_the_waiting(void **state) {
    struct ends *e = *state;
    assert_int_equal(ask(e), -ETIMEDOUT);
    assert_true(e->broker.open);
    quit = true;
    answer(e->other, 2, ESRCH, NULL, 0);
    assert_int_equal(broker_ask(&e->broker, 0, 1, 1000000), -ETIMEDOUT);
}

/* The reader was stopped for a while: what it answers then belongs to nobody. */
static void late_answers_are_let_go(void **state) {
    struct ends *e = *state;
    int event = clock_event();
    if (event < 0)
        skip();
    assert_int_equal(ask(e), -ETIMEDOUT);
    answer(e->other, 1, 0, &event, 1);
    answer(e->other, 2, ESRCH, NULL, 0);
    close(event);
    assert_int_equal(ask(e), -ESRCH);
}

static void a_full_socket_is_no_answer(void **state) {
    struct ends *e = *state;
    int r = 0;
    for (int i = 0; i < 10000 && r == 0; i++) {
        struct broker_question q = {0};
        r = send(e->broker.fd, &q, sizeof q, MSG_DONTWAIT) < 0;
    }
    assert_int_equal(ask(e), -ETIMEDOUT);
    assert_true(e->broker.open);
}

static void a_reader_that_is_gone(void **state) {
    struct ends *e = *state;
    close(e->other);
    e->other = -1;
    assert_int_equal(ask(e), -ENOTCONN); /* and no SIGPIPE */
    assert_false(e->broker.open);
    assert_int_equal(ask(e), -ENOTCONN);
}

static void one_that_goes_while_it_is_awaited(void **state) {
    struct ends *e = *state;
    shutdown(e->other, SHUT_WR);
    assert_int_equal(ask(e), -ENOTCONN);
    assert_false(e->broker.open);
}

/* None of them may be used, none may stay open, and nobody is asked again. */
static void answers_without_sense(void **state) {
    (void)state;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int memory = (int)syscall(SYS_memfd_create, "x", 1u);
    int event = clock_event();
    int two[] = {event, event};
    int many[] = {null, null, null, null, null, null, null, null};
    struct broker_answer plain = {1, 0};
    struct broker_answer negative = {1, -5};
    struct broker_answer huge = {1, 1 << 20};
    struct {
        const void *bytes;
        size_t n;
        const int *fd;
        int fds;
    } bad[] = {
        {&plain, sizeof plain, NULL, 0},
        {&plain, sizeof plain, &null, 1},
        {&plain, sizeof plain, &memory, 1},
        {&plain, sizeof plain, many, 8},
        {&plain, sizeof plain, two, 2},
        {&negative, sizeof negative, NULL, 0},
        {&huge, sizeof huge, NULL, 0},
        {&plain, 4, NULL, 0},
        {many, sizeof many, NULL, 0},
        {&negative, sizeof negative, &event, 1},
        {&(struct broker_answer){1, 3}, sizeof plain, &event, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (event < 0 && (bad[i].fd == &event || bad[i].fd == two))
            continue;
        int pair[2];
        int before = descriptors();
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
        struct broker b = {.open = true, .fd = pair[0], .quit = &quit};
        put(pair[1], bad[i].bytes, bad[i].n, bad[i].fd, bad[i].fds);
        int r = broker_ask(&b, 0, 1, 200);
        if (r != -ENOTCONN && !(bad[i].fds == 8 && r == -EMFILE))
            fail_msg("answer %zu: %d", i, r);
        broker_close(&b);
        close(pair[1]);
        assert_int_equal(descriptors(), before);
    }
    close(null);
    close(memory);
    if (event >= 0)
        close(event);
}

static void nobody_to_connect_to(void **state) {
    (void)state;
    struct broker b = {.quit = &quit};
    char directory[] = "/tmp/jtop-broker-XXXXXX";
    char longest[300];
    int before = descriptors();
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_non_null(mkdtemp(directory));
    char path[64];
    snprintf(path, sizeof path, "%s/socket", directory);
    const char *const nothing[] = {"", "/nonexistent/x", longest, directory, path};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        broker_connect(&b, nothing[i]);
        assert_false(b.open);
        assert_int_equal(broker_ask(&b, 0, 1, 10), -ENOTCONN);
    }
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    broker_connect(&b, path); /* bound, and does not listen */
    assert_false(b.open);
    listen(listener, 0);
    struct broker first = {.quit = &quit};
    broker_connect(&first, path);
    assert_true(first.open);
    for (int i = 0; i < 4; i++) /* a full backlog does not hold it up */
        broker_connect(&b, path);
    assert_true(fcntl(first.fd, F_GETFD) & FD_CLOEXEC);
    broker_close(&first);
    broker_close(&b);
    close(listener);
    unlink(path);
    rmdir(directory);
    assert_int_equal(descriptors(), before);
}

int main(void) {
#define WITH_ENDS(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_ENDS(an_answer_is_a_perf_event),         WITH_ENDS(a_refusal_is_its_errno),
        WITH_ENDS(no_answer_ends_the_waiting),        WITH_ENDS(late_answers_are_let_go),
        WITH_ENDS(a_full_socket_is_no_answer),        WITH_ENDS(a_reader_that_is_gone),
        WITH_ENDS(one_that_goes_while_it_is_awaited), cmocka_unit_test(answers_without_sense),
        cmocka_unit_test(nobody_to_connect_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
