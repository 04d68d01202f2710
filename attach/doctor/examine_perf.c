#include "attach/doctor/examine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSCTL "/proc/sys/kernel/"

/* Opens a perf event of this thread and closes it at once; it is never started. 0, or the errno. */
static int try_event(uint32_t type, uint64_t config, bool kernel) {
    struct perf_event_attr a = {.size = sizeof a,
                                .type = type,
                                .config = config,
                                .sample_period = 10000000,
                                .disabled = 1,
                                .exclude_kernel = !kernel,
                                .exclude_hv = !kernel};
    long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

static void check_paranoid(struct examiner *x) {
    static const char path[] = SYSCTL "perf_event_paranoid";
    int error;
    long n = examine_number(path, -9, &error);
    x->paranoid = (int)n;
    if (error) {
        struct finding *f = examine_add(x, "perf-paranoid", "perf paranoid", FINDING_WARNING,
                                        "%s cannot be read: %s", path, strerror(error));
        examine_remedy(f, error == ENOENT
                              ? "this kernel is built without perf_events: ctimer is used"
                              : "the line perf_event_open shows whether perf_events work");
        return;
    }
    bool may = process_status_has(x->self.capabilities, CAPABILITY_PERFMON) ||
               process_status_has(x->self.capabilities, CAPABILITY_SYS_ADMIN);
    enum finding_level level = n <= 1 ? FINDING_OK : may ? FINDING_NOTE : FINDING_WARNING;
    struct finding *f =
        examine_add(x, "perf-paranoid", "perf paranoid", level, "%ld (%s)%s", n, path,
                    n > 1 && may ? "; this process may open perf_events anyway" : "");
    if (level == FINDING_WARNING)
        examine_remedy(f,
                       "for kernel frames: sysctl kernel.perf_event_paranoid=1, or run %s; "
                       "otherwise ctimer is used",
                       x->uid == 0 ? "with CAP_PERFMON" : "as root");
}

static void check_open(struct examiner *x) {
    x->perf_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true);
    if (!x->perf_error) {
        examine_add(x, "perf-open", "perf_event_open", FINDING_OK,
                    "an event cpu-clock with kernel stacks can be opened");
        return;
    }
    int user = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false);
    struct finding *f = examine_add(
        x, "perf-open", "perf_event_open", FINDING_WARNING,
        "an event cpu-clock with kernel stacks: %s (errno %d); of user code only: %s",
        strerror(x->perf_error), x->perf_error, user ? strerror(user) : "can be opened");
    if (x->perf_error == EACCES)
        examine_remedy(
            f, "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON; otherwise ctimer is used");
    else if (x->perf_error == EPERM || (x->perf_error == ENOSYS && x->self.seccomp > 0))
        examine_remedy(f, "a container's seccomp filter: allow perf_event_open in its profile, or "
                          "run on the host; otherwise ctimer is used");
    else if (x->perf_error == ENOSYS)
        examine_remedy(f, "this kernel has no perf_events (WSL?): ctimer is used");
    else
        examine_remedy(f, "ctimer is used, without kernel frames");
}

static void check_pmu(struct examiner *x) {
    int error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
    if (!error) {
        examine_add(x, "perf-pmu", "PMU", FINDING_OK, "hardware counters are available");
        return;
    }
    bool none = error == ENOENT || error == EOPNOTSUPP || error == ENODEV;
    struct finding *f =
        examine_add(x, "perf-pmu", "PMU", FINDING_NOTE, "cycles: %s (errno %d)%s", strerror(error),
                    error, none ? ": this CPU, or its hypervisor, offers no counters" : "");
    examine_remedy(f, none ? "cycles and cache-misses need counters, cpu does not"
                           : "cycles and cache-misses need counters: see the line perf_event_open");
}

static void check_number(struct examiner *x, const char *id, const char *title, const char *path,
                         long least, const char *remedy) {
    int error;
    long n = examine_number(path, 0, &error);
    if (error) {
        examine_add(x, id, title, FINDING_NOTE, "%s cannot be read: %s", path, strerror(error));
        return;
    }
    struct finding *f =
        examine_add(x, id, title, n < least ? FINDING_WARNING : FINDING_OK, "%ld (%s)", n, path);
    if (n < least)
        examine_remedy(f, "%s", remedy);
}

/* Whether addresses of kernel functions can be read. kptr_restrict, perf_event_paranoid and this
 * process's rights decide that together. */
static bool kernel_addresses(int *error) {
    char line[128];
    *error = -examine_line("/proc/kallsyms", line, sizeof line);
    return !*error && strtoull(line, NULL, 16) != 0;
}

static void check_kernel_names(struct examiner *x) {
    int error, unread;
    long n = examine_number(SYSCTL "kptr_restrict", -1, &error);
    bool there = kernel_addresses(&unread);
    struct finding *f =
        examine_add(x, "kptr-restrict", "kernel names", there ? FINDING_OK : FINDING_WARNING,
                    "kptr_restrict is %ld%s%s (" SYSCTL "kptr_restrict); /proc/kallsyms %s", n,
                    error ? ": " : "", error ? strerror(error) : "",
                    unread  ? strerror(unread)
                    : there ? "has addresses"
                            : "has zeroes for addresses");
    if (!there)
        examine_remedy(f,
                       "kernel frames appear as [kernel], without names: sysctl "
                       "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run %s",
                       x->uid == 0 ? "with CAP_SYSLOG" : "as root");
}

static void check_tracefs(struct examiner *x) {
    static const char *const places[] = {"/sys/kernel/tracing/events",
                                         "/sys/kernel/debug/tracing/events"};
    int error = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], R_OK | X_OK) == 0) {
            examine_add(x, "tracefs", "tracefs", FINDING_OK, "%s", places[i]);
            return;
        }
        error = i == 0 || errno != ENOENT ? errno : error;
    }
    struct finding *f =
        examine_add(x, "tracefs", "tracefs", FINDING_NOTE, "%s: %s", places[0], strerror(error));
    examine_remedy(f, "only tracepoints by name need it: mount -t tracefs tracefs "
                      "/sys/kernel/tracing, as root");
}

void examine_perf(struct examiner *x) {
    check_paranoid(x);
    check_open(x);
    check_pmu(x);
    check_number(x, "perf-mlock", "perf memory", SYSCTL "perf_event_mlock_kb", 16,
                 "each thread takes 8 kB of it: sysctl kernel.perf_event_mlock_kb=516");
    check_number(x, "perf-max-stack", "perf stack", SYSCTL "perf_event_max_stack", 32,
                 "kernel stacks are cut: sysctl kernel.perf_event_max_stack=127");
    check_number(x, "perf-sample-rate", "perf rate", SYSCTL "perf_event_max_sample_rate", 1000,
                 "the kernel lowered it because samples took long: sysctl "
                 "kernel.perf_event_max_sample_rate=100000, or a longer -i");
    check_kernel_names(x);
    check_tracefs(x);
}
