#include "attach/proc/proc.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAPS_MAX (64U << 20) /* bytes of a maps file that are searched */

static int open_file(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    return errno == ENOENT ? -ESRCH : -errno;
}

ssize_t proc_read(pid_t pid, const char *file, char *buf, size_t cap) {
    int fd = open_file(pid, file);
    if (fd < 0)
        return fd;
    ssize_t n = file_read(fd, buf, cap);
    close(fd);
    return n;
}

int proc_stat_parse(const char *text, struct proc_stat *out) {
    /* The name may hold anything, parentheses and newlines too: the last ')' ends it. */
    const char *open_paren = strchr(text, '(');
    const char *close_paren = strrchr(text, ')');
    if (!open_paren || !close_paren || close_paren < open_paren)
        return -EPROTO;
    size_t n = (size_t)(close_paren - open_paren - 1);
    if (n > sizeof out->comm - 1)
        n = sizeof out->comm - 1;
    memcpy(out->comm, open_paren + 1, n);
    out->comm[n] = '\0';
    utf8_clean(out->comm);

    uint64_t user = 0, system = 0;
    int got = sscanf(close_paren + 1,
                     " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                     " %*d %*d %*d %*d %" SCNu32 " %*d %" SCNu64,
                     &out->state, &user, &system, &out->threads, &out->start_ticks);
    out->cpu_ticks = user + system;
    return got == 5 ? 0 : -EPROTO;
}

int proc_stat(pid_t pid, struct proc_stat *out) {
    char text[1024];
    ssize_t n = proc_read(pid, "stat", text, sizeof text);
    return n < 0 ? (int)n : proc_stat_parse(text, out);
}

/* The text after "\nNAME:", or "". */
static const char *field(const char *status, const char *name) {
    const char *at = strstr(status, name);
    return at ? at + strlen(name) : "";
}

int proc_status(pid_t pid, struct proc_status *out) {
    char text[32768]; /* a user in thousands of groups makes it long */
    ssize_t n = proc_read(pid, "status", text, sizeof text);
    if (n < 0)
        return (int)n;
    *out = (struct proc_status){.tgid = pid, .inner_pid = pid};
    unsigned uid = 0, gid = 0;
    if (sscanf(field(text, "\nUid:"), "%*u %u", &uid) != 1 ||
        sscanf(field(text, "\nGid:"), "%*u %u", &gid) != 1)
        return -EPROTO;
    out->uid = uid;
    out->gid = gid;
    out->tgid = (pid_t)strtol(field(text, "\nTgid:"), NULL, 10);
    out->catches_quit = strtoull(field(text, "\nSigCgt:"), NULL, 16) & 1U << (SIGQUIT - 1);
    out->quit_pends = strtoull(field(text, "\nShdPnd:"), NULL, 16) & 1U << (SIGQUIT - 1);

    /* NSpid: one number per pid namespace, ours first (absent before Linux 4.1). */
    const char *at = field(text, "\nNSpid:");
    int levels = 0;
    for (char *end; *at && *at != '\n'; at = end) {
        long inner = strtol(at, &end, 10);
        if (end == at)
            break;
        if (inner > 0)
            out->inner_pid = (pid_t)inner;
        levels++;
        while (*end == '\t' || *end == ' ')
            end++;
    }
    out->pid_namespace = levels > 1;
    return 0;
}

uint64_t proc_rss_bytes(pid_t pid) {
    char text[128];
    uint64_t pages = 0;
    if (proc_read(pid, "statm", text, sizeof text) < 0 || sscanf(text, "%*u %" SCNu64, &pages) != 1)
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t proc_ticks_to_ns(uint64_t ticks) {
    return ticks * (1000000000U / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t proc_now_ns(void) {
    return clock_now_ns();
}

uint64_t proc_age_ms(uint64_t start_ticks) {
    uint64_t now = clock_ns(CLOCK_BOOTTIME), start = proc_ticks_to_ns(start_ticks);
    return now > start ? (now - start) / 1000000U : 0;
}

bool proc_other_mounts(pid_t pid) {
    char path[64];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    return stat("/proc/self/ns/mnt", &ours) == 0 && stat(path, &theirs) == 0 &&
           (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev);
}

static bool jvm_line(const char *line) {
    const char *lib = strstr(line, "/libjvm.so");
    if (lib && (lib[10] == '\0' || strcmp(lib + 10, " (deleted)") == 0))
        return true;
    return strstr(line, "/hsperfdata_") != NULL;
}

static bool j9_line(const char *line) {
    return strstr(line, "/libj9vm") != NULL;
}

/* 1 if there is such a line, 0, or -errno. */
static int search_maps(pid_t pid, bool (*is)(const char *line)) {
    int fd = open_file(pid, "maps");
    if (fd < 0)
        return fd;
    char buf[16384]; /* a line is little longer than PATH_MAX; the kernel escapes newlines */
    size_t len = 0, total = 0;
    int result = 0;
    while (result == 0 && total < MAPS_MAX) {
        ssize_t n = read(fd, buf + len, sizeof buf - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            result = n < 0 ? -errno : 0;
            break;
        }
        len += (size_t)n;
        total += (size_t)n;
        buf[len] = '\0';
        char *line = buf, *end;
        while (result == 0 && (end = strchr(line, '\n'))) {
            *end = '\0';
            result = is(line);
            line = end + 1;
        }
        len -= (size_t)(line - buf);
        memmove(buf, line, len);
        if (len == sizeof buf - 1)
            len = 0;
    }
    close(fd);
    return result;
}

int proc_maps_jvm(pid_t pid) {
    return search_maps(pid, jvm_line);
}

int proc_maps_j9(pid_t pid) {
    return search_maps(pid, j9_line);
}
