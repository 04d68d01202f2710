#include "attach/doctor/examine.h"

#include "attach/proc/cgroup.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_MB 8             /* plus as much again for tables, which need only a part of it */
#define NO_LIMIT (1ULL << 60) /* cgroup v1 reports a number near 2^63 when there is no limit */

static void check_cpu(struct examiner *x) {
    struct cgroup_cpu c;
    int rc = cgroup_cpu_read(x->jvm->pid, &c);
    if (rc < 0) {
        examine_add(x, "cpu-quota", "CPU quota", FINDING_NOTE,
                    "not known: cannot read the group of /proc/%d/cgroup: %s", (int)x->jvm->pid,
                    rc == -ENOENT ? "no cgroup file system mounted here contains it"
                                  : strerror(-rc));
        return;
    }
    if (!c.known || c.quota <= 0) {
        examine_add(x, "cpu-quota", "CPU quota", FINDING_OK,
                    c.known ? "none" : "no CPU control group");
        return;
    }
    unsigned percent = c.periods ? (unsigned)(100 * c.throttled / c.periods) : 0;
    struct finding *f = examine_add(
        x, "cpu-quota", "CPU quota", percent >= 10 ? FINDING_WARNING : FINDING_OK,
        "%.*f CPUs; throttled in %" PRIu64 " of %" PRIu64 " periods, %.1f s in all (%s)",
        c.quota < 0.1 ? 3 : 2, c.quota, c.throttled, c.periods, (double)c.throttled_ns / 1e9,
        c.path[0] ? c.path : "its group");
    if (percent >= 10)
        examine_remedy(f, "the quota leaves it too little CPU time: an attach may be slow; raise "
                          "the quota (docker --cpus, resources.limits.cpu)");
}

/* Takes the path from a line "ID:CONTROLLERS:PATH" that is of `controller` ("" for v2). */
static bool take_group(const char *line, const char *controller, char *out, size_t size) {
    const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (!path)
        return false;
    size_t n = (size_t)(path - names - 1), want = strlen(controller);
    bool same = n == want && !strncmp(names + 1, controller, want);
    if (!same || strstr(path, ".."))
        return false;
    snprintf(out, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
    return true;
}

static bool find_group(const char *text, const char *controller, char *out, size_t size) {
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (take_group(line, controller, out, size))
            return true;
    }
    return false;
}

/* Bytes; 0: no limit, or none that is visible from here. */
static uint64_t memory_limit(pid_t pid, char *path, size_t size) {
    static const struct {
        const char *controller, *mount, *file;
    } ways[] = {{"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                {"", "/sys/fs/cgroup", "memory.max"},
                {"", "/sys/fs/cgroup/unified", "memory.max"}};
    char text[8192], group[1024], line[64];
    if (proc_read(pid, "cgroup", text, sizeof text) <= 0)
        return 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!find_group(text, ways[i].controller, group, sizeof group))
            continue;
        snprintf(path, size, "%s%s/%s", ways[i].mount, group, ways[i].file);
        if (examine_line(path, line, sizeof line) == 0) {
            uint64_t n = strtoull(line, NULL, 10);
            return n < NO_LIMIT ? n : 0;
        }
    }
    return 0;
}

static void check_memory(struct examiner *x) {
    char path[1200] = "";
    uint64_t limit = memory_limit(x->jvm->pid, path, sizeof path);
    if (!limit) {
        examine_add(x, "memory", "memory limit", FINDING_OK, "none that is visible from here");
        return;
    }
    uint64_t mb = limit >> 20, used = x->jvm->rss_bytes >> 20;
    bool little = mb < used + UINT64_C(2) * RING_MB;
    struct finding *f = examine_add(
        x, "memory", "memory limit", little ? FINDING_WARNING : FINDING_OK,
        "%" PRIu64 " MB, of which it uses %" PRIu64 "; the sample buffer takes %d (%.300s)", mb,
        used, RING_MB, path);
    if (little)
        examine_remedy(
            f,
            "the sample buffer counts as the JVM's memory: use a smaller one (-b 1m) or raise the "
            "limit");
}

void examine_cgroups(struct examiner *x) {
    check_cpu(x);
    check_memory(x);
}
