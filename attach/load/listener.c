#include "attach/load/listener.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TEXT_MAX = 16 << 20,       /* bytes of a list of sockets that are read at most */
    DESCRIPTORS_MAX = 1 << 18, /* entries of /proc/PID/fd that are read, for all sockets together */
    LISTENS = 1 << 16,         /* __SO_ACCEPTCON in a socket's flags */
    FIRST_8 = 332,             /* first updates of JDK 8 and 11 that create a new socket */
    FIRST_11 = 13,
};

uint64_t listener_line(const char *line, pid_t inner_pid) {
    unsigned flags = 0;
    uint64_t inode = 0;
    int at = 0;
    if (sscanf(line, "%*[^:]: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags, &inode, &at) != 2 ||
        !(flags & LISTENS) || at == 0 || line[at] != '/')
        return 0;
    const char *name = strrchr(line + at, '/') + 1;
    char wanted[32];
    int n = snprintf(wanted, sizeof wanted, ".java_pid%d", (int)inner_pid);
    if (strncmp(name, wanted, (size_t)n) != 0)
        return 0;
    return name[n] == '\0' || strcmp(name + n, ".tmp") == 0 ? inode : 0;
}

/* Whether an entry of /proc/PID/fd is that socket. */
static bool is_socket(int dir, const char *name, uint64_t inode) {
    char link[64], wanted[64];
    ssize_t n = readlinkat(dir, name, link, sizeof link - 1);
    if (n <= 0)
        return false;
    link[n] = '\0';
    snprintf(wanted, sizeof wanted, "socket:[%" PRIu64 "]", inode);
    return strcmp(link, wanted) == 0;
}

/* Whether the process has the socket: any process may create a socket with such a name. True also
 * if that cannot be seen, or if `left` is used up. Uses the system call because readdir would
 * allocate. */
static bool has_socket(pid_t pid, uint64_t inode, int *left) {
    char path[64];
    _Alignas(struct dirent64) char entries[8192];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = dir < 0;
    while (!found) {
        long n = syscall(SYS_getdents64, dir, entries, sizeof entries);
        if (n <= 0) {
            found = n < 0;
            break;
        }
        for (long at = 0; at < n && !found;) {
            const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
            found = --*left < 0 || is_socket(dir, e->d_name, inode);
            at += e->d_reclen;
        }
    }
    if (dir >= 0)
        close(dir);
    return found;
}

/* Checks the whole lines in buf. Moves what follows them to buf's start and returns its length. */
static size_t look(char *buf, size_t len, pid_t pid, pid_t inner_pid, int *left, bool *found) {
    char *line = buf, *end;
    while (!*found && (end = memchr(line, '\n', len - (size_t)(line - buf)))) {
        *end = '\0';
        uint64_t inode = listener_line(line, inner_pid);
        *found = inode && has_socket(pid, inode, left);
        line = end + 1;
    }
    len -= (size_t)(line - buf);
    memmove(buf, line, len);
    return len;
}

bool listener_is_open(pid_t pid, pid_t inner_pid) {
    char path[64], buf[4096]; /* a line is a name of at most 108 bytes and a little more */
    snprintf(path, sizeof path, "/proc/%d/net/unix", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = false;
    int left = DESCRIPTORS_MAX;
    size_t len = 0, total = 0;
    while (fd >= 0 && !found && total < TEXT_MAX) {
        ssize_t n = read(fd, buf + len, sizeof buf - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        total += (size_t)n;
        len = look(buf, len + (size_t)n, pid, inner_pid, &left, &found);
        if (len == sizeof buf)
            len = 0;
    }
    if (fd >= 0)
        close(fd);
    return found;
}

bool listener_is_renewed(const char *vm_version) {
    unsigned major = 0, minor = 0, update = 0;
    int n = sscanf(vm_version, "%u.%u.%u", &major, &minor, &update);
    if (n < 1)
        return true;
    /* 25.412-b08 is a JDK 8; a JDK 25 has 25+36 or 25.0.3+9. */
    if (major == 25 && n == 2 && minor > 0)
        return minor >= FIRST_8;
    if (major == 11)
        return n == 3 && update >= FIRST_11;
    return major < 9 || major >= 14;
}
