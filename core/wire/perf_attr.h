/*
 * What perf_event_open is given for a request, and what its refusal means.
 *
 * source: perf_event_open(2); kernel/events/core.c and kernel/trace/trace_event_perf.c, Linux 6.18
 *
 * Context: pure functions but perf_machine_read; the agent's thread.
 */
#ifndef JTOP_WIRE_PERF_ATTR_H
#define JTOP_WIRE_PERF_ATTR_H

#include "core/wire/layout.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

/* What of the machine decides about events. */
struct perf_machine {
    int paranoid;                      /* kernel.perf_event_paranoid; -1 where it cannot be read */
    uint32_t kprobe_type, uprobe_type; /* of perf_event_attr; 0: this kernel has none */
    bool hardware;                     /* there are counters in the CPU at all */
};

enum perf_kind {
    PERF_CPU_CLOCK, /* software clocks */
    PERF_HARDWARE,  /* whatever a PMU counts */
    PERF_SOFTWARE,  /* the kernel's own counters: page faults, context switches … */
    PERF_SWITCHES,  /* of them, those that come when a thread goes to sleep */
    PERF_TRACEPOINT,
    PERF_BREAKPOINT,
    PERF_KPROBE,
    PERF_UPROBE,
};

void perf_machine_read(struct perf_machine *m);

enum perf_kind perf_kind(const struct wire_engine_request *q, const struct perf_machine *m);

/* Whether an event of this kind has to stand still from its overflow to the end of the handler.
 * Where the handler itself goes on causing it (time, cycles, instructions) nothing else lets the
 * thread come forward with short periods, and what it misses is the handler's own. All others it
 * hardly causes, and every single one counts: they go on, and the handler empties the buffer. */
static inline bool perf_kind_pauses(enum perf_kind kind) {
    return kind <= PERF_HARDWARE;
}

static inline bool perf_kind_is_probe(enum perf_kind kind) {
    return kind == PERF_KPROBE || kind == PERF_UPROBE;
}

/* The shortest period that makes sense. Of switches it is 2: the signal wakes the thread that is
 * about to sleep, and its going back to sleep must not be the next sample. */
static inline uint64_t perf_kind_interval_min(enum perf_kind kind) {
    return kind == PERF_CPU_CLOCK ? 10000 : kind == PERF_SWITCHES ? 2 : 1;
}

/* The interval in force. */
uint64_t perf_interval(const struct wire_engine_request *q, enum perf_kind kind);

/* Disabled; samples bring the counter's value and the kernel's call chain. `q` is the run's own
 * copy: the kernel reads its text when the event is opened. */
void perf_attr_fill(struct perf_event_attr *a, const struct wire_engine_request *q);

/* Why perf_event_open failed with errno `error`, as one line without the event's name. */
void perf_reason(const struct wire_engine_request *q, const struct perf_machine *m, int error,
                 char *why, size_t why_bytes);

#endif
