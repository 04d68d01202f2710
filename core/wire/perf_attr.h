/*
 * The attributes of perf_event_open for a request, and what its errors mean.
 *
 * source: perf_event_open(2); kernel/events/core.c and kernel/trace/trace_event_perf.c, Linux 6.18
 *
 * Context: all functions are pure except perf_machine_read; the agent's thread.
 */
#ifndef JTOP_WIRE_PERF_ATTR_H
#define JTOP_WIRE_PERF_ATTR_H

#include "core/wire/layout.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#define PERF_TRAP_MARK 0x6a746f70u /* "jtop" */

/* The properties of the machine that decide about events. */
struct perf_machine {
    int paranoid;                      /* kernel.perf_event_paranoid; -1 where it cannot be read */
    uint32_t kprobe_type, uprobe_type; /* for perf_event_attr; 0: this kernel has none */
    bool hardware;                     /* the CPU has hardware counters */
};

enum perf_kind {
    PERF_CPU_CLOCK, /* software clocks */
    PERF_HARDWARE,  /* what a PMU counts */
    PERF_SOFTWARE,  /* the kernel's own counters: page faults, context switches … */
    PERF_SWITCHES,  /* those software events that come when a thread goes to sleep */
    PERF_TRACEPOINT,
    PERF_BREAKPOINT,
    PERF_KPROBE,
    PERF_UPROBE,
};

void perf_machine_read(struct perf_machine *m);

enum perf_kind perf_kind(const struct wire_engine_request *q, const struct perf_machine *m);

/* Whether an event of this kind is paused from its overflow to the end of the handler. This is
 * needed where the handler itself causes the event (time, cycles, instructions): with short periods
 * the thread could otherwise not advance, and only events of the handler are missed. The handler
 * hardly causes events of the other kinds, and every one of them counts: they are not paused, and
 * the handler empties the buffer. */
static inline bool perf_kind_pauses(enum perf_kind kind) {
    return kind <= PERF_HARDWARE;
}

static inline bool perf_kind_is_probe(enum perf_kind kind) {
    return kind == PERF_KPROBE || kind == PERF_UPROBE;
}

/* The shortest period that makes sense. For switches it is 2: the signal wakes the thread that is
 * about to sleep, and when it goes back to sleep, that must not be the next sample. */
static inline uint64_t perf_kind_interval_min(enum perf_kind kind) {
    return kind == PERF_CPU_CLOCK ? 10000 : kind == PERF_SWITCHES ? 2 : 1;
}

/* Returns the interval in use: the requested or default one, at least the shortest. */
uint64_t perf_interval(const struct wire_engine_request *q, enum perf_kind kind);

/* Fills the attributes of a disabled event whose samples have the counter's value and the kernel's
 * call chain. `q` is the run's own copy: the kernel reads its text when the event is opened. */
void perf_attr_fill(struct perf_event_attr *a, const struct wire_engine_request *q);

/* Makes an event of perf_attr_fill send SIGTRAP to the thread that it counts, at the moment when that
 * returns to the program, with `data` as its details. Such an event also notes the time
 * (CLOCK_MONOTONIC) of its samples, and never wakes a poll. False: too old a compiler's headers. */
bool perf_attr_trap(struct perf_event_attr *a, uint64_t data);

/* Returns the details for a thread of the JVM, by its number there. perf_is_trap: whether details
 * are of that kind. */
static inline uint64_t perf_trap_data(uint32_t tid) {
    return (uint64_t)PERF_TRAP_MARK << 32 | tid;
}

static inline bool perf_is_trap(uint64_t data) {
    return data >> 32 == PERF_TRAP_MARK;
}

/* Writes why perf_event_open failed with errno `error`, as one line without the event's name. */
void perf_reason(const struct wire_engine_request *q, const struct perf_machine *m, int error,
                 char *why, size_t why_bytes);

#endif
