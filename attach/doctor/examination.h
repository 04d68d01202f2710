/*
 * Files:
 *   doctor            quick test whether a JVM can be attached, without touching it
 *   examination       list of all findings of the doctor command, and their common helpers
 *   examine           state shared by the checks, and a function for each subject
 *   examine_attach    checks of the attach mechanism and of where the agent is placed
 *   examine_cgroups   checks of the CPU and memory limits of the JVM's control groups
 *   examine_kernel    checks of the machine: kernel, clock, own user, agent library, files
 *   examine_perf      checks of perf_events on the machine: settings, counters, kernel names
 *   examine_process   checks of the JVM's process: alive, user, /proc access, namespaces
 *   examine_rights    checks of the JVM's seccomp filter, perf rights, limits and signals
 *   examine_security  checks of the machine's seccomp, Yama, hidepid and security modules
 *   examine_vm        checks of VM type, JDK version, C library and VM options
 *
 * What `jtop-prof doctor` checks: one entry for each thing on this machine or in one JVM that can
 * prevent a profile or make it poorer. The target is not touched: the checks read files of /proc
 * and /sys, and whatever has to be tried is tried in a process of our own.
 *
 * The topics of async-profiler's troubleshooting page (README of 1.5, docs/Troubleshooting.md of
 * 4.x), and the check that covers each of them:
 *
 *   perf_event mmap failed                     perf-mlock, memlock
 *   Failed to change credentials               user
 *   Could not start attach mechanism: socket deleted   attach-listener
 *     DisableAttachMechanism                   attach-mechanism
 *     another /tmp                             tmp, namespaces
 *     busy, no safepoint                       process, safepoint
 *   Failed to inject / to load the library     agent-library, agent-place, libc, architecture
 *   Perf events unavailable: paranoid          perf-paranoid, perf-jvm
 *     seccomp                                  seccomp, jvm-seccomp, perf-open
 *     hypervisor without counters              perf-pmu
 *     not supported (WSL)                      kernel, perf-open
 *   No AllocTracer symbols                     vm-symbols
 *   VMStructs unavailable                      vm
 *   Could not parse symbols, OS bug            vm-library
 *   [frame_buffer_overflow]                    memory (the ring is of fixed size; drops are shown)
 *   Could not open output file                 output-directory
 *   MaxJavaStackTraceDepth                     stack-depth
 *   Too short interval                         perf-sample-rate
 *   DebugNonSafepoints                         debug-info
 *   127 frames of perf_events                  perf-max-stack
 *   Non-Java frames before Java frames         (--cstack vmx: nothing of the machine to check)
 *   Kernel symbols unavailable                 kptr-restrict
 *
 * Context: frontend only, any thread; takes some milliseconds.
 */
#ifndef JTOP_ATTACH_DOCTOR_EXAMINATION_H
#define JTOP_ATTACH_DOCTOR_EXAMINATION_H

#include "attach/find/jvm.h"

enum finding_level {
    FINDING_OK,
    FINDING_NOTE,    /* good to know */
    FINDING_WARNING, /* it works, but the profile is poorer */
    FINDING_FAILURE, /* it does not work */
};

struct finding {
    const char *id;    /* stable, for scripts: "perf-paranoid" */
    const char *title; /* what is checked, for users: at most FINDING_TITLE columns */
    enum finding_level level;
    bool machine;     /* about this machine, not about a JVM */
    char fact[480];   /* what was found: file, value, errno; one printable line */
    char remedy[320]; /* what to change; "" if nothing has to be changed */
};

/* Writes at most `cap` findings into `out`, in the order in which a profile meets them; returns
 * their number. `j` NULL: checks the machine only. `uid`: the user who would profile. `library`:
 * our agent's path as we see it; may be NULL. */
#define FINDINGS_MAX 64
#define FINDING_TITLE 16
int examine(const struct jvm *j, uid_t uid, const char *library, struct finding *out, int cap);

#endif
