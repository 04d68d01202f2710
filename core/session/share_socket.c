#include "core/session/share_socket.h"

#include "core/session/clean_text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16
#define CONNECT_MS 2000
#define STEP_BYTES (1u << 20)

struct share_hello share_hello(void) {
    return (struct share_hello){.program = "jtop-prof " JTOP_VERSION,
                                .abi_major = WIRE_ABI_MAJOR,
                                .abi_minor = WIRE_ABI_MINOR,
                                .status_bytes = sizeof(struct share_status),
                                .exit_bytes = sizeof(struct share_exit)};
}

/* Abstract: no file, gone with whoever listens. */
static socklen_t name_of(struct sockaddr_un *a, pid_t jvm) {
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "jtop-prof/%d", (int)jvm);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int share_listen(pid_t jvm, struct err *e) {
    struct sockaddr_un a;
    socklen_t length = name_of(&a, jvm);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, length) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int code = errno;
    if (fd >= 0)
        close(fd);
    return err_exit_as(e, ERR_EXIT_PROFILER, code, "JVM %d cannot be shared with others: %s",
                       (int)jvm, code == EADDRINUSE ? "another process does so" : strerror(code));
}

static bool peer_of(int fd, struct ucred *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length) == 0 && length == sizeof *peer;
}

bool share_may_serve(int fd) {
    struct ucred peer;
    return peer_of(fd, &peer) && (peer.uid == 0 || peer.uid == geteuid());
}

/* Root and who we are. Root believes the JVM's own user too: he may do with it what he likes. */
static bool may_believe(uid_t uid, pid_t jvm) {
    char path[32];
    struct stat st;
    if (uid == 0 || uid == geteuid())
        return true;
    snprintf(path, sizeof path, "/proc/%d", (int)jvm);
    return geteuid() == 0 && stat(path, &st) == 0 && st.st_uid == uid;
}

int share_connect(pid_t jvm, pid_t *reader, struct err *e) {
    struct sockaddr_un a;
    struct ucred peer;
    socklen_t length = name_of(&a, jvm);
    struct timeval patience = {.tv_sec = CONNECT_MS / 1000};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(e, errno, "no socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&a, length) != 0) {
        int code = errno == ECONNREFUSED ? ESRCH : errno;
        close(fd);
        return err_set(e, code, "nobody shares a profile of JVM %d%s%s", (int)jvm,
                       code == ESRCH ? "" : ": ", code == ESRCH ? "" : strerror(code));
    }
    if (peer_of(fd, &peer) && may_believe(peer.uid, jvm)) {
        *reader = peer.pid;
        return fd;
    }
    close(fd);
    return err_set(e, EPERM,
                   "who shares JVM %d's profile is another user (uid %u) and is not believed: be "
                   "that user, or root",
                   (int)jvm, (unsigned)peer.uid);
}

static int wait_fd(int fd, short events, int timeout_ms) {
    struct pollfd p = {.fd = fd, .events = events};
    int n;
    do
        n = poll(&p, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    return n > 0 ? 0 : n == 0 ? -ETIMEDOUT : -errno;
}

int share_send(int fd, const void *data, size_t bytes, int timeout_ms) {
    for (const char *at = data; bytes > 0;) {
        ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        int rc = n > 0 ? 0 : n < 0 ? -errno : -EPIPE;
        if (rc == -EAGAIN)
            rc = wait_fd(fd, POLLOUT, timeout_ms);
        if (rc != 0 && rc != -EINTR)
            return rc == -ECONNRESET ? -EPIPE : rc;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int share_receive(int fd, void *out, size_t bytes, int timeout_ms) {
    for (char *at = out; bytes > 0;) {
        ssize_t n = recv(fd, at, bytes, MSG_DONTWAIT);
        int rc = n > 0 ? 0 : n < 0 ? -errno : -EPIPE;
        if (rc == -EAGAIN)
            rc = wait_fd(fd, POLLIN, timeout_ms);
        if (rc != 0 && rc != -EINTR)
            return rc == -ECONNRESET ? -EPIPE : rc;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int share_send_frame(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                     size_t b_bytes) {
    if (a_bytes > SHARE_REPLY_MAX || b_bytes > SHARE_REPLY_MAX - a_bytes)
        return -EFBIG;
    struct share_header h = {.kind = kind, .bytes = (uint32_t)(a_bytes + b_bytes)};
    int rc = share_send(fd, &h, sizeof h, SHARE_STALL_MS);
    if (rc == 0)
        rc = share_send(fd, a, a_bytes, SHARE_STALL_MS);
    return rc == 0 ? share_send(fd, b, b_bytes, SHARE_STALL_MS) : rc;
}

int share_receive_frame(int fd, uint32_t *kind, char **data, size_t *bytes, int timeout_ms) {
    struct share_header h;
    *data = NULL;
    int rc = share_receive(fd, &h, sizeof h, timeout_ms);
    if (rc == 0 && h.bytes > SHARE_REPLY_MAX)
        rc = -EPROTO;
    size_t have = 0;
    while (rc == 0 && (have < h.bytes || !*data)) {
        size_t step = h.bytes - have < STEP_BYTES ? h.bytes - have : STEP_BYTES;
        char *more = realloc(*data, have + step + 1);
        if (!more) {
            rc = -ENOMEM;
            break;
        }
        *data = more;
        rc = share_receive(fd, more + have, step, timeout_ms);
        have += step;
    }
    if (rc != 0) {
        free(*data);
        *data = NULL;
        return rc;
    }
    (*data)[have] = '\0';
    *kind = h.kind;
    *bytes = have;
    return 0;
}

void share_exit_to_err(struct share_exit *x, struct err *e) {
    x->message[sizeof x->message - 1] = '\0';
    if (x->result > 0 || x->result < -4095)
        x->result = -EPROTO;
    if (x->result == 0 || !e)
        return;
    e->code = -x->result;
    e->exit_code = x->exit_code == ERR_EXIT_ARGUMENT || x->exit_code == ERR_EXIT_PROFILER
                       ? x->exit_code
                       : ERR_EXIT_USAGE;
    clean_text(e->message, sizeof e->message, x->message, strlen(x->message));
}
