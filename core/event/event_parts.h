/*
 * The parsers that event.c uses: each kind of event has a file of its own.
 *
 * Every parser gets the whole text, including its prefix. It fills all of `out` except `name`, and
 * returns 0 or -errno with a message and exit code 100.
 *
 * Context: as event.h.
 */
#ifndef JTOP_EVENT_EVENT_PARTS_H
#define JTOP_EVENT_EVENT_PARTS_H

#include "core/event/event.h"

/* The directories in which the kernel describes its events; tests use others. */
struct event_places {
    const char *devices;    /* /sys/bus/event_source/devices */
    const char *tracefs[2]; /* /sys/kernel/tracing, and its place in older kernels */
};

extern const struct event_places event_places;

/* As event_parse, with the kernel's descriptions in other directories. */
int event_parse_in(const struct event_places *places, const char *text,
                   struct wire_engine_request *out, struct err *e);

/* PERF_TYPE_SOFTWARE, _HARDWARE, _HW_CACHE and raw events by name. False: not one of them. */
bool event_perf_parse(const char *text, struct wire_engine_request *out);
/* Name `i` of those tables, including aliases; NULL after the last. */
const char *event_perf_name(size_t i);

/* "cpu/event=0x3c,umask=1/" */
int event_pmu_parse(const struct event_places *places, const char *text,
                    struct wire_engine_request *out, struct err *e);

/* "trace:314", and "sched:sched_switch" */
int event_trace_id_parse(const char *text, struct wire_engine_request *out, struct err *e);
int event_tracepoint_parse(const struct event_places *places, const char *text,
                           struct wire_engine_request *out, struct err *e);

/* kprobe:, kretprobe:, uprobe:, uretprobe: */
int event_probe_parse(const struct event_places *places, const char *text,
                      struct wire_engine_request *out, struct err *e);

/* mem:, and a bare function. */
int event_breakpoint_parse(const char *text, struct wire_engine_request *out, struct err *e);
int event_function_parse(const char *text, struct wire_engine_request *out, struct err *e);

/* "pkg.Class.method[(signature)][:threshold]", `*` for any characters of a name */
int event_method_parse(const char *text, struct wire_engine_request *out, struct err *e);

/* Reads the number in a file of sysfs or tracefs. -errno; -EINVAL: not a number. */
int event_read_number(const char *path, uint64_t *out);
/* Parses a whole text as a number, decimal or 0x…. */
bool event_number(const char *text, uint64_t *out);

/* Cuts "func+0x12" at the plus sign and parses the offset after it; 0 without a sign. -EINVAL: not
 * a number. */
int event_cut_offset(char *text, uint64_t *offset);

/* Makes the message "event TEXT: …". Returns -code; exit code 100. */
int event_wrong(struct err *e, int code, const char *text, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
