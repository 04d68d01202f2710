#include "attach/proc/cgroup.h"

#include "attach/proc/proc.h"
#include "core/base/file.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Parsers of the files about control groups. */

/* Parses the number in a file; only blanks may follow it. */
static bool number(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || errno || end[strspn(end, " \t\n")])
        return false;
    *out = n;
    return true;
}

static bool set_quota(int64_t us, int64_t period_us, double *quota) {
    if (us <= 0 || period_us <= 0)
        return false;
    *quota = (double)us / (double)period_us;
    return true;
}

bool cgroup_parse_max(const char *text, double *quota) {
    char first[24];
    size_t n = strcspn(text, " \t\n");
    int64_t us, period_us;
    *quota = 0;
    if (!n || n >= sizeof first || !number(text + n, &period_us) || period_us <= 0)
        return false;
    memcpy(first, text, n);
    first[n] = '\0';
    if (!strcmp(first, "max"))
        return true;
    return number(first, &us) && set_quota(us, period_us, quota);
}

bool cgroup_parse_quota(const char *quota_us, const char *period_us, double *quota) {
    int64_t us, period;
    *quota = 0;
    if (!number(quota_us, &us) || !number(period_us, &period) || period <= 0)
        return false;
    return us == -1 || set_quota(us, period, quota);
}

bool cgroup_parse_stat(const char *text, struct cgroup_cpu *out) {
    static const struct {
        const char *key;
        size_t at;
        uint64_t ns; /* ns per unit, if it is a time */
    } field[] = {
        {"nr_periods ", offsetof(struct cgroup_cpu, periods), 1},
        {"nr_throttled ", offsetof(struct cgroup_cpu, throttled), 1},
        {"throttled_usec ", offsetof(struct cgroup_cpu, throttled_ns), 1000}, /* v2 */
        {"throttled_time ", offsetof(struct cgroup_cpu, throttled_ns), 1},    /* v1 */
    };
    int found = 0;
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
            size_t n = strlen(field[i].key);
            if (strncmp(line, field[i].key, n) != 0 || line[n] < '0' || line[n] > '9')
                continue;
            uint64_t value = strtoull(line + n, NULL, 10);
            value = value < UINT64_MAX / field[i].ns ? value * field[i].ns : UINT64_MAX;
            memcpy((char *)out + field[i].at, &value, sizeof value);
            found++;
        }
    }
    return found >= 3;
}

/* Whether a comma-separated list has the word. The list ends at `stop`, a blank or the text's
 * end. */
static bool has_word(const char *list, const char *word, char stop) {
    size_t n = strlen(word);
    for (;;) {
        size_t len = 0;
        while (list[len] && !strchr(", \n", list[len]) && list[len] != stop)
            len++;
        if (len == n && !memcmp(list, word, n))
            return true;
        if (list[len] != ',')
            return false;
        list += len + 1;
    }
}

bool cgroup_parse_group(const char *text, bool *v2, char path[CGROUP_PATH]) {
    bool found = false;
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        const char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;
        if (!at || at > end)
            continue;
        bool unified = names + 1 == at && !strncmp(line, "0:", 2);
        size_t n = (size_t)(end - ++at);
        if ((!unified && !has_word(names + 1, "cpu", ':')) || *at != '/' || n >= CGROUP_PATH)
            continue;
        memcpy(path, at, n);
        path[n] = '\0';
        *v2 = unified;
        found = true;
        if (!unified)
            break;
    }
    return found;
}

/* Decodes a field of mountinfo, in which a blank is written \040. */
static bool unescape(const char *s, size_t n, char out[CGROUP_PATH]) {
    size_t used = 0;
    for (size_t i = 0; i < n; used++) {
        if (used == CGROUP_PATH - 1)
            return false;
        bool octal = s[i] == '\\' && n - i > 3 && s[i + 1] >= '0' && s[i + 1] <= '3' &&
                     s[i + 2] >= '0' && s[i + 2] <= '7' && s[i + 3] >= '0' && s[i + 3] <= '7';
        out[used] =
            octal ? (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0')) : s[i];
        i += octal ? 4 : 1;
        if (!out[used])
            return false;
    }
    out[used] = '\0';
    return true;
}

bool cgroup_parse_mount(const char *line, bool v2, char root[CGROUP_PATH],
                        char point[CGROUP_PATH]) {
    const char *field[5], *at = line;
    size_t length[5];
    for (int i = 0; i < 5; i++) { /* id, parent, device, root, mount point */
        field[i] = at;
        length[i] = strcspn(at, " \n");
        at += length[i];
        if (*at != ' ')
            return false;
        at++;
    }
    /* options, other fields, "-", type, source, options of the file system */
    const char *type = strstr(at - 1, " - "), *source = type ? strchr(type + 3, ' ') : NULL;
    const char *options = source ? strchr(source + 1, ' ') : NULL;
    if (!options || strncmp(type + 3, v2 ? "cgroup2 " : "cgroup ", v2 ? 8 : 7) != 0 ||
        (!v2 && !has_word(options + 1, "cpu", '\0')))
        return false;
    return unescape(field[3], length[3], root) && unescape(field[4], length[4], point) &&
           root[0] == '/' && point[0] == '/';
}

const char *cgroup_below(const char *root, const char *path) {
    size_t n = strcmp(root, "/") ? strlen(root) : 0;
    if (strncmp(root, path, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    path += n + strspn(path + n, "/");
    /* A path with "/.." or the like leads above the mount. */
    for (const char *up = path; (up = strstr(up, "..")); up += 2)
        if ((up == path || up[-1] == '/') && (!up[2] || up[2] == '/'))
            return NULL;
    return path;
}

enum {
    GROUP_TEXT = 16384, /* bytes of a /proc/PID/cgroup */
    MOUNT_LINE = 4096,
    MOUNT_BYTES = 8 << 20, /* bytes of a mountinfo that are searched */
    FILE_TEXT = 1024,
    LEVELS_MAX = 64,
    CACHED_TRIES = 4, /* a try fails if another process changes the tree */
};

static bool is_cgroup(int fd, bool v2) {
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 &&
           (unsigned long)fs.f_type == (v2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC);
}

/* Opens the directory of `name`'s first part, and moves `name` to the rest. */
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

/* Opens a path below the process's root. RESOLVE_CACHED: a mount point is always in the kernel's
 * cache; what is not cached might be on a file system whose server never answers. */
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

/* Opens the mount point as the process sees it, or as we do (pid 0). */
static int open_point(pid_t pid, const char *point, bool v2) {
    int fd = pid ? open_inside(pid, point) : open(point, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && is_cgroup(fd, v2))
        return fd;
    if (fd >= 0)
        close(fd);
    return -ENOENT;
}

/* Reads the lines of a mountinfo and leaves out longer ones; false at the end. */
struct lines {
    int fd;
    size_t from, end, total;
    bool skip; /* the next line is the rest of a long one */
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

/* Finds the mount that has the group and most of the groups above it. 0 or -errno. */
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
    return file_read_at(dir, name, O_NOFOLLOW, text, FILE_TEXT) > 0;
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

/* A long path is cut at its start, because its end distinguishes the groups. */
static void name_group(struct cgroup_cpu *out, const char *path, size_t n) {
    const char *cut = n < sizeof out->path ? "" : "...";
    size_t room = sizeof out->path - 1 - strlen(cut);
    size_t skip = n > room ? n - room : 0;
    snprintf(out->path, sizeof out->path, "%s%.*s", cut, (int)(n - skip), path + skip);
    utf8_clean(out->path);
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

/* Reads all levels from the mount down to the group: each one may have a quota. */
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
