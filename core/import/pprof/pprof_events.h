/*
 * Files:
 *   import_pprof  pprof importer: reads profile.proto, plain or gzipped
 *   pprof_bytes   reading of the top-level protobuf fields of a pprof file
 *   pprof_events  mapping of pprof sample types to events, weights and counts
 *   pprof_names   strings, functions and locations of a pprof file, as frames
 *
 * What the values of a pprof sample are: events of ours, each with a weight and a count.
 *
 *      samples/count cpu/nanoseconds                         cpu
 *      alloc_objects alloc_space inuse_objects inuse_space   alloc, and what of it is alive
 *      contentions/count delay/nanoseconds                   lock
 *      goroutine/count                                       an event of that name
 *
 * Case does not matter, and neither does '-' or '_'. Where more is alive than was allocated, as in the
 * difference of two profiles, both are events by themselves.
 *
 * Context: pure.
 */
#ifndef JTOP_IMPORT_PPROF_PPROF_EVENTS_H
#define JTOP_IMPORT_PPROF_PPROF_EVENTS_H

#include "core/import/emit.h"

#define PPROF_TYPES_MAX 32

struct pprof_type {
    struct wire_text type, unit;
};

struct pprof_event {
    enum wire_event event;
    char name[64];        /* "": the event's own */
    int weight, count;    /* indexes of values; -1: there is none */
    int live, live_count; /* of what is still alive; -1: not known */
    uint64_t factor;      /* of the weight, to make it nanoseconds or bytes */
};

struct pprof_events {
    struct pprof_event event[WIRE_EVENTS];
    int count;
    bool uncounted;    /* an event's counts are too large, and it has its weights only */
    char left_out[96]; /* types there was no room for; "": none */
};

/* What all samples say of the types: bits by type. */
struct pprof_survey {
    uint32_t some;   /* it is not always 0 */
    uint32_t beyond; /* it is too large for a number of samples */
    bool apart; /* more is alive than was allocated: of two times, so one is no part of the other */
};

/* What a number of that unit is multiplied with to be nanoseconds or bytes; 1 where it is neither. */
uint64_t pprof_unit_factor(struct wire_text unit);

/* Whether it is called so; `word` is in lower case, with '_'. */
bool pprof_type_is(const struct pprof_type *t, const char *word);

/* At least one, where there is a type. What is empty in all samples is left out. */
void pprof_events_find(const struct pprof_type *type, int types, const struct pprof_survey *survey,
                       struct pprof_events *out);

#endif
