#include "attach/proc/errand.h"

#include "attach/proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_MS 1000
#define REAP_MS 1000
#define REAP_STEP_NS 500000
#define ORPHAN_MS 1000

struct work {
    errand_work work;
    void (*after)(void *context); /* NULL: the child ends after its answer */
    void *context;
    size_t result_bytes;
    pid_t caller;
};

/* Room for one descriptor in a message. */
union ancillary {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

static void send_result(int channel, void *result, size_t bytes, int fd) {
    union ancillary room;
    struct iovec iov = {.iov_base = result, .iov_len = bytes};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        memset(&room, 0, sizeof room);
        m.msg_control = &room;
        m.msg_controllen = sizeof room.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    sendmsg(channel, &m, MSG_NOSIGNAL);
}

/* Receives the result. Returns the descriptor that came with it, or -1. */
static int receive_result(int channel, void *result, size_t bytes) {
    union ancillary room;
    uint8_t got[ERRAND_RESULT_MAX] = {0};
    struct iovec iov = {.iov_base = got, .iov_len = bytes};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &room,
                       .msg_controllen = sizeof room.bytes};
    int fd = -1;
    ssize_t n = recvmsg(channel, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0)
        return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (n == (ssize_t)bytes)
        memcpy(result, got, bytes);
    return fd;
}

/* Waits until the other end is closed: by errand_end, or by the kernel when the caller has ended.
 * Another child of the caller may have a copy of that end and wait for this child, so the parent's
 * pid is checked too. */
static void await_end(int channel, pid_t caller) {
    struct pollfd p = {.fd = channel, .events = POLLIN};
    int n;
    do
        n = poll(&p, 1, ORPHAN_MS);
    while ((n < 0 && errno == EINTR) || (n == 0 && getppid() == caller));
}

/* Closes the caller's output, so that its reader need not wait for a child that cannot be killed.
 * The output may be a pipe or, under sshd, a socket. */
static void leave_output(const int channel[2]) {
    struct stat st;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (i != channel[0] && i != channel[1] && fstat(i, &st) == 0 &&
            (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
            close(i);
}

static void run_child(const struct work *w, const int channel[2]) {
    uint8_t result[ERRAND_RESULT_MAX] = {0};
    int fd = -1;
    leave_output(channel);
    close(channel[0]); /* else the child would never see the other end close */
    setsid();          /* a kill of the caller's whole group leaves this child time to clean up */
    w->work(w->context, result, &fd);
    send_result(channel[1], result, w->result_bytes, fd);
    if (w->after) {
        if (fd >= 0)
            close(fd);
        await_end(channel[1], w->caller);
        w->after(w->context);
    }
    _exit(0);
}

/* Clones without an exit signal. Signals are blocked meanwhile, so that no handler of the caller
 * runs in the copy. */
static pid_t start(const struct work *w, const int channel[2]) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (child == 0)
        run_child(w, channel);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return child;
}

static void await_answer(int fd, uint64_t until_ns) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        uint64_t now = proc_now_ns();
        if (now >= until_ns)
            return;
        int ms = (int)((until_ns - now) / 1000000U) + 1;
        if (poll(&p, 1, ms) >= 0 || errno != EINTR)
            return;
    }
}

/* Kills the child and waits for its end. The child ran as the JVM's user, who may have stopped it.
 * One that hangs in a system call and cannot be killed (a file system whose server does not answer)
 * is left to the kernel. True: it had exited by itself. */
static bool reap(pid_t child) {
    uint64_t until = proc_now_ns() + REAP_MS * UINT64_C(1000000);
    int status = 0, end = (int)syscall(SYS_pidfd_open, child, 0);
    pid_t ended;
    kill(child, SIGKILL);
    if (end >= 0) { /* without it (Linux before 5.3), the loop below waits */
        await_answer(end, until);
        close(end);
    }
    while ((ended = waitpid(child, &status, __WALL | WNOHANG)) == 0 && proc_now_ns() < until)
        nanosleep(&(struct timespec){.tv_nsec = REAP_STEP_NS}, NULL);
    return ended == child && WIFEXITED(status);
}

static int begin(const struct work *w, uint64_t deadline_ns, void *result, int *fd,
                 struct errand *out) {
    int channel[2];
    *fd = -1;
    *out = (struct errand){.channel = -1};
    if (w->result_bytes > ERRAND_RESULT_MAX)
        return -EINVAL;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0)
        return -errno;
    pid_t child = start(w, channel);
    int error = errno;
    close(channel[1]);
    if (child <= 0) {
        close(channel[0]);
        return -error;
    }
    await_answer(channel[0], deadline_ns);
    *fd = receive_result(channel[0], result, w->result_bytes);
    *out = (struct errand){.child = child, .channel = channel[0]};
    return 0;
}

int errand_run(errand_work work, void *context, uint64_t deadline_ns, void *result,
               size_t result_bytes, int *fd) {
    struct work w = {work, NULL, context, result_bytes, getpid()};
    struct errand e;
    int rc = begin(&w, deadline_ns, result, fd, &e);
    if (rc < 0)
        return rc;
    close(e.channel);
    reap(e.child); /* the child has nothing left to do */
    return 0;
}

int errand_begin(errand_work work, void (*after)(void *context), void *context,
                 uint64_t deadline_ns, void *result, size_t result_bytes, int *fd,
                 struct errand *out) {
    struct work w = {work, after, context, result_bytes, getpid()};
    return begin(&w, deadline_ns, result, fd, out);
}

bool errand_end(struct errand *errand) {
    if (errand->child <= 0)
        return true;
    shutdown(errand->channel, SHUT_WR);
    await_answer(errand->channel, proc_now_ns() + END_MS * UINT64_C(1000000));
    close(errand->channel);
    bool tidied = reap(errand->child);
    *errand = (struct errand){.channel = -1};
    return tidied;
}
