#include "tui/model/machine_load.h"

#include "attach/proc/proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int read_process(pid_t pid, struct machine_load *l) {
    char text[1024];
    ssize_t n = proc_read(pid, "stat", text, sizeof text);
    char *behind = n > 0 ? strrchr(text, ')') : NULL; /* after the name, which may have ')' */
    return behind && sscanf(behind + 1,
                            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                            &l->user, &l->system) == 2
               ? 0
               : -1;
}

static int read_machine(struct machine_load *l) {
    uint64_t t[8] = {0}; /* user, nice, system, idle, iowait, irq, softirq, steal */
    FILE *f = fopen("/proc/stat", "re");
    if (!f)
        return -1;
    int n = fscanf(f,
                   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
    fclose(f);
    for (int i = 0; i < 8; i++) {
        l->total += t[i];
        l->machine += i == 3 || i == 4 ? 0 : t[i];
    }
    return n >= 4 ? 0 : -1;
}

static double share(uint64_t before, uint64_t now, uint64_t of) {
    double d = now > before ? (double)(now - before) / (double)of : 0;
    return d < 1 ? d : 1;
}

void machine_load_read(struct machine_load *l, pid_t pid, double *user, double *system,
                       double *machine) {
    struct machine_load now = {0}, before = *l;
    *user = *system = *machine = -1;
    if (read_machine(&now) < 0 || read_process(pid, &now) < 0)
        return;
    *l = now;
    if (!before.total || now.total <= before.total)
        return;
    uint64_t ticks = now.total - before.total;
    *user = share(before.user, now.user, ticks);
    *system = share(before.system, now.system, ticks);
    *machine = share(before.machine, now.machine, ticks);
}
