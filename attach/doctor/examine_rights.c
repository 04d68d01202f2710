#include "attach/doctor/examine.h"

#include "attach/proc/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERF_KB_A_THREAD 8 /* kB: two pages, see engine_perf.c */

/* For perf_events, capabilities count in the first user namespace only. If the JVM's namespace
 * cannot be read, the JVM is assumed to be in the first one. */
static bool in_first_user_namespace(pid_t pid) {
    struct stat st;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    return stat(path, &st) != 0 || st.st_ino == 0xeffffffdU;
}

static void check_seccomp(struct examiner *x) {
    int mode = x->target.seccomp;
    char names[160];
    if (x->target_error) {
        examine_add(x, "jvm-seccomp", "its rights", FINDING_NOTE, "not known: /proc/%d/status: %s",
                    (int)x->jvm->pid, strerror(x->target_error));
        return;
    }
    examine_add(x, "jvm-seccomp", "its rights", FINDING_OK,
                "seccomp %s, %s, NoNewPrivs %d (/proc/%d/status)",
                mode == 0  ? "none"
                : mode < 0 ? "not known"
                           : "by a filter (2)",
                examine_capabilities(x->target.capabilities, names, sizeof names),
                x->target.no_new_privs, (int)x->jvm->pid);
}

/* Checks who can open perf_events: the JVM itself, or this process for it. */
static void check_perf(struct examiner *x) {
    bool able = (process_status_has(x->target.capabilities, CAPABILITY_PERFMON) ||
                 process_status_has(x->target.capabilities, CAPABILITY_SYS_ADMIN)) &&
                in_first_user_namespace(x->jvm->pid);
    bool jvm = able || (x->paranoid <= 1 && x->paranoid > -9);
    bool filtered = x->target.seccomp > 0;
    bool we =
        x->perf_error == 0 && (process_status_has(x->self.capabilities, CAPABILITY_PERFMON) ||
                               process_status_has(x->self.capabilities, CAPABILITY_SYS_ADMIN));
    static const char id[] = "perf-jvm", title[] = "perf in the JVM";
    struct finding *f;
    if (jvm && !filtered && !x->target_error) {
        examine_add(x, id, title, FINDING_OK, "the JVM may open perf_events itself (%s)",
                    able ? "by its capabilities" : "perf_event_paranoid is at most 1");
    } else if (we) {
        examine_add(x, id, title, FINDING_OK, "%s: this process opens perf_events for it",
                    filtered ? "a seccomp filter may deny it to the JVM"
                             : "the JVM does not have the right");
    } else if (jvm) {
        f = examine_add(x, id, title, FINDING_NOTE,
                        "the JVM has the right, but its seccomp filter may deny it (Seccomp: %d)",
                        x->target.seccomp);
        examine_remedy(f, "allow perf_event_open in its container's profile; else ctimer is used");
    } else {
        f = examine_add(
            x, id, title, FINDING_WARNING,
            "no kernel frames: perf_event_paranoid is %d%s, and neither the JVM nor this "
            "process may open perf_events",
            x->paranoid, x->paranoid == -9 ? " (not known)" : "");
        examine_remedy(f, "run %s, or sysctl kernel.perf_event_paranoid=1; else ctimer is used",
                       x->uid == 0 ? "with CAP_PERFMON (docker --cap-add PERFMON)" : "as root");
    }
}

/* Reads a limit from a text with lines such as "Max open files   1024   4096   files": the first
 * number, which is the soft limit. UINT64_MAX: unlimited. False: no such line. */
static bool find_limit(const char *text, const char *name, uint64_t *out) {
    const char *at = strstr(text, name);
    if (!at)
        return false;
    at += strlen(name);
    at += strspn(at, " ");
    *out = strncmp(at, "unlimited", 9) ? strtoull(at, NULL, 10) : UINT64_MAX;
    return true;
}

static void check_descriptors(struct examiner *x, uint64_t limit) {
    uint64_t threads = x->target.threads;
    bool few = limit != UINT64_MAX && threads > limit / 2;
    struct finding *f =
        examine_add(x, "jvm-descriptors", "its descriptors", few ? FINDING_WARNING : FINDING_OK,
                    "%llu for %u threads (Max open files of /proc/%d/limits)",
                    (unsigned long long)limit, (unsigned)threads, (int)x->jvm->pid);
    if (few)
        examine_remedy(f,
                       "perf_events would take half of them, so ctimer is used: raise its ulimit "
                       "-n for kernel frames");
}

