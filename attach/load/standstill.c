#include "attach/load/standstill.h"

#include "attach/proc/proc.h"
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define V1_GROUPS "/sys/fs/cgroup/freezer"
#define V2_GROUPS "/sys/fs/cgroup"
#define HYBRID_GROUPS "/sys/fs/cgroup/unified"

/* Whether the controllers of a line "7:freezer:/docker/12ab" include the freezer. */
static bool has_freezer(const char *controllers, size_t len) {
    static const char name[] = "freezer";
    for (const char *end = controllers + len, *at = controllers; at < end;) {
        size_t n = strcspn(at, ",:");
        if (n == sizeof name - 1 && memcmp(at, name, n) == 0)
            return true;
        at += n + 1;
    }
    return false;
}

bool standstill_file(const char *line, char *out, size_t cap) {
    const char *controllers = strchr(line, ':');
    const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/' || strstr(path, "/.."))
        return false;
    size_t len = (size_t)(path - ++controllers), used = strcspn(++path, "\n");
    const char *groups = V1_GROUPS, *name = "freezer.state";
    if (len == 0) {
        groups = access(HYBRID_GROUPS, F_OK) == 0 ? HYBRID_GROUPS : V2_GROUPS;
        name = "cgroup.events";
    } else if (!has_freezer(controllers, len)) {
        return false;
    }
    int n = snprintf(out, cap, "%s%.*s/%s", groups, (int)used, path, name);
    return n > 0 && (size_t)n < cap;
}

static bool says_frozen(const char *path) {
    char text[256];
    (void)file_read_at(AT_FDCWD, path, O_NOFOLLOW, text, sizeof text);
    return strncmp(text, "FROZEN", 6) == 0 || strstr(text, "frozen 1") != NULL;
}

static bool is_frozen(pid_t pid) {
    char groups[8192], path[4096];
    if (proc_read(pid, "cgroup", groups, sizeof groups) <= 0)
        return false;
    for (const char *line = groups; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (standstill_file(line, path, sizeof path) && says_frozen(path))
            return true;
    }
    return false;
}

/* The process whose thread traces `pid`. */
static pid_t tracer_of(pid_t pid) {
    char text[8192];
    struct proc_status s;
    const char *at =
        proc_read(pid, "status", text, sizeof text) > 0 ? strstr(text, "\nTracerPid:") : NULL;
    pid_t tracer = at ? (pid_t)strtol(at + sizeof "\nTracerPid:" - 1, NULL, 10) : 0;
    return tracer > 0 && proc_status(tracer, &s) == 0 ? s.tgid : tracer;
}

enum standstill standstill_of(pid_t pid, pid_t *tracer) {
    struct proc_stat st;
    if (tracer)
        *tracer = 0;
    if (proc_stat(pid, &st) < 0)
        return STANDSTILL_NONE;
    if (st.state == 'T')
        return STANDSTILL_STOPPED;
    if (st.state == 't') {
        if (tracer)
            *tracer = tracer_of(pid);
        return STANDSTILL_TRACED;
    }
    return (st.state == 'S' || st.state == 'D') && is_frozen(pid) ? STANDSTILL_FROZEN
                                                                  : STANDSTILL_NONE;
}
