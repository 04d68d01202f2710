/*
 * Files:
 *   import_jfr   JFR importer: surveys all chunks, then reads their samples
 *   jfr_chunk    one chunk of a JFR file: header, events, constants
 *   jfr_cursor   low-level reading of the numbers and strings of a JFR file
 *   jfr_events   JFR event types that are read, what they become, and settings
 *   jfr_live     matching of live-object events with the allocations they come from
 *   jfr_samples  conversion of a chunk's events into records, in order of time
 *   jfr_stack    conversion of a chunk's stacks, threads and classes, each once
 *   jfr_types    type descriptions from a chunk's metadata, and reading of values
 *
 * The events that are read, and what the file states about its recording.
 *
 *      in the file                                  becomes        its weight
 *      jdk.ExecutionSample                          cpu (1)        the sampling period (2)
 *      jdk.CPUTimeSample (JDK 25)                   cpu            its own period
 *      profiler.EventSample (ours)                  its own (7)    its weight
 *      jdk.NativeMethodSample                       native (3)     1
 *      profiler.WallClockSample                     wall           samples * period (2)
 *      jdk.ObjectAllocationInNewTLAB, …OutsideTLAB  alloc          bytes of the TLAB, of the object
 *      jdk.ObjectAllocationSample                   alloc (4)      its weight
 *      profiler.LiveObject                          alloc, live    bytes (5)
 *      jdk.JavaMonitorEnter, jdk.ThreadPark         lock           duration
 *      profiler.NativeLock                          nativelock     duration
 *      profiler.Malloc, .Free                       nativemem      bytes
 *      jdk.MethodTrace, profiler.MethodTrace        method         duration
 *      jdk.GCPhasePause, jdk.GarbageCollection (6)  a pause
 *
 * 1) If a setting names another sampled event (async-profiler's -e), that event. Not read if the
 *     file has jdk.CPUTimeSample, which covers the same time more exactly.
 * (2) From the settings in the chunk. Default: 20 ms as in the JDK's default.jfc, 10 ms if the
 *     JDK did not write the file, and 50 ms for wall.
 * (3) Threads in native code, running or waiting, so this is not CPU time. It is an event of
 *     its own, but it is not read if (1) or (7) takes its place.
 * (4) Not read if the file has one of the two events above, of which it is a selection.
 * (5) Stands for the allocation and for the object being alive. If the file also has allocation
 *     events, it shows which of their objects are alive (jfr_live.h).
 * (6) jdk.GarbageCollection is read only if the file has no jdk.GCPhasePause. The pause has its
 *     start and its sum of pauses.
 * (7) Other events that were sampled beside the execution samples of (1), by the name in each
 *     sample. If there are more names than places for them, only the first ones are read.
 * (8) In files of async-profiler before 4.0 with --wall, samples with STATE_DEFAULT are CPU time.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_EVENTS_H
#define JTOP_IMPORT_JFR_JFR_EVENTS_H

#include "core/import/jfr/jfr_chunk.h"

#define JFR_NAMES 3

enum jfr_row {
    JFR_EXECUTION,
    JFR_EXECUTION_WALL, /* wall clock samples, if the file has both kinds under one type (8) */
    JFR_CPU_TIME,
    JFR_NATIVE_METHOD,
    JFR_WALL,
    JFR_ALLOC_SAMPLE,
    JFR_ALLOC_IN,
    JFR_ALLOC_OUTSIDE,
    JFR_LIVE,
    JFR_ENTER,
    JFR_PARK,
    JFR_NATIVE_LOCK,
    JFR_MALLOC,
    JFR_METHOD,
    JFR_METHOD_TRACE,
    JFR_NAMED,                           /* event samples with the survey's first name, followed by
                                            those with the other names */
    JFR_SAMPLES = JFR_NAMED + JFR_NAMES, /* the rows before it are samples */
    JFR_FREE = JFR_SAMPLES,
    JFR_PAUSE,
    JFR_COLLECTION,
    JFR_TIMED, /* the rows before it are read in the order of time */
    JFR_SETTING = JFR_TIMED,
    JFR_RECORDING,
    JFR_JVM,
    JFR_PROPERTY,
    JFR_ROWS
};

/* The index of each field in an event; -1: the event does not have it. */
struct jfr_layout {
    const struct jfr_type *type; /* NULL: the chunk does not have this type */
    int start, duration, thread, stack, state, weight, samples, class, address, owner, name, unit;
};

struct jfr_events {
    struct jfr_layout row[JFR_ROWS];
    uint64_t period[JFR_ROWS]; /* ns, bytes or counts; 0: no setting gives it */
    bool jdk;                  /* the JDK wrote the file */
};

/* What all chunks together contain. */
struct jfr_survey {
    uint64_t count[JFR_ROWS];
    uint64_t period[JFR_ROWS]; /* from the first chunk that gives it */
    bool jdk;
    bool both;      /* jdk.ExecutionSample also contains wall clock samples */
    char event[64]; /* the event of jdk.ExecutionSample; "": CPU time */
    struct {
        char name[64];
        bool timed; /* its weights are ns */
    } named[JFR_NAMES];
    unsigned names;
    uint64_t start_ns, end_ns; /* time of day */
    uint32_t pid;
    char name[256], version[128];
};

/* Finds which types of the chunk belong to which rows, and stores the row in jfr_type.event. */
void jfr_events_bind(struct jfr_events *ev, struct jfr_chunk *k);

/* Counts the events, and reads the settings and the description of the VM. Stores the results in
 * `s` (unless it is NULL) and in `ev`. */
void jfr_events_survey(struct jfr_events *ev, struct jfr_chunk *k, struct jfr_survey *s);

/* Returns the row for the name of an event sample; JFR_ROWS: the name has no row. */
enum jfr_row jfr_survey_named(const struct jfr_survey *s, struct wire_text name);

/* Reports whether a row is read, and as which event of the wire format. */
bool jfr_survey_wants(const struct jfr_survey *s, enum jfr_row row, enum wire_event *event);

/* Returns the event's name, as used with -e. */
const char *jfr_survey_name(const struct jfr_survey *s, enum wire_event event);

/* Returns the state with this name; WIRE_THREAD_UNKNOWN for any other name, above all
 * STATE_DEFAULT. */
enum wire_thread_state jfr_thread_state(struct wire_text t);

/* Counts the execution samples of wall clock separately: those with a known state. The constants
 * must have been read. */
void jfr_events_survey_states(const struct jfr_events *ev, struct jfr_chunk *k,
                              struct jfr_survey *s);

/* Returns the period of one sample. `period` and `jdk` are either the chunk's or the survey's. */
uint64_t jfr_period(const struct jfr_survey *s, enum jfr_row row, const uint64_t *period, bool jdk);

#endif
