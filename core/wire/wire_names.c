#include "core/wire/wire_names.h"

#include <string.h>

const char *const wire_failure_name[WIRE_FAILURES] = {
    [WIRE_FAILURE_NONE] = "unknown",
    [WIRE_FAILURE_TRUNCATED] = "truncated",
    [WIRE_FAILURE_UNKNOWN_PC] = "unknown_pc",
    [WIRE_FAILURE_NO_CALLER] = "no_caller",
    [WIRE_FAILURE_BAD_FRAME] = "bad_frame",
    [WIRE_FAILURE_UNMAPPED] = "unmapped",
    [WIRE_FAILURE_NO_STRUCTS] = "no_structs",
    [WIRE_FAILURE_NO_SCRATCH] = "no_scratch",
    [WIRE_FAILURE_METHODS_FULL] = "methods_full",
    [WIRE_FAILURE_SEGV_BLOCKED] = "segv_blocked",
    [WIRE_FAILURE_NO_NAME] = "no_name",
    [WIRE_FAILURE_SMALL_STACK] = "small_stack",
    [WIRE_FAILURE_LOOP] = "loop",
    [WIRE_FAILURE_NO_JAVA] = "no_Java_frame",
    [WIRE_FAILURE_SWITCHING] = "switching_virtual_thread",
    [WIRE_FAILURE_ASGCT_GC] = "GC_active",
    [WIRE_FAILURE_ASGCT_UNKNOWN_JAVA] = "unknown_Java",
    [WIRE_FAILURE_ASGCT_NOT_WALKABLE] = "not_walkable_Java",
    [WIRE_FAILURE_ASGCT_STATE] = "unknown_state",
};

const char *const wire_walk_name[WIRE_WALKS] = {
    [WIRE_WALK_VM] = "vm",       [WIRE_WALK_VMX] = "vmx", [WIRE_WALK_FP] = "fp",
    [WIRE_WALK_DWARF] = "dwarf", [WIRE_WALK_NO] = "no",   [WIRE_WALK_ASGCT] = "asgct",
};

enum wire_walk wire_walk_by_name(const char *name) {
    uint32_t walk = 0;
    while (walk < WIRE_WALKS && strcmp(name, wire_walk_name[walk]) != 0)
        walk++;
    return (enum wire_walk)walk;
}

const char *const wire_state_name[WIRE_THREAD_STATES] = {
    [WIRE_THREAD_UNKNOWN] = "unknown", [WIRE_THREAD_RUNNING] = "running",
    [WIRE_THREAD_BLOCKED] = "blocked", [WIRE_THREAD_WAITING] = "waiting",
    [WIRE_THREAD_PARKED] = "parked",   [WIRE_THREAD_SLEEPING] = "sleeping",
    [WIRE_THREAD_POLL] = "poll",       [WIRE_THREAD_IO] = "io",
    [WIRE_THREAD_FUTEX] = "futex",     [WIRE_THREAD_DISK] = "disk",
    [WIRE_THREAD_OTHER] = "other",
};

const char *const wire_mechanism_name[WIRE_MECHANISMS] = {
    [WIRE_MECHANISM_AUTO] = "auto",           [WIRE_MECHANISM_PERF] = "perf",
    [WIRE_MECHANISM_CTIMER] = "ctimer",       [WIRE_MECHANISM_ITIMER] = "itimer",
    [WIRE_MECHANISM_SAFEPOINT] = "safepoint", [WIRE_MECHANISM_SIGNAL] = "signal",
    [WIRE_MECHANISM_JVMTI] = "jvmti",         [WIRE_MECHANISM_TRAP] = "trap",
    [WIRE_MECHANISM_IMPORTS] = "imports",     [WIRE_MECHANISM_BYTECODE] = "bytecode",
    [WIRE_MECHANISM_FILE] = "imported",       [WIRE_MECHANISM_WEIGHTS] = "weights",
    [WIRE_MECHANISM_SIGTRAP] = "perf-trap",
};

const char *const wire_java_name[WIRE_JAVA_STATES] = {
    [WIRE_JAVA_UNKNOWN] = "",
    [WIRE_JAVA_RUNNABLE] = "RUNNABLE",
    [WIRE_JAVA_BLOCKED] = "BLOCKED",
    [WIRE_JAVA_WAITING] = "WAITING",
    [WIRE_JAVA_TIMED_WAITING] = "TIMED_WAITING",
};
