#include "core/session/share/share_socket.h"

#include "core/base/clean_text.h"
#include "core/base/clock.h"
#include "core/session/session_state.h"
#include "core/session/share/share_name.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG 16
#define CONNECT_MS 2000
#define STEP_BYTES (1u << 20)
#define MS_NS UINT64_C(1000000)
/* Maximum time for the rest of a frame after its header, even if data keeps arriving */
#define FRAME_NS (60000 * MS_NS)

struct share_hello share_hello(void) {
    return (struct share_hello){.program = "jtop-prof " JTOP_VERSION,
                                .abi_major = WIRE_ABI_MAJOR,
                                .abi_minor = WIRE_ABI_MINOR,
                                .status_bytes = sizeof(struct share_status),
                                .exit_bytes = sizeof(struct share_exit)};
}

static bool peer_of(int fd, struct ucred *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length) == 0 && length == sizeof *peer;
}

bool share_may_serve(int fd) {
    struct ucred peer;
    return peer_of(fd, &peer) && (peer.uid == 0 || peer.uid == geteuid());
}

/* Root and our own user are trusted. Root also trusts the JVM's user, who has full control of the
 * JVM anyway. */
static bool may_believe(uid_t uid, pid_t jvm) {
    char path[32];
    struct stat st;
    if (uid == 0 || uid == geteuid())
        return true;
    snprintf(path, sizeof path, "/proc/%d", (int)jvm);
    return geteuid() == 0 && stat(path, &st) == 0 && st.st_uid == uid;
}

/* Connects, and returns the peer's credentials, trusted or not; -errno. */
static int call(const struct share_name *n, bool wait, struct ucred *peer) {
    struct sockaddr_un a;
    struct timeval patience = {.tv_sec = CONNECT_MS / 1000};
    socklen_t length = share_name_address(n, &a);
    *peer = (struct ucred){.uid = (uid_t)-1};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&a, length) == 0 && peer_of(fd, peer))
        return fd;
    int code = errno == ECONNREFUSED ? ESRCH : errno;
    close(fd);
    return -code;
}

/* -EADDRINUSE: *holder uses the name; its pid 0: unknown. */
static int listen_as(const struct share_name *n, struct ucred *holder) {
    struct sockaddr_un a;
    socklen_t length = share_name_address(n, &a);
    *holder = (struct ucred){.uid = (uid_t)-1};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, length) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int code = errno;
    if (fd >= 0)
        close(fd);
    fd = code == EADDRINUSE ? call(n, false, holder) : -1;
    if (fd >= 0)
        close(fd);
    return -code;
}

int share_listen(pid_t jvm, struct err *e) {
    struct share_name n = share_name_of(jvm);
    struct ucred holder;
    n.uid = geteuid();
    int fd = listen_as(&n, &holder);
    bool strange = fd == -EADDRINUSE && !may_believe(holder.uid, jvm);
    n.second = strange;
    if (strange)
        fd = listen_as(&n, &holder);
    if (fd >= 0)
        return fd;
    if (fd != -EADDRINUSE)
        return err_exit_as(e, ERR_EXIT_PROFILER, -fd, "the profile of JVM %d cannot be shared: %s",
                           (int)jvm, strerror(-fd));
    if (may_believe(holder.uid, jvm))
        return err_exit_as(e, ERR_EXIT_PROFILER, EADDRINUSE,
                           "the profile of JVM %d cannot be shared: process %d already does so",
                           (int)jvm, (int)holder.pid);
    return err_exit_as(e, ERR_EXIT_PROFILER, EADDRINUSE,
                       "the profile of JVM %d cannot be shared: its socket names are taken by "
                       "process %d of another user (uid %d)",
                       (int)jvm, (int)holder.pid, (int)holder.uid);
}

