#include "core/agent/broker.h"

#include "core/base/clock.h"
#include "core/wire/broker.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SLICE_MS 20     /* between two checks of `quit` */
#define FDS_TAKEN_MAX 4 /* of one message; it may have only one, otherwise all are closed */

void broker_connect(struct broker *b, const char *path) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    broker_close(b);
    if (n == 0 || n >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, n + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return;
    }
    b->fd = fd;
    b->open = true;
}

void broker_close(struct broker *b) {
    if (b->open)
        close(b->fd);
    b->open = false;
}

/* Returns the descriptor that came with the message; -1: none, or more than one. */
static int take_descriptor(struct msghdr *m) {
    int fd = -1;
    uint32_t taken = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int one;
            memcpy(&one, CMSG_DATA(c) + i * sizeof one, sizeof one);
            if (taken++ == 0)
                fd = one;
            else
                close(one);
        }
    }
    if (taken > 1) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Whether `fd` is a perf_event. The agent takes nothing else, because it maps the descriptor, its
 * handlers write to it, and it makes the kernel signal threads. */
static bool is_perf_event(int fd) {
    uint64_t id;
    return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0;
}

/* The result for an error in the answer. ESTALE and EAGAIN are worth a retry, because the reader
 * may have a newer request by now. */
static int refusal(int error) {
    return error == ESTALE || error == EAGAIN ? -ETIMEDOUT : -error;
}

/* Receives one message: the answer to `number` (*mine is true), or a late answer to an earlier
 * question. Returns the descriptor, 0 when the message was not for `number`, or -errno. */
static int take_answer(struct broker *b, uint32_t number, bool *mine) {
    union {
        char bytes[CMSG_SPACE(FDS_TAKEN_MAX * sizeof(int))];
        struct cmsghdr align;
    } ancillary;
    struct broker_answer a;
    struct iovec part = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &ancillary,
                       .msg_controllen = sizeof ancillary};
    *mine = false;
    ssize_t n = recvmsg(b->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    int fd = n < 0 ? -1 : take_descriptor(&m);
    /* The kernel cuts the ancillary data where this process has no descriptor left. */
    bool cut = n == (ssize_t)sizeof a && m.msg_flags & MSG_CTRUNC;
    bool sense = n == (ssize_t)sizeof a && !(m.msg_flags & MSG_TRUNC) && a.error >= 0 &&
                 a.error < 4096 && (cut || (fd >= 0) == (a.error == 0)) &&
                 (fd < 0 || is_perf_event(fd));
    *mine = sense && a.number == number;
    if (fd >= 0 && (!*mine || cut))
        close(fd);
    if (!sense) {
        broker_close(b);
        return -ENOTCONN;
    }
    return !*mine ? 0 : cut ? -EMFILE : a.error ? refusal(a.error) : fd;
}

static int await_answer(struct broker *b, uint32_t number, uint32_t wait_ms) {
    uint64_t end = clock_now_ms() + wait_ms;
    for (;;) {
        uint64_t now = clock_now_ms();
        if (now >= end || *b->quit)
            return -ETIMEDOUT;
        struct pollfd p = {.fd = b->fd, .events = POLLIN};
        uint64_t left = end - now;
        if (poll(&p, 1, left < SLICE_MS ? (int)left : SLICE_MS) <= 0)
            continue;
        bool mine;
        int r = take_answer(b, number, &mine);
        if (mine || r < 0)
            return r;
    }
}

int broker_ask(struct broker *b, uint32_t event, uint32_t tid, uint32_t wait_ms) {
    struct broker_question q = {++b->number, event, tid, b->generation};
    if (!b->open)
        return -ENOTCONN;
    ssize_t n = send(b->fd, &q, sizeof q, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) /* the socket is full of unanswered questions */
        return -ETIMEDOUT;
    if (n != (ssize_t)sizeof q) {
        broker_close(b);
        return -ENOTCONN;
    }
    return await_answer(b, q.number, wait_ms);
}
