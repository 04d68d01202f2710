/* The child's work, done as the JVM's user. */
#include "attach/place/place_parts.h"

#include "attach/proc/credentials.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "core/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

enum { NAME_TRIES = 4, PIECE = 16384 };

static int open_view(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Opens what is not open yet. It is called before and after the change of user, because the files
 * may be open to our former user (root on a host) or only to the JVM's own user (root in a
 * container without CAP_SYS_PTRACE). */
static void see(struct place_task *t) {
    pid_t pid = t->jvm.pid;
    if (t->root < 0)
        t->root = inside_enter(pid, "root");
    if (t->cwd < 0)
        t->cwd = inside_enter(pid, "cwd");
    if (t->maps < 0)
        t->maps = open_view(pid, "maps");
    if (t->environment < 0)
        t->environment = open_view(pid, "environ");
    if (t->mounts < 0)
        t->mounts = open_view(pid, "mountinfo");
}

/* False: the JVM may not be inspected, or its pid belongs to another process now. */
static bool enter(struct place_task *t) {
    struct proc_stat st;
    see(t);
    if (credentials_take(t->jvm.pid, t->jvm.uid, t->jvm.gid) < 0)
        return false;
    see(t);
    if (t->root == -EACCES && t->jvm.inner_pid == t->jvm.pid)
        t->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return t->root >= 0 && proc_stat(t->jvm.pid, &st) == 0 && st.start_ticks == t->jvm.start_ticks;
}