int share_connect(pid_t jvm, pid_t *reader, struct err *e) {
    struct share_name name[SHARE_NAMES_MAX];
    struct ucred peer, stranger = {0};
    bool found;
    int result = -ESRCH;
    uint32_t n = share_name_list(jvm, name, &found);
    for (uint32_t i = 0; i < n; i++) {
        int fd = call(&name[i], !found, &peer);
        if (fd < 0) {
            result = result == -ESRCH ? fd : result;
            continue;
        }
        if (may_believe(peer.uid, jvm) && (!found || share_name_counts_alike(peer.pid))) {
            *reader = peer.pid;
            fcntl(fd, F_SETFL, 0);
            return fd;
        }
        close(fd);
        if (!may_believe(peer.uid, jvm)) {
            stranger = peer;
            result = -EPERM;
        }
    }
    if (result == -EPERM)
        return err_set(e, EPERM,
                       "the profile of JVM %d is shared by another user (uid %u), who is not "
                       "trusted: run as that user or as root",
                       (int)jvm, (unsigned)stranger.uid);
    return err_set(e, -result, "no process shares a profile of JVM %d%s%s", (int)jvm,
                   result == -ESRCH ? "" : ": ", result == -ESRCH ? "" : strerror(-result));
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

static int time_left(uint64_t until_ns) {
    uint64_t now = clock_now_ns();
    return now >= until_ns ? 0 : (int)((until_ns - now) / MS_NS) + 1;
}

/* Gives up when nothing arrives for `timeout_ms`, and in any case at `until_ns`. */
static int receive(int fd, void *out, size_t bytes, int timeout_ms, uint64_t until_ns) {
    for (char *at = out; bytes > 0;) {
        ssize_t n = recv(fd, at, bytes, MSG_DONTWAIT);
        int rc = n > 0 ? 0 : n < 0 ? -errno : -EPIPE, left = time_left(until_ns);
        if (rc == -EAGAIN)
            rc = wait_fd(fd, POLLIN, left < timeout_ms ? left : timeout_ms);
        if (rc == 0 && left == 0)
            rc = -ETIMEDOUT;
        if (rc != 0 && rc != -EINTR)
            return rc == -ECONNRESET ? -EPIPE : rc;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int share_receive(int fd, void *out, size_t bytes, int timeout_ms) {
    return receive(fd, out, bytes, timeout_ms,
                   clock_now_ns() + (uint64_t)timeout_ms * MS_NS + FRAME_NS);
}

static int send_frame(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                      size_t b_bytes, int stall_ms) {
    if (a_bytes > SHARE_REPLY_MAX || b_bytes > SHARE_REPLY_MAX - a_bytes)
        return -EFBIG;
    struct share_header h = {.kind = kind, .bytes = (uint32_t)(a_bytes + b_bytes)};
    int rc = share_send(fd, &h, sizeof h, stall_ms);
    if (rc == 0)
        rc = share_send(fd, a, a_bytes, stall_ms);
    return rc == 0 ? share_send(fd, b, b_bytes, stall_ms) : rc;
}

int share_send_frame(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                     size_t b_bytes) {
    return send_frame(fd, kind, a, a_bytes, b, b_bytes, SHARE_STALL_MS);
}

int share_send_piece(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                     size_t b_bytes) {
    return send_frame(fd, kind, a, a_bytes, b, b_bytes, SHARE_FILE_STALL_MS);
}

/* Grows *data from `have` to `want` bytes as they arrive. */
static int receive_more(int fd, char **data, size_t have, size_t want, int timeout_ms,
                        uint64_t until_ns) {
    int rc = 0;
    while (rc == 0 && (have < want || !*data)) {
        size_t step = want - have < STEP_BYTES ? want - have : STEP_BYTES;
        char *more = realloc(*data, have + step + 1);
        if (!more)
            return -ENOMEM;
        *data = more;
        rc = receive(fd, more + have, step, timeout_ms, until_ns);
        have += step;
        more[have] = '\0';
    }
    return rc;
}

int share_receive_wanted(int fd, share_check *check, void *arg, uint32_t *kind, char **data,
                         size_t *bytes, int timeout_ms) {
    struct share_header h;
    *data = NULL;
    int rc = share_receive(fd, &h, sizeof h, timeout_ms);
    if (rc == 0 && h.bytes > SHARE_REPLY_MAX)
        rc = -EPROTO;
    uint64_t until_ns = clock_now_ns() + FRAME_NS;
    size_t head = check && h.bytes > SHARE_HEAD_MAX ? SHARE_HEAD_MAX : h.bytes;
    if (rc == 0)
        rc = receive_more(fd, data, 0, head, timeout_ms, until_ns);
    if (rc == 0 && check)
        rc = check(arg, h.kind, *data, head, h.bytes);
    if (rc == 0)
        rc = receive_more(fd, data, head, h.bytes, timeout_ms, until_ns);
    if (rc != 0) {
        free(*data);
        *data = NULL;
        return rc;
    }
    *kind = h.kind;
    *bytes = h.bytes;
    return 0;
}

int share_receive_frame(int fd, uint32_t *kind, char **data, size_t *bytes, int timeout_ms) {
    return share_receive_wanted(fd, NULL, NULL, kind, data, bytes, timeout_ms);
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
