#include "attach/helper.h"

#include "attach/credentials.h"
#include "attach/proc.h"
#include "attach/tmp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    NAPS_MAX = 20,          /* half milliseconds of the longest nap */
    YOUNG_MS = 5000,        /* so old a JVM has its signal handlers */
    OTHERS_TRIGGER_MS = 200 /* for somebody else's attach that is under way */
};

struct helper {
    const struct helper_task *t;
    struct helper_outcome *o;
    int pidfd; /* -1 before Linux 5.3 */
    int cwd;   /* the JVM's, O_PATH; -1 where it may not be entered */
    int socket;
    char socket_name[32]; /* in the JVM's /tmp, our working directory */
    char trigger_name[32];
};

static bool stop(struct helper *h, enum helper_step step, int error) {
    h->o->step = step;
    h->o->error = error;
    return false;
}

static bool in_time(const struct helper *h) {
    return proc_now_ns() < h->t->deadline_ns;
}

/* Sleeps, a little longer each time; false when the process has ended. */
static bool nap(struct helper *h, int *naps) {
    struct pollfd p = {.fd = h->pidfd, .events = POLLIN};
    if (*naps < NAPS_MAX)
        ++*naps;
    if (poll(&p, 1, (*naps + 1) / 2) > 0 || (h->pidfd < 0 && kill(h->t->pid, 0) && errno == ESRCH))
        return stop(h, HELPER_GONE, 0);
    return true;
}

/* The process is still the one that was asked for, and runs. */
static bool check_process(struct helper *h) {
    struct proc_stat st;
    int rc = proc_stat(h->t->pid, &st);
    if (rc == -ESRCH)
        return stop(h, HELPER_GONE, 0);
    if (rc < 0)
        return true;
    if (st.start_ticks != h->t->start_ticks || st.state == 'Z' || st.state == 'X')
        return stop(h, HELPER_GONE, 0);
    return st.state == 'T' ? stop(h, HELPER_STOPPED, 0) : true;
}

