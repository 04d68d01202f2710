#include "attach/proc/cgroup.h"

#include "attach/proc/printable.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    GROUP_TEXT = 16384, /* of a /proc/PID/cgroup */
    MOUNT_LINE = 4096,
    MOUNT_BYTES = 8 << 20, /* of a mountinfo that are searched */
    FILE_TEXT = 1024,
    LEVELS_MAX = 64,
    CACHED_TRIES = 4, /* others changing the tree make it fail */
};

static bool is_cgroup(int fd, bool v2) {
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 &&
           (unsigned long)fs.f_type == (v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC);
}

/* The directory of `name`'s first part, and the rest of it. */
static int step(int dir, const char **name) {
    char part[256];
    *name += strspn(*name, "/");
    size_t n = strcspn(*name, "/");
    if (n >= sizeof part)
        return -ENAMETOOLONG;
    memcpy(part, *name, n);
    part[n] = '\0';
    *name += n;
    *name += strspn(*name, "/");
    if (!strcmp(part, "..") || !n)
        return -EXDEV;
    int fd = openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Below the process's root. RESOLVE_CACHED: a mount point is always in the kernel's cache, and what is
 * not might be of a file system whose server lets us wait for ever. */
static int open_inside(pid_t pid, const char *point) {
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED};
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -errno;
    int fd = -1;
    for (int tries = 0; fd < 0 && tries < CACHED_TRIES; tries++)
        fd = (int)syscall(SYS_openat2, root, point, &how, sizeof how);
    int error = errno;
    close(root);
    return fd < 0 ? -error : fd;
}

/* As the process has it, or as we do (pid 0). */
static int open_point(pid_t pid, const char *point, bool v2) {
    int fd = pid ? open_inside(pid, point) : open(point, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && is_cgroup(fd, v2))
        return fd;
    if (fd >= 0)
        close(fd);
    return -ENOENT;
}

/* Lines of a mountinfo, longer ones left out; false at the end. */
struct lines {
    int fd;
    size_t from, end, total;
    bool skip; /* the rest of a long one */
    char text[MOUNT_LINE];
};

static bool next_line(struct lines *l, char **line) {
    for (;;) {
        char *begin = l->text + l->from;
        char *stop = memchr(begin, '\n', l->end - l->from);
        if (stop) {
            bool skip = l->skip;
            *stop = '\0';
            l->from = (size_t)(stop + 1 - l->text);
            l->skip = false;
            *line = begin;
            if (!skip)
                return true;
            continue;
        }
        memmove(l->text, begin, l->end - l->from);
        l->end -= l->from;
        l->from = 0;
        if (l->end == sizeof l->text) {
            l->skip = true;
            l->end = 0;
        }
        ssize_t n =
            l->total < MOUNT_BYTES ? read(l->fd, l->text + l->end, sizeof l->text - l->end) : 0;
        if (n <= 0)
            return false;
        l->end += (size_t)n;
        l->total += (size_t)n;
    }
}

/* The mount that has the group and most of those above it: 0 where there is one. */
static int find_mount(struct cgroup *g, pid_t pid, const char *group) {
    char path[40], root[CGROUP_PATH], point[CGROUP_PATH], *line;
    snprintf(path, sizeof path, pid ? "/proc/%d/mountinfo" : "/proc/self/mountinfo", (int)pid);
    struct lines l = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (l.fd < 0)
        return -errno;
    while (next_line(&l, &line)) {
        if (!cgroup_parse_mount(line, g->v2, root, point) || !cgroup_below(root, group) ||
            (g->mount >= 0 && strlen(root) >= strlen(g->root)))
            continue;
        int fd = open_point(pid, point, g->v2);
        if (fd < 0)
            continue;
        if (g->mount >= 0)
            close(g->mount);
        g->mount = fd;
        memcpy(g->root, root, sizeof root);
    }
    close(l.fd);
    return g->mount >= 0 ? 0 : -ENOENT;
}

