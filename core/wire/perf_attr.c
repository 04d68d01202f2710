#include "core/wire/perf_attr.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPU_INTERVAL 10000000u /* ns */

static int read_number(const char *path, int missing) {
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return missing;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return missing;
    text[n] = '\0';
    return atoi(text);
}

/* Tries the most common counter; a machine that has any counter has this one. */
static bool has_hardware(void) {
    struct perf_event_attr a = {.size = sizeof a,
                                .type = PERF_TYPE_HARDWARE,
                                .config = PERF_COUNT_HW_CPU_CYCLES,
                                .disabled = 1,
                                .exclude_kernel = 1};
    long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0 || (errno != ENOENT && errno != EOPNOTSUPP && errno != ENODEV);
}

void perf_machine_read(struct perf_machine *m) {
    m->paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", -1);
    m->kprobe_type = (uint32_t)read_number("/sys/bus/event_source/devices/kprobe/type", 0);
    m->uprobe_type = (uint32_t)read_number("/sys/bus/event_source/devices/uprobe/type", 0);
    m->hardware = has_hardware();
}

static enum perf_kind software_kind(uint64_t config) {
    switch (config) {
    case PERF_COUNT_SW_CPU_CLOCK:
    case PERF_COUNT_SW_TASK_CLOCK:
        return PERF_CPU_CLOCK;
    case PERF_COUNT_SW_CONTEXT_SWITCHES:
    case PERF_COUNT_SW_CGROUP_SWITCHES:
        return PERF_SWITCHES;
    default:
        return PERF_SOFTWARE;
    }
}

/* A container may lack /sys, which has the types of probes. So the flag is checked first. */
enum perf_kind perf_kind(const struct wire_engine_request *q, const struct perf_machine *m) {
    if (q->event == WIRE_EVENT_CPU)
        return PERF_CPU_CLOCK;
    if (q->flags & WIRE_ENGINE_TEXT_CONFIG)
        return q->text[0] == '/' ? PERF_UPROBE : PERF_KPROBE;
    switch (q->perf.type) {
    case PERF_TYPE_SOFTWARE:
        return software_kind(q->perf.config);
    case PERF_TYPE_TRACEPOINT:
        return PERF_TRACEPOINT;
    case PERF_TYPE_BREAKPOINT:
        return PERF_BREAKPOINT;
    default:
        break;
    }
    if (m->kprobe_type && q->perf.type == m->kprobe_type)
        return PERF_KPROBE;
    if (m->uprobe_type && q->perf.type == m->uprobe_type)
        return PERF_UPROBE;
    return PERF_HARDWARE;
}

uint64_t perf_interval(const struct wire_engine_request *q, enum perf_kind kind) {
    uint64_t asked = q->interval;
    uint64_t min = perf_kind_interval_min(kind);
    if (!asked)
        asked = q->event == WIRE_EVENT_CPU ? CPU_INTERVAL : 1;
    return asked > min ? asked : min;
}

void perf_attr_fill(struct perf_event_attr *a, const struct wire_engine_request *q) {
    memset(a, 0, sizeof *a);
    a->size = sizeof *a;
    if (q->event == WIRE_EVENT_CPU) {
        a->type = PERF_TYPE_SOFTWARE;
        a->config = PERF_COUNT_SW_CPU_CLOCK;
    } else {
        a->type = q->perf.type;
        a->bp_type = q->perf.bp_type;
        a->config = q->perf.config;
        a->config1 = q->perf.config1;
        a->config2 = q->perf.config2;
        if (q->flags & WIRE_ENGINE_TEXT_CONFIG)
            a->config1 = (uint64_t)(uintptr_t)q->text;
    }
    a->sample_period = q->interval;
    a->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
    a->exclude_callchain_user = 1; /* the walker does this better */
    /* Excluding the kernel, which does not run the program's code, lets every user have such a
     * breakpoint. */
    bool in_program = a->type == PERF_TYPE_BREAKPOINT && a->bp_type == HW_BREAKPOINT_X &&
                      q->perf.config1 < UINT64_C(1) << 56;
    a->exclude_kernel = in_program || q->flags & WIRE_ENGINE_ALL_USER;
    a->exclude_user = (q->flags & WIRE_ENGINE_ALL_KERNEL) != 0;
    a->exclude_hv = a->exclude_kernel;
    a->disabled = 1;
    a->wakeup_events = 1;
}

bool perf_attr_trap(struct perf_event_attr *a, uint64_t data) {
#ifdef PERF_ATTR_SIZE_VER7 /* Linux 5.13 */
    a->sigtrap = 1;
    a->remove_on_exec = 1;
    a->sig_data = data;
    a->sample_type |= PERF_SAMPLE_TIME;
    a->use_clockid = 1;
    a->clockid = CLOCK_MONOTONIC;
    a->wakeup_events = 0; /* waking costs an interrupt more, which the processor sends itself */
    return true;
#else
    (void)a, (void)data;
    return false;
#endif
}

/* Reasons. */

#define NO_PMU "no PMU: this CPU, or its hypervisor, offers no hardware counters"

struct line {
    char *text;
    size_t bytes;
};