static int open_cwd(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Enters the JVM's /tmp, as the JVM's user. The way there may be open to who we were (root on a
 * host) or only to the JVM's own user (root in a container without CAP_SYS_PTRACE). From inside,
 * the socket's address is short, whatever the path. */
static bool enter(struct helper *h) {
    const struct helper_task *t = h->t;
    int tmp = tmp_dir_open(t->pid);
    h->cwd = open_cwd(t->pid);
    int error = credentials_take(t->uid, t->gid);
    if (error < 0)
        return stop(h, HELPER_CREDENTIALS, -error);
    if (tmp < 0)
        tmp = tmp_dir_open(t->pid);
    if (h->cwd < 0)
        h->cwd = open_cwd(t->pid);
    if (tmp == -EACCES && t->inner_pid == t->pid)
        tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (tmp < 0 || fchdir(tmp) != 0)
        return stop(h, HELPER_TMP, tmp < 0 ? -tmp : errno);
    return true;
}

/* Who listens must be the JVM itself: with a /tmp that containers share, or a file left over by
 * an earlier process, the name proves nothing. */
static bool check_peer(struct helper *h) {
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (getsockopt(h->socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
        return stop(h, HELPER_CONNECT, errno);
    if (peer.pid == h->t->pid)
        return true;
    h->o->seen = (uint32_t)peer.pid;
    return stop(h, HELPER_PEER, 0);
}

/* 1: connected. 0: nobody listens there (yet). -1: no use. */
static int try_connect(struct helper *h) {
    struct stat st;
    if (fstatat(AT_FDCWD, h->socket_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : (stop(h, HELPER_CONNECT, errno), -1);
    if (!S_ISSOCK(st.st_mode))
        return stop(h, HELPER_NOT_SOCKET, 0), -1;
    if (st.st_uid != h->t->uid && st.st_uid != 0) {
        h->o->seen = st.st_uid;
        return stop(h, HELPER_OWNER, 0), -1;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, h->socket_name, sizeof h->socket_name);
    h->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (h->socket >= 0 &&
        connect(h->socket, (const struct sockaddr *)&address, sizeof address) == 0)
        return check_peer(h) ? 1 : -1;
    /* Refused: a file left over by a JVM that was killed. EAGAIN: its queue is full. */
    int error = errno;
    if (h->socket >= 0)
        close(h->socket);
    h->socket = -1;
    if (error == ECONNREFUSED || error == EAGAIN || error == ENOENT)
        return 0;
    h->o->seen = st.st_uid;
    return stop(h, st.st_uid == h->t->uid ? HELPER_CONNECT : HELPER_OWNER, error), -1;
}

/* Tries for at most `ms`. Same results. */
static int connect_within(struct helper *h, uint64_t ms) {
    uint64_t until = proc_now_ns() + ms * 1000000U;
    int naps = 0, rc;
    while ((rc = try_connect(h)) == 0 && in_time(h) && proc_now_ns() < until)
        if (!nap(h, &naps))
            return -1;
    return rc;
}

/* A JVM that has only just started does not catch SIGQUIT yet: wait for that. */
static bool check_handler(struct helper *h) {
    struct proc_status s;
    int naps = 0;
    for (;;) {
        if (proc_status(h->t->pid, &s) < 0)
            return stop(h, HELPER_GONE, 0);
        if (s.catches_quit)
            return true;
        if (!in_time(h) || proc_age_ms(h->t->start_ticks) > YOUNG_MS)
            return stop(h, HELPER_UNCAUGHT, 0);
        if (!nap(h, &naps))
            return false;
    }
}

/* A trigger that is there already helps only when HotSpot would accept it. */
static bool acceptable(const struct helper *h, int dir) {
    struct stat st;
    return fstatat(dir, h->trigger_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == h->t->uid || st.st_uid == 0);
}

/* Creates the file that tells a wish to attach from one for a thread dump. 0, or -errno: -EEXIST
 * when it was there. HotSpot looks in its working directory first, then in /tmp, and takes only
 * its own user's file for it. */
static int create_trigger(const struct helper *h) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int dirs[] = {h->cwd, AT_FDCWD};
    int error = EACCES;
    for (int i = 0; i < 2; i++) {
        if (dirs[i] == -1)
            continue;
        int fd = openat(dirs[i], h->trigger_name, flags, 0600);
        if (fd >= 0) {
            close(fd);
            return 0;
        }
        error = errno;
        if (error == EEXIST)
            return acceptable(h, dirs[i]) ? -EEXIST : -EPERM;
    }
    return -error;
}

static void remove_trigger(const struct helper *h) {
    if (h->cwd >= 0)
        unlinkat(h->cwd, h->trigger_name, 0);
    unlinkat(AT_FDCWD, h->trigger_name, 0);
}

static bool send_quit(struct helper *h) {
    int rc = h->pidfd >= 0 ? (int)syscall(SYS_pidfd_send_signal, h->pidfd, SIGQUIT, NULL, 0)
                           : kill(h->t->pid, SIGQUIT);
    if (rc == 0)
        return true;
    return errno == ESRCH ? stop(h, HELPER_GONE, 0) : stop(h, HELPER_SIGNAL, errno);
}

/* Makes the JVM listen and connects. Only one SIGQUIT is ever sent: a second, after the JVM began
 * to listen, prints a thread dump to the application's output. */
static bool trigger(struct helper *h) {
    if (h->t->disabled)
        return stop(h, HELPER_DISABLED, 0);
    if (!check_handler(h))
        return false;
    int made = create_trigger(h);
    if (made == -EEXIST) {
        int rc = connect_within(h, OTHERS_TRIGGER_MS);
        if (rc != 0)
            return rc > 0;
    } else if (made < 0) {
        return stop(h, HELPER_TRIGGER, -made);
    }
    int rc = -1;
    if (send_quit(h)) {
        rc = connect_within(h, UINT32_MAX);
        if (rc == 0)
            stop(h, HELPER_SILENT, 0);
    }
    remove_trigger(h);
    return rc > 0;
}

static bool run(struct helper *h) {
    /* The descriptor first: what is found out below is then about this very process. */
    h->pidfd = (int)syscall(SYS_pidfd_open, h->t->pid, 0);
    if (h->pidfd < 0 && errno == ESRCH)
        return stop(h, HELPER_GONE, 0);
    if (!check_process(h) || !enter(h))
        return false;
    int rc = try_connect(h);
    return rc == 0 ? trigger(h) : rc > 0;
}

void helper_run(const struct helper_task *t, struct helper_outcome *o, int *socket) {
    struct helper h = {.t = t, .o = o, .pidfd = -1, .cwd = -1, .socket = -1};
    *o = (struct helper_outcome){.step = HELPER_CONNECTED};
    snprintf(h.socket_name, sizeof h.socket_name, ".java_pid%d", (int)t->inner_pid);
    snprintf(h.trigger_name, sizeof h.trigger_name, ".attach_pid%d", (int)t->inner_pid);
    if (!run(&h) && h.socket >= 0) {
        close(h.socket);
        h.socket = -1;
    }
    *socket = h.socket;
}
