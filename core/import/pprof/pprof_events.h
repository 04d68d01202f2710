/*
 * Files:
 *   import_pprof  pprof importer: reads profile.proto, plain or gzipped
 *   pprof_bytes   reading of the top-level protobuf fields of a pprof file
 *   pprof_events  mapping of pprof sample types to events, weights and counts
 *   pprof_names   strings, functions and locations of a pprof file, as frames
 *
 * Maps the values of a pprof sample to our events, each with a weight and a count.
 *
 *      samples/count cpu/nanoseconds                         cpu
 *      alloc_objects alloc_space inuse_objects inuse_space   alloc, and which part of it is alive
 *      contentions/count delay/nanoseconds                   lock
 *      goroutine/count                                       an event of that name
 *
 * Names are compared without case, and '-' equals '_'. If more is alive than was allocated, as in
 * the difference of two profiles, the two are separate events.
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
    char name[64];        /* "": the event's own name */
    int weight, count;    /* indexes of values; -1: no such value */
    int live, live_count; /* indexes of the values for what is still alive; -1: not known */
    uint64_t factor;      /* multiplying the weight by it gives nanoseconds or bytes */
};

struct pprof_events {
    struct pprof_event event[WIRE_EVENTS];
    int count;
    bool uncounted;    /* the counts of an event are too large, so only its weights are used */
    char left_out[96]; /* names of types that there was no room for; "": none */
};

/* Facts about the types, collected from all samples: one bit per type. */
struct pprof_survey {
    uint32_t some;   /* the value is not always 0 */
    uint32_t beyond; /* the value is too large to be a number of samples */
    bool apart; /* more is alive than was allocated: the two are of different times, so one is not a
                   part of the other */
};

/* Returns the factor that turns a number of this unit into nanoseconds or bytes; 1 if the unit is
 * neither. */
uint64_t pprof_unit_factor(struct wire_text unit);

/* Reports whether the type has this name; `word` is in lower case and uses '_'. */
bool pprof_type_is(const struct pprof_type *t, const char *word);

/* Finds the events: at least one, if there is a type. Types whose values are 0 in all samples are
 * left out. */
void pprof_events_find(const struct pprof_type *type, int types, const struct pprof_survey *survey,
                       struct pprof_events *out);

#endif
