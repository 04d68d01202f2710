#include "attach/proc/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AGAIN_MAX 8

int inside_enter(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Takes the next part of a path into `name`; false at its end. */
static bool next_part(const char **path, char name[NAME_MAX + 1]) {
    const char *p = *path + strspn(*path, "/");
    size_t n = strcspn(p, "/");
    *path = p + n;
    if (n == 0)
        return false;
    if (n > NAME_MAX)
        n = NAME_MAX; /* will not be found */
    memcpy(name, p, n);
    name[n] = '\0';
    return true;
}

/* Without openat2: opens part by part, and follows no symbolic links. */
static int walk(int root, const char *path, int flags) {
    char name[NAME_MAX + 1];
    int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && next_part(&path, name)) {
        bool last = path[strspn(path, "/")] == '\0';
        int more = last ? flags : O_DIRECTORY;
        int next = strcmp(name, "..") == 0
                       ? (errno = EXDEV, -1)
                       : openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | more);
        int error = errno;
        close(at);
        errno = error;
        at = next;
    }
    struct stat st;
    if (at >= 0 && fstat(at, &st) == 0 && S_ISLNK(st.st_mode)) {
        close(at);
        return -ELOOP;
    }
    return at < 0 ? -errno : at;
}

int inside_open(int root, const char *path, int flags) {
    struct open_how how = {
        .flags = (unsigned long long)(unsigned)(O_PATH | O_CLOEXEC | flags),
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int fd, tries = 0;
    do /* EAGAIN: something on the way was renamed */
        fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    while (fd < 0 && errno == EAGAIN && ++tries < AGAIN_MAX);
    /* Linux before 5.6, or a container's system call filter. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return walk(root, path, flags);
    return fd < 0 ? -errno : fd;
}

int inside_read(int fd) {
    char link[64];
    struct stat st;
    if (fd < 0)
        return fd;
    int result = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (result == 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        result = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        result = result < 0 ? -errno : result;
    }
    close(fd);
    return result;
}

/* The kernel's path of a descriptor: from the root of its mount namespace, which need not be
 * ours. */
static ssize_t kernel_path(int fd, char *out, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, size - 1);
    if (n < 0)
        return -errno;
    if ((size_t)n >= size - 1)
        return -ENAMETOOLONG;
    out[n] = '\0';
    return n;
}

static bool same_file(int a, int b) {
    struct stat s, t;
    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

int inside_path(int root, int dir, char *out, size_t size) {
    char top[PATH_MAX], path[PATH_MAX];
    ssize_t skip = kernel_path(root, top, sizeof top), n = kernel_path(dir, path, sizeof path);
    if (skip < 0 || n < 0)
        return -ENOENT;
    if (skip == 1) /* the root is "/" */
        skip = 0;
    if (strncmp(path, top, (size_t)skip) != 0 || (path[skip] != '/' && path[skip] != '\0'))
        return -ENOENT;
    const char *seen = path[skip] ? path + skip : "/";
    int again = inside_open(root, seen, O_DIRECTORY);
    bool found = again >= 0 && same_file(again, dir);
    if (again >= 0)
        close(again);
    if (!found)
        return -ENOENT;
    size_t length = strlen(seen);
    if (length >= size)
        return -ENAMETOOLONG;
    memcpy(out, seen, length + 1);
    return 0;
}

bool inside_others_proc(pid_t pid) {
    char path[64], self[16];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    if (stat("/proc/self/ns/pid", &ours) != 0 || stat(path, &theirs) != 0 ||
        (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev))
        return false;
    int root = inside_enter(pid, "root");
    int proc = root < 0 ? root : inside_open(root, "proc", O_DIRECTORY);
    /* "self" depends on the reader: it leads nowhere if the reader has no pid in that namespace. */
    bool seen = proc >= 0 && readlinkat(proc, "self", self, sizeof self) > 0;
    if (proc >= 0)
        close(proc);
    if (root >= 0)
        close(root);
    return seen;
}
