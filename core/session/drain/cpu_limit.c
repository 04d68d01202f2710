#include "core/session/drain/cpu_limit.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether these are the counters of another group, or of a group that was created again. */
static bool is_other(const struct cgroup_cpu *was, const struct cgroup_cpu *now) {
    return !was->known || strcmp(was->path, now->path) != 0 || now->periods < was->periods ||
           now->throttled < was->throttled || now->throttled_ns < was->throttled_ns;
}

void cpu_limit_count(struct cpu_limit *l, const struct cgroup_cpu *now, struct session_cpu *out) {
    if (is_other(&l->now, now))
        l->first = l->now = *now;
    uint64_t periods = now->periods - l->now.periods;
    uint64_t throttled = now->throttled - l->now.throttled;
    *out = (struct session_cpu){
        .processors = out->processors,
        .known = now->known,
        .quota = now->quota,
        .periods = now->periods - l->first.periods,
        .throttled = now->throttled - l->first.throttled,
        .throttled_ns = now->throttled_ns - l->first.throttled_ns,
        .share = periods ? (double)throttled / (double)periods : 0,
    };
    out->share = out->share < 1 ? out->share : 1;
    snprintf(out->group, sizeof out->group, "%s", now->path);
    l->now = *now;
}

/* Returns the number of processors on which a process may run; 0: not known. */
static uint32_t processors_of(pid_t pid) {
    cpu_set_t set;
    if (!sched_getaffinity(pid, sizeof set, &set))
        return (uint32_t)CPU_COUNT(&set);
    long online = errno == EINVAL ? sysconf(_SC_NPROCESSORS_ONLN) : 0; /* more than the set holds */
    return online > 0 ? (uint32_t)online : 0;
}

bool cpu_limit_look(struct cpu_limit *l, pid_t pid, struct session_cpu *out) {
    struct cgroup_cpu now;
    out->processors = processors_of(pid);
    if (!l->group.pid)
        cgroup_open(&l->group, pid);
    if (cgroup_read(&l->group, &now))
        return false;
    cpu_limit_count(l, &now, out);
    return true;
}

void cpu_limit_end(struct cpu_limit *l) {
    cgroup_close(&l->group);
}