static bool read_file(int dir, const char *name, char text[FILE_TEXT]) {
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, FILE_TEXT - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static double quota_of(int dir, bool v2) {
    char text[FILE_TEXT], period[FILE_TEXT];
    double quota = 0;
    if (v2 && read_file(dir, "cpu.max", text))
        cgroup_parse_max(text, &quota);
    else if (!v2 && read_file(dir, "cpu.cfs_quota_us", text) &&
             read_file(dir, "cpu.cfs_period_us", period))
        cgroup_parse_quota(text, period, &quota);
    return quota;
}

/* The end of a long path is what tells groups apart. */
static void name_group(struct cgroup_cpu *out, const char *path, size_t n) {
    const char *cut = n < sizeof out->path ? "" : "...";
    size_t room = sizeof out->path - 1 - strlen(cut);
    size_t skip = n > room ? n - room : 0;
    snprintf(out->path, sizeof out->path, "%s%.*s", cut, (int)(n - skip), path + skip);
    printable(out->path);
}

static void read_level(int dir, bool v2, const char *path, size_t n, struct cgroup_cpu *out) {
    char text[FILE_TEXT];
    double quota = quota_of(dir, v2);
    if (quota <= 0 || (out->quota > 0 && quota > out->quota))
        return;
    *out = (struct cgroup_cpu){.known = true, .quota = quota};
    if (read_file(dir, "cpu.stat", text))
        cgroup_parse_stat(text, out);
    name_group(out, n ? path : "/", n ? n : 1);
}

/* From the mount down to the group: each level may have a quota. */
static int read_levels(const struct cgroup *g, const char *group, struct cgroup_cpu *out) {
    const char *rest = cgroup_below(g->root, group);
    int dir = g->mount, result = 0;
    for (int level = 0; level < LEVELS_MAX; level++) {
        size_t n = (size_t)(rest - group);
        while (n > 1 && group[n - 1] == '/')
            n--;
        read_level(dir, g->v2, group, n, out);
        if (!*rest)
            break;
        int next = step(dir, &rest);
        if (dir != g->mount)
            close(dir);
        dir = next;
        if (next < 0 || !is_cgroup(next, g->v2)) {
            result = next < 0 ? next : -EXDEV;
            break;
        }
    }
    if (dir >= 0 && dir != g->mount)
        close(dir);
    out->known = result == 0;
    if (!out->path[0])
        name_group(out, group, strlen(group));
    return result;
}

void cgroup_open(struct cgroup *g, pid_t pid) {
    *g = (struct cgroup){.pid = pid, .mount = -1};
}

void cgroup_close(struct cgroup *g) {
    if (g->pid && g->mount >= 0)
        close(g->mount);
    *g = (struct cgroup){.mount = -1};
}

int cgroup_read(struct cgroup *g, struct cgroup_cpu *out) {
    char text[GROUP_TEXT], group[CGROUP_PATH];
    bool v2;
    *out = (struct cgroup_cpu){0};
    ssize_t n = proc_read(g->pid, "cgroup", text, sizeof text);
    if (n < 0)
        return (int)n;
    if (!cgroup_parse_group(text, &v2, group))
        return -ENOENT;
    if (g->mount >= 0 && (v2 != g->v2 || !cgroup_below(g->root, group))) { /* it was moved */
        close(g->mount);
        g->mount = -1;
    }
    g->v2 = v2;
    if (g->mount < 0 && (g->lost || (find_mount(g, 0, group) && find_mount(g, g->pid, group)))) {
        g->lost = true;
        return -ENOENT;
    }
    int result = read_levels(g, group, out);
    if (result)
        *out = (struct cgroup_cpu){0};
    return result;
}

int cgroup_cpu_read(pid_t pid, struct cgroup_cpu *out) {
    struct cgroup g;
    cgroup_open(&g, pid);
    int result = cgroup_read(&g, out);
    cgroup_close(&g);
    return result;
}
