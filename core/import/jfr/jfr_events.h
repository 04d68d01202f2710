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
 * The events that are read, and what the file says about its recording.
 *
 *      in the file                                  becomes        its weight
 *      jdk.ExecutionSample                          cpu (1)        the period of sampling (2)
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
 * (1) Where a setting says that another event was sampled (async-profiler's -e), that one. Not
 *     read where the file has jdk.CPUTimeSample: it is the same time once more, less exact.
 * (2) Of the settings in the chunk; else 20 ms as the JDK's default.jfc has it, 10 ms where the
 *     JDK did not write the file, and 50 ms for wall.
 * (3) Threads in native code, running or waiting: no CPU time. An event of its own, but where its
 *     place is taken by (1) or (7).
 * (4) Not read where the file has the other two: it is a choice of them.
 * (5) The allocation and its being alive at once; where the file has allocations too, it says
 *     which of them are alive (jfr_live.h).
 * (6) Where the file has none of the former: begin, and the sum of pauses.
 * (7) What else was sampled beside the execution samples of (1), by the name in each of them. Of
 *     more names than there are places for only the first are read.
 * (8) async-profiler before 4.0 with --wall: those with STATE_DEFAULT are of CPU time.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_EVENTS_H
#define JTOP_IMPORT_JFR_JFR_EVENTS_H

#include "core/import/jfr/jfr_chunk.h"

#define JFR_NAMES 3

enum jfr_row {
    JFR_EXECUTION,
    JFR_EXECUTION_WALL, /* those of wall clock, where the file has both under one type (8) */
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
    JFR_NAMED,                           /* event samples with the survey's first name, and so on */
    JFR_SAMPLES = JFR_NAMED + JFR_NAMES, /* those before it are samples */
    JFR_FREE = JFR_SAMPLES,
    JFR_PAUSE,
    JFR_COLLECTION,
    JFR_TIMED, /* those before it are read in the order of time */
    JFR_SETTING = JFR_TIMED,
    JFR_RECORDING,
    JFR_JVM,
    JFR_PROPERTY,
    JFR_ROWS
};

/* Where an event has what; -1: nowhere. */
struct jfr_layout {
    const struct jfr_type *type; /* NULL: the chunk does not have it */
    int start, duration, thread, stack, state, weight, samples, class, address, owner, name, unit;
};

struct jfr_events {
    struct jfr_layout row[JFR_ROWS];
    uint64_t period[JFR_ROWS]; /* ns, bytes or counts; 0: no setting says so */
    bool jdk;                  /* the JDK wrote it */
};

/* What all chunks together say. */
struct jfr_survey {
    uint64_t count[JFR_ROWS];
    uint64_t period[JFR_ROWS]; /* of the first chunk that says so */
    bool jdk;
    bool both;      /* jdk.ExecutionSample is of wall clock, too */
    char event[64]; /* what jdk.ExecutionSample is of; "": CPU time */
    struct {
        char name[64];
        bool timed; /* its weights are ns */
    } named[JFR_NAMES];
    unsigned names;
    uint64_t start_ns, end_ns; /* time of day */
    uint32_t pid;
    char name[256], version[128];
};

/* Finds out which types of the chunk are which rows, and marks them so (jfr_type.event). */
void jfr_events_bind(struct jfr_events *ev, struct jfr_chunk *k);

/* Counts the events, and reads the settings and what is said of the VM. Into `s` unless that is
 * NULL, and into `ev`. */
void jfr_events_survey(struct jfr_events *ev, struct jfr_chunk *k, struct jfr_survey *s);

/* Of an event sample's name; JFR_ROWS: it has no place. */
enum jfr_row jfr_survey_named(const struct jfr_survey *s, struct wire_text name);

/* Whether a row is read, and as which event of the wire. */
bool jfr_survey_wants(const struct jfr_survey *s, enum jfr_row row, enum wire_event *event);

/* The event's name, as after -e. */
const char *jfr_survey_name(const struct jfr_survey *s, enum wire_event event);

/* By its name; WIRE_THREAD_UNKNOWN for any other name, which is STATE_DEFAULT above all. */
enum wire_thread_state jfr_thread_state(struct wire_text t);

/* Counts execution samples of wall clock by themselves: those with a known state. The constants have
 * been read. */
void jfr_events_survey_states(const struct jfr_events *ev, struct jfr_chunk *k,
                              struct jfr_survey *s);

/* Of one sample; `period`: the chunk's or the survey's, `jdk` likewise. */
uint64_t jfr_period(const struct jfr_survey *s, enum jfr_row row, const uint64_t *period, bool jdk);

#endif
