#include "attach/cgroup.h"

#include <errno.h>

int cgroup_cpu_read(pid_t pid, struct cgroup_cpu *out) {
    (void)pid;
    *out = (struct cgroup_cpu){0};
    return -ENOTSUP;
}

bool cgroup_parse_max(const char *text, double *quota) {
    (void)text, (void)quota;
    return false;
}

bool cgroup_parse_stat(const char *text, struct cgroup_cpu *out) {
    (void)text, (void)out;
    return false;
}