static void check_memlock(struct examiner *x, uint64_t limit) {
    int error;
    long kb = examine_number("/proc/sys/kernel/perf_event_mlock_kb", 0, &error);
    uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), threads = x->target.threads;
    if (process_status_has(x->target.capabilities, CAPABILITY_IPC_LOCK) || x->paranoid == -1 ||
        limit == UINT64_MAX) {
        examine_add(x, "memlock", "locked memory", FINDING_OK, "no limit for perf_events");
        return;
    }
    uint64_t most = ((kb > 0 ? (uint64_t)kb : 0) * cpus + limit / 1024) / PERF_KB_A_THREAD;
    bool few = !error && threads > most;
    struct finding *f =
        examine_add(x, "memlock", "locked memory", few ? FINDING_WARNING : FINDING_OK,
                    "enough for at most %" PRIu64 " threads; the JVM has %" PRIu64
                    " (perf_event_mlock_kb %ld on %" PRIu64 " CPUs, Max locked memory %" PRIu64 ")",
                    most, threads, kb, cpus, limit);
    if (few)
        examine_remedy(f,
                       "sysctl kernel.perf_event_mlock_kb=%" PRIu64
                       ", or raise its ulimit -l: threads beyond the limit have no kernel frames",
                       threads * PERF_KB_A_THREAD / (cpus ? cpus : 1) + 512);
}

static void check_limits(struct examiner *x) {
    char text[4096];
    uint64_t limit;
    ssize_t n = proc_read(x->jvm->pid, "limits", text, sizeof text);
    if (n < 0) {
        examine_add(x, "jvm-descriptors", "its descriptors", FINDING_NOTE,
                    "/proc/%d/limits cannot be read: %s", (int)x->jvm->pid, strerror((int)-n));
        return;
    }
    if (find_limit(text, "Max open files", &limit))
        check_descriptors(x, limit);
    if (find_limit(text, "Max locked memory", &limit))
        check_memlock(x, limit);
}

static void check_signals(struct examiner *x) {
    static const struct {
        int number;
        const char *name, *event;
    } used[] = {{SIGPROF, "SIGPROF", "cpu"}, {SIGVTALRM, "SIGVTALRM", "wall"}};
    char caught[64] = "", blocked[64] = "";
    size_t c = 0, b = 0;
    if (x->target_error)
        return;
    for (size_t i = 0; i < 2; i++) {
        if (process_status_signal(x->target.caught, used[i].number))
            c += (size_t)snprintf(caught + c, sizeof caught - c, " %s (%s)", used[i].name,
                                  used[i].event);
        if (process_status_signal(x->target.blocked, used[i].number))
            b += (size_t)snprintf(blocked + b, sizeof blocked - b, " %s", used[i].name);
    }
    if (!c && !b && !x->maps.profiler[0]) {
        examine_add(x, "signals", "signals", FINDING_OK, "SIGPROF and SIGVTALRM are free");
        return;
    }
    struct finding *f = examine_add(x, "signals", "signals", b ? FINDING_WARNING : FINDING_OK,
                                    "%s%s%s%s%s%s (SigCgt, SigBlk of /proc/%d/status)",
                                    c ? "others are used because these are taken:" : "no handlers",
                                    caught, b ? "; blocked in its main thread:" : "", blocked,
                                    x->maps.profiler[0] ? "; another profiler is loaded: " : "",
                                    x->maps.profiler, (int)x->jvm->pid);
    if (b)
        examine_remedy(f, "use --signal with a signal that is not blocked");
}

static void check_label(struct examiner *x) {
    char label[200];
    ssize_t n = proc_read(x->jvm->pid, "attr/current", label, sizeof label);
    if (n <= 0 || !label[0] || label[0] == '\n')
        return; /* no security module sets labels */
    label[strcspn(label, "\n")] = '\0';
    bool free_of_it = !strcmp(label, "unconfined") || strstr(label, "unconfined_t");
    struct finding *f =
        examine_add(x, "label", "security label", free_of_it ? FINDING_OK : FINDING_NOTE,
                    "%s (/proc/%d/attr/current)", label, (int)x->jvm->pid);
    if (!free_of_it)
        examine_remedy(f, "its policy may forbid reading the agent's file: see the kernel's log");
}

void examine_rights(struct examiner *x) {
    check_seccomp(x);
    check_perf(x);
    check_limits(x);
    check_signals(x);
    check_label(x);
}
