#include "attach/load/helper.h"

#include "attach/load/listener.h"
#include "attach/load/standstill.h"
#include "attach/proc/credentials.h"
#include "attach/proc/proc.h"
#include "attach/proc/tmp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
    NAPS_MAX = 20,           /* in half milliseconds: the longest nap */
    YOUNG_MS = 5000,         /* a JVM of this age has installed its signal handlers */
    OTHERS_TRIGGER_MS = 200, /* time for an attach of another tool that is under way */
    TRACED_MS = 300,         /* a longer halt is not just a step under strace */
    STAY_MS = 60000,
    STAY_NAP_MS = 50,
    DESCRIPTORS_MAX = 4096 /* of ours, that are closed one by one */
};

struct helper {
    const struct helper_task *t;
    struct helper_outcome *o;
    int pidfd; /* -1 before Linux 5.3 */
    int cwd;   /* the JVM's working directory, O_PATH; -1 if it may not be entered */
    int socket;
    bool left; /* nobody listens at the socket that is at the path */
    ino_t left_inode;
    char socket_name[32]; /* in the JVM's /tmp, which is our working directory */
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

/* Sleeps, a little longer each time; false if the process has ended. */
static bool nap(struct helper *h, int *naps) {
    struct pollfd p = {.fd = h->pidfd, .events = POLLIN};
    if (*naps < NAPS_MAX)
        ++*naps;
    if (poll(&p, 1, (*naps + 1) / 2) > 0 || (h->pidfd < 0 && kill(h->t->pid, 0) && errno == ESRCH))
        return stop(h, HELPER_GONE, 0);
    return true;
}

/* Checks that nobody has stopped the process. */
static bool check_halted(struct helper *h) {
    uint64_t until = proc_now_ns() + TRACED_MS * UINT64_C(1000000);
    pid_t tracer;
    int naps = 0;
    for (;;) {
        switch (standstill_of(h->t->pid, &tracer)) {
        case STANDSTILL_NONE:
            return true;
        case STANDSTILL_STOPPED:
            return stop(h, HELPER_STOPPED, 0);
        case STANDSTILL_FROZEN:
            return stop(h, HELPER_FROZEN, 0);
        case STANDSTILL_TRACED:
            h->o->seen = (uint32_t)tracer;
            if (proc_now_ns() > until)
                return stop(h, HELPER_TRACED, 0);
        }
        if (!nap(h, &naps))
            return false;
    }
}

/* Checks that the process is still the requested one, and runs. */
static bool check_process(struct helper *h) {
    struct proc_stat st;
    int rc = proc_stat(h->t->pid, &st);
    if (rc == -ESRCH)
        return stop(h, HELPER_GONE, 0);
    if (rc < 0)
        return true;
    if (st.start_ticks != h->t->start_ticks || st.state == 'Z' || st.state == 'X')
        return stop(h, HELPER_GONE, 0);
    return check_halted(h);
}

static int open_cwd(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Enters the JVM's /tmp, as the JVM's user. The way to it may be open only before the change of
 * user (root on a host) or only to the JVM's user (root in a container without CAP_SYS_PTRACE):
 * both are tried. From inside the directory, the socket's address is short whatever the path. */
static bool enter(struct helper *h) {
    const struct helper_task *t = h->t;
    int tmp = tmp_dir_open(t->pid);
    h->cwd = open_cwd(t->pid);
    int error = credentials_take(t->pid, t->uid, t->gid);
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

/* Checks that the listener is the JVM itself. The name proves nothing: containers may share a /tmp,
 * and an earlier process may have left its file. */
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

/* Finds out why the connection was refused. Either the file was left by a JVM that was killed; this
 * JVM replaces it if it has the same user. Or the JVM's queue is full. Same results as
 * try_connect. */
static int refused(struct helper *h, const struct stat *st, int error) {
    h->o->seen = st->st_uid;
    if (error == EAGAIN)
        return 2;
    h->left = error == ECONNREFUSED;
    h->left_inode = st->st_ino;
    if (error == ENOENT || (h->left && st->st_uid == h->t->uid))
        return 0;
    return stop(h, st->st_uid == h->t->uid ? HELPER_CONNECT : HELPER_OWNER, error), -1;
}

/* 2: the queue is full. 1: connected. 0: nobody listens there (yet). -1: it cannot work. */
static int try_connect(struct helper *h) {
    struct stat st;
    h->left = false;
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
    int error = errno;
    if (h->socket >= 0)
        close(h->socket);
    h->socket = -1;
    return refused(h, &st, error);
}

/* Tries for at most `ms`; if the queue is full, until the deadline. Same results as try_connect,
 * but never 2. */
static int connect_within(struct helper *h, uint64_t ms) {
    uint64_t until = proc_now_ns() + ms * 1000000U;
    int naps = 0, rc;
    while (((rc = try_connect(h)) == 2 || (rc == 0 && proc_now_ns() < until)) && in_time(h))
        if (!nap(h, &naps))
            return -1;
    if (rc != 2)
        return rc;
    if (check_halted(h))
        stop(h, HELPER_BUSY, 0);
    return -1;
}

/* A JVM that has only just started does not catch SIGQUIT yet: waits until it does. */
static bool check_handler(struct helper *h) {
    struct proc_status s;
    int naps = 0;
    for (;;) {
        if (proc_status(h->t->pid, &s) < 0)
            return stop(h, HELPER_GONE, 0);
        if (s.catches_quit)
            return true;
        if (!in_time(h) || proc_age_ms(h->t->start_ticks) > YOUNG_MS) {
            h->o->seen = listener_is_open(h->t->pid, h->t->inner_pid);
            return stop(h, HELPER_UNCAUGHT, 0);
        }
        if (!nap(h, &naps))
            return false;
    }
}

/* A trigger that exists already helps only if HotSpot would accept it. */
static bool acceptable(const struct helper *h, int dir) {
    struct stat st;
    return fstatat(dir, h->trigger_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == h->t->uid || st.st_uid == 0);
}

/* Creates the file by which HotSpot tells an attach request from a request for a thread dump. 0, or
 * -errno: -EEXIST if it existed. HotSpot searches its working directory first, then /tmp, and
 * accepts only its own user's file. */
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

static void close_between(int first, int last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (int fd = first; fd <= last && fd < DESCRIPTORS_MAX; fd++) /* Linux before 5.9 */
        close(fd);
}

/* Closes what the caller had open, for example a pipe that another process reads to its end. */
static void close_others(const struct helper *h) {
    int low = h->pidfd < h->cwd ? h->pidfd : h->cwd;
    int high = h->pidfd < h->cwd ? h->cwd : h->pidfd;
    close_between(0, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, INT_MAX);
}

/* Runs in the process that stays behind. */
static void stay(struct helper *h) {
    uint64_t until = proc_now_ns() + STAY_MS * UINT64_C(1000000);
    struct pollfd p = {.fd = h->pidfd, .events = POLLIN};
    close_others(h);
    while (proc_now_ns() < until && !listener_is_open(h->t->pid, h->t->inner_pid) &&
           poll(&p, 1, STAY_NAP_MS) == 0 && (h->pidfd >= 0 || kill(h->t->pid, 0) == 0))
        ;
    remove_trigger(h);
    _exit(0);
}

/* SIGQUIT was sent, and nobody listens: leaves a process behind that removes the trigger later.
 * False: none was left, so the caller removes the trigger. */
static bool wait_on(struct helper *h) {
    struct proc_status s = {0};
    if (!check_process(h))
        return false;
    proc_status(h->t->pid, &s);
    h->o->seen = s.quit_pends;
    stop(h, HELPER_SILENT, 0);
    pid_t child = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (child == 0)
        stay(h);
    return child > 0;
}

/* The JVM listens, but cannot be reached. If it is asked again it creates a new socket, but only
 * while no file has the socket's name: removes a file that an earlier process left. 0: it can be
 * asked. Other results as connect_within. */
static int revive(struct helper *h) {
    struct stat st;
    int rc = connect_within(h, OTHERS_TRIGGER_MS); /* it may have begun to listen just now */
    if (rc != 0)
        return rc;
    if (!h->t->renews)
        return stop(h, HELPER_REMOVED, 0), -1;
    if (h->left && fstatat(AT_FDCWD, h->socket_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISSOCK(st.st_mode) && st.st_ino == h->left_inode)
        unlinkat(AT_FDCWD, h->socket_name, 0);
    return 0;
}

/* On a read-only file system the JVM could not create its socket, and would not report that. */
static bool check_tmp(struct helper *h) {
    return faccessat(AT_FDCWD, ".", W_OK, 0) == 0 || errno != EROFS || stop(h, HELPER_TMP, EROFS);
}

/* Creates the trigger, sends SIGQUIT and connects. Sends at most one SIGQUIT: a second one, after
 * the JVM began to listen, would print a thread dump to the application's output. */
static bool ask_to_listen(struct helper *h) {
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
        if (rc == 0 && wait_on(h))
            return false;
    }
    remove_trigger(h);
    return rc > 0;
}

/* Makes the JVM listen and connects. */
static bool trigger(struct helper *h) {
    if (h->t->disabled)
        return stop(h, HELPER_DISABLED, 0);
    if (!check_handler(h) || !check_tmp(h))
        return false;
    int rc = listener_is_open(h->t->pid, h->t->inner_pid) ? revive(h) : 0;
    return rc == 0 ? ask_to_listen(h) : rc > 0;
}

static bool run(struct helper *h) {
    /* The descriptor comes first: everything found out below is then about this very process. */
    h->pidfd = (int)syscall(SYS_pidfd_open, h->t->pid, 0);
    if (h->pidfd < 0 && errno == ESRCH)
        return stop(h, HELPER_GONE, 0);
    if (!check_process(h) || !enter(h))
        return false;
    int rc = connect_within(h, 0);
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