static __attribute__((format(printf, 2, 3))) void say(struct line to, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(to.text, to.bytes, format, list);
    va_end(list);
}

/* The highest kernel.perf_event_paranoid at which the kernel allows every user to do it (source:
 * perf_event_open, perf_allow_kernel). */
static int paranoid_max(const struct wire_engine_request *q) {
    return q->flags & WIRE_ENGINE_ALL_USER ? 2 : 1;
}

static void say_denied(struct line to, const struct wire_engine_request *q,
                       const struct perf_machine *m, enum perf_kind kind) {
    int max = paranoid_max(q);
    bool in_kernel = kind == PERF_TRACEPOINT || kind == PERF_SWITCHES;
    if (kind == PERF_HARDWARE && !m->hardware)
        say(to, NO_PMU);
    else if (kind == PERF_KPROBE || kind == PERF_UPROBE)
        say(to, "denied: probes need CAP_PERFMON or root in the JVM");
    else if (m->paranoid <= max)
        say(to, "denied, though kernel.perf_event_paranoid is %d: by a security module?",
            m->paranoid);
    else if (q->event == WIRE_EVENT_CPU)
        say(to, "denied, kernel.perf_event_paranoid is %d (kernel stacks: <= 1)", m->paranoid);
    else if (max == 1 && m->paranoid == 2 && !in_kernel)
        say(to, "denied, kernel.perf_event_paranoid is 2: try --all-user, or set it to 1");
    else
        say(to, "denied, kernel.perf_event_paranoid is %d: it must be <= %d", m->paranoid, max);
}

static void say_absent(struct line to, const struct wire_engine_request *q,
                       const struct perf_machine *m, enum perf_kind kind, int error) {
    switch (kind) {
    case PERF_HARDWARE:
        if (!m->hardware)
            say(to, NO_PMU);
        else if (q->perf.type >= PERF_TYPE_MAX && error == ENOENT)
            say(to, "this machine has no PMU of type %u", q->perf.type);
        else
            say(to, "this CPU's PMU has no such event, or cannot sample it");
        return;
    case PERF_TRACEPOINT:
        say(to, "this kernel has no tracepoint %llu", (unsigned long long)q->perf.config);
        return;
    case PERF_BREAKPOINT:
        say(to, "this CPU, or its hypervisor, has no hardware breakpoints");
        return;
    case PERF_KPROBE:
        say(to, "this kernel has no function of that name that can be probed");
        return;
    case PERF_UPROBE:
        say(to, "the JVM sees no such file");
        return;
    default:
        say(to, "this kernel has no such event");
    }
}

static void say_invalid(struct line to, const struct wire_engine_request *q, enum perf_kind kind) {
    switch (kind) {
    case PERF_HARDWARE:
        say(to, "its PMU can only count, not sample, or lacks these settings (EINVAL)");
        return;
    case PERF_TRACEPOINT:
        say(to, "this kernel has no tracepoint %llu, or perf cannot use it",
            (unsigned long long)q->perf.config);
        return;
    case PERF_BREAKPOINT:
        say(to, "the CPU cannot watch %llu bytes at 0x%llx (alignment, access)",
            (unsigned long long)q->perf.config2, (unsigned long long)q->perf.config1);
        return;
    case PERF_KPROBE:
    case PERF_UPROBE:
        say(to, "there is no instruction at this place that can be probed");
        return;
    default:
        say(to, "this kernel does not accept these settings (EINVAL)");
    }
}

void perf_reason(const struct wire_engine_request *q, const struct perf_machine *m, int error,
                 char *why, size_t why_bytes) {
    enum perf_kind kind = perf_kind(q, m);
    struct line to = {why, why_bytes};
    why[0] = '\0';
    if (q->flags & WIRE_ENGINE_TARGET_CPU && (error == EINVAL || error == ENODEV)) {
        say(to, "processor %d is not online, or the event cannot be bound to it", q->cpu);
        return;
    }
    switch (error) {
    case EACCES:
        say_denied(to, q, m, kind);
        return;
    case EPERM:
        if (kind == PERF_BREAKPOINT)
            say(to, "denied: a breakpoint in the kernel needs CAP_SYS_ADMIN in the JVM");
        else
            say(to, "denied: a container's seccomp filter, or CAP_PERFMON missing (paranoid %d)",
                m->paranoid);
        return;
    case ENOSYS:
        say(to, "this kernel has no perf_event_open, or a seccomp filter hides it");
        return;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        say_absent(to, q, m, kind, error);
        return;
    case EINVAL:
    case EILSEQ:
        say_invalid(to, q, kind);
        return;
    case ENOSPC:
    case EBUSY:
        if (kind == PERF_BREAKPOINT)
            say(to, "all hardware breakpoints are taken (a debugger?)");
        else
            say(to, "the PMU is in use by another tool (errno %d)", error);
        return;
    case EMFILE:
    case ENFILE:
        say(to, "no descriptors left, and every thread needs one (errno %d)", error);
        return;
    case E2BIG:
        say(to, "this kernel is too old for it");
        return;
    default:
        say(to, "perf_event_open failed with errno %d", error);
    }
}