static bool is_library(const struct place_task *t, int fd) {
    struct stat theirs, ours;
    return fstat(fd, &theirs) == 0 && fstat(t->library_fd, &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/* Whether the JVM sees the same file as we do, and may read it and execute code from it. */
static bool sees_ours(const struct place_task *t) {
    struct statvfs fs;
    char link[64];
    int there = inside_open(t->root, t->library, 0);
    if (there < 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", there);
    int readable = -1;
    if (is_library(t, there) && fstatvfs(there, &fs) == 0 && !(fs.f_flag & ST_NOEXEC))
        readable = open(link, O_RDONLY | O_CLOEXEC);
    close(there);
    if (readable >= 0)
        close(readable);
    return readable >= 0;
}

static bool digest(struct place_task *t) {
    uint64_t sum = HASH_BYTE;
    uint8_t piece[PIECE];
    ssize_t n;
    for (uint64_t at = 0; (n = pread(t->library_fd, piece, PIECE, (off_t)at)) > 0;
         at += (uint64_t)n)
        for (ssize_t i = 0; i < n; i++)
            sum = hash_byte(sum, piece[i]);
    snprintf(t->digest, sizeof t->digest, "%08x", (unsigned)(sum ^ sum >> 32));
    return n == 0;
}

/* 0, or -errno. */
static int write_library(const struct place_task *t, int fd) {
    uint8_t piece[PIECE];
    uint64_t at = 0;
    while (at < t->library_bytes) {
        ssize_t n = pread(t->library_fd, piece, PIECE, (off_t)at);
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        ssize_t done = write(fd, piece, (size_t)n);
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        at += (uint64_t)done;
    }
    return 0;
}

/* Checks that the directory's own rules (setgid, an ACL) did not change the file's owner or
 * mode. */
static bool is_private(int fd, const struct place_task *t) {
    struct stat st;
    return fchmod(fd, 0500) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_mode & 07777) == 0500 && st.st_uid == geteuid() && st.st_nlink == 1 &&
           (uint64_t)st.st_size == t->library_bytes;
}

static unsigned random_number(void) {
    unsigned n = 0;
    if (getrandom(&n, sizeof n, 0) != (ssize_t)sizeof n)
        n = (unsigned)(proc_now_ns() ^ (uint64_t)getpid() << 16);
    return n;
}

/* Creates a file with the library in it; false: *try says why not, and the file is removed. */
static bool make_file(struct place_task *t, int dir, struct place_try *try) {
    int fd = -1;
    for (int i = 0; fd < 0 && i < NAME_TRIES; i++) {
        snprintf(t->name, sizeof t->name, ".jtop-prof-%08x-%s.so", random_number(), t->digest);
        fd = openat(dir, t->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    try->fault = PLACE_FAULT_WRITE;
    try->error = errno;
    if (fd < 0)
        return false;
    if (fchown(fd, (uid_t)-1, t->jvm.gid) != 0)
        errno = 0; /* the mode gives the group no rights */
    int rc = write_library(t, fd);
    bool private = rc == 0 && is_private(fd, t);
    close(fd); /* a quota error that is reported only now is not missed: the size was checked */
    if (private)
        return true;
    try->fault = rc < 0 ? PLACE_FAULT_WRITE : PLACE_FAULT_OWNER;
    try->error = rc < 0 ? -rc : 0;
    unlinkat(dir, t->name, 0);
    return false;
}

/* Finds the directory's path as the JVM sees it. Refuses a path that would not survive as an
 * argument. */
static bool seen_path(const struct place_task *t, int fd, const char *dir, char *out, size_t size) {
    if (inside_path(t->root, fd, out, size) < 0) {
        size_t n = strlen(dir);
        if (n >= size)
            return false;
        memcpy(out, dir, n + 1);
    }
    for (const unsigned char *c = (const unsigned char *)out; *c; c++)
        if (*c < 0x20 || *c == 0x7f || *c == ',')
            return false;
    return true;
}

/* Joins a directory and a name. */
static bool join(char *out, size_t size, const char *dir, const char *name) {
    int n = snprintf(out, size, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);
    return n > 0 && (size_t)n < size;
}

static bool has_room(const struct place_task *t, const struct statvfs *fs) {
    return !fs->f_blocks ||
           fs->f_bavail >= t->library_bytes / (fs->f_frsize ? fs->f_frsize : 1) + 1;
}

static bool copy_into(struct place_task *t, const char *dir, struct place_try *try) {
    struct statvfs fs;
    char seen[PLACE_PATH];
    int fd = inside_open(t->root, dir, O_DIRECTORY);
    bool made = false;
    *try = (struct place_try){.error = fd < 0 ? -fd : 0};
    if (fd < 0)
        return false;
    if (fstatvfs(fd, &fs) != 0)
        try->error = errno;
    else if (fs.f_flag & ST_NOEXEC)
        try->fault = PLACE_FAULT_NOEXEC;
    else if (!has_room(t, &fs))
        try->fault = PLACE_FAULT_FULL;
    else if (!seen_path(t, fd, dir, seen, sizeof seen - sizeof t->name))
        try->fault = PLACE_FAULT_NAME;
    else
        made = make_file(t, fd, try);
    if (!made) {
        close(fd);
        return false;
    }
    t->dir = fd;
    return join(t->report->path, sizeof t->report->path, seen, t->name);
}

static bool take_for_library(struct place_task *t, const char *dir) {
    struct place_report *r = t->report;
    struct place_try try;
    for (uint32_t i = 0; i < r->tries; i++)
        if (strcmp(r->tried[i].dir, dir) == 0)
            return false;
    if (copy_into(t, dir, &try))
        return true;
    if (r->tries < PLACE_TRIES_MAX) {
        snprintf(try.dir, sizeof try.dir, "%s", dir);
        r->tried[r->tries++] = try;
    }
    return false;
}

/* Binds inside the directory: there the socket's address is short, whatever the path. */
static int bind_socket(struct place_task *t, int dir) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(t->socket_name, sizeof t->socket_name, ".jtop-prof-%08x.sock", random_number());
    snprintf(address.sun_path, sizeof address.sun_path, "%s", t->socket_name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177);
    bool bound = fd >= 0 && fchdir(dir) == 0 &&
                 bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    if (bound && listen(fd, 1) == 0)
        return fd;
    if (bound)
        unlinkat(dir, t->socket_name, 0);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The path by which the JVM sees the socket has to fit into an address, too. */
static bool take_for_socket(struct place_task *t, const char *dir) {
    struct place_report *r = t->report;
    char seen[PLACE_PATH];
    int fd = inside_open(t->root, dir, O_DIRECTORY), socket = -1;
    if (fd >= 0 && seen_path(t, fd, dir, seen, sizeof seen - sizeof t->socket_name) &&
        strlen(seen) + sizeof ".jtop-prof-01234567.sock" <
            sizeof((struct sockaddr_un *)0)->sun_path)
        socket = bind_socket(t, fd);
    if (socket < 0 || !join(r->socket_path, sizeof r->socket_path, seen, t->socket_name)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    t->socket_dir = fd;
    t->listener = socket;
    return true;
}

static enum place_outcome place(struct place_task *t) {
    struct place_report *r = t->report;
    if (!enter(t))
        return PLACE_UNSEEN;
    if (sees_ours(t)) {
        snprintf(r->path, sizeof r->path, "%s", t->library);
    } else if (!digest(t)) {
        r->error = errno;
        return PLACE_UNREADABLE;
    } else if (!(t->wants & PLACE_ANEW) && place_loaded(t, r->path, sizeof r->path)) {
        r->loaded = true;
    } else {
        r->copied = place_dirs(t, take_for_library);
        if (!r->copied)
            return PLACE_NOWHERE;
    }
    if (t->wants & PLACE_SOCKET)
        place_dirs(t, take_for_socket);
    return PLACE_DONE;
}

void place_child(void *task, void *result, int *fd) {
    struct place_task *t = task;
    uint32_t outcome = place(t);
    memcpy(result, &outcome, sizeof outcome);
    *fd = t->listener;
}

void place_child_after(void *task) {
    struct place_task *t = task;
    if (t->dir >= 0)
        unlinkat(t->dir, t->name, 0);
    if (t->socket_dir >= 0)
        unlinkat(t->socket_dir, t->socket_name, 0);
}
