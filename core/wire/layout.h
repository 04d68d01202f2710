/*
 * Files:
 *   broker        messages by which the agent asks the reader to open perf_events
 *   handshake     how reader and agent find each other: options and result codes
 *   layout        layout of the shared memory: header, control block, ring, tables
 *   perf_attr     perf_event_open attributes for a request, and why an open failed
 *   record        record formats of the ring buffer and of recording files
 *   record_build  building of the records that hold names (methods, threads, …)
 *   ring_reader   reading end of the shared ring buffer, which checks all it reads
 *   ring_writer   lock-free writing end of the ring buffer, for many writers
 *   share_frame   message types and header on the socket of a shared session
 *   unwind        format of the stack unwind tables in the shared memory
 *   wire_names    printed names of failures, thread states, mechanisms and walkers
 *
 * The contract between the agent and its reader: one mapping, five parts.
 *
 *      0                4096              20480               20480 + ring_bytes
 *      ├─ header ────────┼─ control block ─┼─ ring data ────────┼─ unwind tables ─┼─ threads ─────┤
 *      │ magic, ABI,     │ request (reader │ records, 8-byte    │ see unwind.h:   │ one bit a tid │
 *      │ sizes; constant │ writes), status │ aligned, power of  │ the reader      │ that may be   │
 *      │ after creation  │ (agent writes), │ two bytes          │ writes          │ sampled: the  │
 *      │                 │ ring positions  │                    │                 │ reader writes │
 *
 * The last two parts take no memory until something is written into them.
 *
 * Little endian, fixed width, no pointers. Each process distrusts the other: it copies a field once
 * and checks the copy. An agent and a reader of the same abi_major understand each other: fields
 * are only appended, and unknown record types are skipped by their length.
 *
 * Context: plain data, may be included anywhere; every access to a field marked _Atomic is
 * lock-free.
 */
#ifndef JTOP_WIRE_LAYOUT_H
#define JTOP_WIRE_LAYOUT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC 0x464f5250504f544aULL                /* "JTOPPROF" */
#define WIRE_LIBRARY_MARK "JTOPPROF agent of jtop-prof" /* in the library, whatever its name */
#define WIRE_ABI_MAJOR 4u
#define WIRE_ABI_MINOR 2u

#define WIRE_MEMFD_NAME "jtop-prof" /* /proc/PID/fd shows it as "/memfd:jtop-prof (deleted)" */
#define WIRE_HEADER_BYTES 4096u
#define WIRE_CONTROL_BYTES 16384u
#define WIRE_RING_OFFSET (WIRE_HEADER_BYTES + WIRE_CONTROL_BYTES)
#define WIRE_RING_BYTES_MIN (64u << 10)
#define WIRE_RING_BYTES_DEFAULT (8u << 20)
#define WIRE_RING_BYTES_MAX (1u << 30)

#define WIRE_LEASE_MS 3000u      /* a reader that is silent this long is gone */
#define WIRE_HEARTBEAT_MS 250u   /* between two heartbeats of a reader */
#define WIRE_FRAMES_MAX 4096u    /* frames in one sample, kernel + native + Java */
#define WIRE_DEPTH_DEFAULT 2048u /* frames kept by default */
#define WIRE_STRING_MAX 1024u    /* longest name on the wire; longer ones are cut */
#define WIRE_UNWIND_BYTES (64u << 20)
#define WIRE_TID_MAX (1u << 22) /* PID_MAX_LIMIT of 64-bit kernels */
#define WIRE_THREADS_BYTES (WIRE_TID_MAX / 8)

/* What a sample means. The value is also the bit number in sets of events, and the place in
 * status.engine[]: each event is sampled by one engine at a time. */
enum wire_event {
    WIRE_EVENT_CPU = 0,    /* weight: ns of CPU time */
    WIRE_EVENT_WALL,       /* weight: ns of time, running or not */
    WIRE_EVENT_ALLOC,      /* weight: bytes of Java objects */
    WIRE_EVENT_LOCK,       /* weight: ns waited */
    WIRE_EVENT_NATIVEMEM,  /* weight: bytes that malloc and mmap gave */
    WIRE_EVENT_NATIVELOCK, /* weight: ns waited for pthread locks */
    WIRE_EVENT_PERF,       /* any perf event; weight: counts */
    WIRE_EVENT_METHOD,     /* weight: ns in the method; a sample is one call */
    WIRE_EVENTS            /* number of them */
};

/* How an engine takes its samples. */
enum wire_mechanism {
    WIRE_MECHANISM_AUTO = 0,  /* request only: the best one that works */
    WIRE_MECHANISM_PERF,      /* a perf_events counter per thread, with kernel stacks */
    WIRE_MECHANISM_CTIMER,    /* timer_create on each thread's CPU clock */
    WIRE_MECHANISM_ITIMER,    /* setitimer(ITIMER_PROF), process-wide */
    WIRE_MECHANISM_SAFEPOINT, /* GetAllStackTraces: biased, the last resort */
    WIRE_MECHANISM_SIGNAL,    /* wall: signals threads that ran, repeats samples of the others */
    WIRE_MECHANISM_JVMTI,     /* the VM's own events */
    WIRE_MECHANISM_TRAP,      /* breakpoints in the VM's code */
    WIRE_MECHANISM_IMPORTS,   /* the libraries' import tables */
    WIRE_MECHANISM_BYTECODE,  /* calls of the agent added to Java methods */
    WIRE_MECHANISM_FILE,      /* imported from another tool's file, which does not say how */
    WIRE_MECHANISM_WEIGHTS,   /* as FILE, with weights only: the samples have no counts */
    WIRE_MECHANISM_SIGTRAP,   /* as PERF, but the counter itself sends the signal: half the cost */
    WIRE_MECHANISMS
};

/* Whether samples have kernel stacks. */
static inline int wire_mechanism_is_perf(uint32_t mechanism) {
    return mechanism == WIRE_MECHANISM_PERF || mechanism == WIRE_MECHANISM_SIGTRAP;
}

/* What the agent is doing. */
enum wire_state {
    WIRE_STATE_IDLE = 0,  /* attached, no engine runs */
    WIRE_STATE_RUNNING,   /* engines run */
    WIRE_STATE_FAILED,    /* the last request failed: see status.error_code and message */
    WIRE_STATE_LEASE_OUT, /* the reader was silent too long: the agent has released everything */
    WIRE_STATE_DETACHED,  /* asked to detach: the agent has released everything */
    WIRE_STATE_EXITED,    /* the JVM ended in an orderly way; nothing more will come */
    WIRE_STATES
};

/* What the reader wants. */
enum wire_command {
    WIRE_COMMAND_NONE = 0,
    WIRE_COMMAND_START,  /* make the running engines be those of request.engine[] */
    WIRE_COMMAND_STOP,   /* stop all engines, stay attached */
    WIRE_COMMAND_DETACH, /* stop, release everything, end the agent's thread */
    WIRE_COMMANDS
};

/* Whether the agent reports the Java states of threads (WIRE_JAVA_STATE). It says why it cannot even
 * if no reader asks for them. */
enum wire_java_report {
    WIRE_JAVA_REPORT_OFF = 0, /* not requested, or this agent does not know these records */
    WIRE_JAVA_REPORT_ON,
    WIRE_JAVA_REPORT_NO_FIELD, /* this VM's java.lang.Thread does not have the field */
    WIRE_JAVA_REPORT_NO_TIDS,  /* this VM does not describe which native thread a Java thread is */
    WIRE_JAVA_REPORTS
};

/* Why no Java frame could be added; index of status.failed[], payload of error frames. */
enum wire_failure {
    WIRE_FAILURE_NONE = 0,
    WIRE_FAILURE_TRUNCATED,    /* deeper than requested: not an error, a cut */
    WIRE_FAILURE_UNKNOWN_PC,   /* the pc is in no code that is known */
    WIRE_FAILURE_NO_CALLER,    /* the caller's frame could not be found from here */
    WIRE_FAILURE_BAD_FRAME,    /* a frame's own data (method, scope, bci) was invalid */
    WIRE_FAILURE_UNMAPPED,     /* a guarded read hit unmapped memory */
    WIRE_FAILURE_NO_STRUCTS,   /* this VM does not describe itself */
    WIRE_FAILURE_NO_SCRATCH,   /* too many handlers at once */
    WIRE_FAILURE_METHODS_FULL, /* the table of methods is full */
    WIRE_FAILURE_SEGV_BLOCKED, /* the thread blocks SIGSEGV: reading would not be guarded */
    WIRE_FAILURE_NO_NAME,      /* the ring had no room for a method's names */
    WIRE_FAILURE_SMALL_STACK,  /* the handler runs on a small alternate stack: only the leaf */
    WIRE_FAILURE_LOOP,         /* the walk did not move towards the stack's base */
    WIRE_FAILURE_NO_JAVA,      /* only Java frames were requested, and there are none: no error */
    WIRE_FAILURE_SWITCHING,    /* a virtual thread was being mounted or unmounted */
    WIRE_FAILURE_ASGCT_GC,     /* AsyncGetCallTrace: a garbage collection is going on */
    WIRE_FAILURE_ASGCT_UNKNOWN_JAVA, /* its results unknown_Java, unknown_not_Java */
    WIRE_FAILURE_ASGCT_NOT_WALKABLE, /* its results not_walkable_Java, not_walkable_not_Java */
    WIRE_FAILURE_ASGCT_STATE,        /* any other of its results: thread exit, deoptimization … */
    WIRE_FAILURES
};

/* Whether a sample with this failure is less complete than the user asked for. */
static inline int wire_failure_is_error(uint32_t failure) {
    return failure != WIRE_FAILURE_TRUNCATED && failure != WIRE_FAILURE_NO_JAVA;
}

#define WIRE_FAILURE_SLOTS 32 /* in shared structs; leaves room for more reasons */

/* How stacks are walked. Java frames come from HotSpot's structures, except with ASGCT. */
enum wire_walk {
    WIRE_WALK_VM = 0, /* native frames by unwind tables, or by frame pointers if there are no
                         tables, up to the first Java frame; then Java frames only */
    WIRE_WALK_VMX,    /* native and Java frames interleaved down to the thread's entry */
    WIRE_WALK_FP,     /* as VM, by frame pointers only: nothing else is searched for */
    WIRE_WALK_DWARF,  /* as VM; the reader reports missing tables */
    WIRE_WALK_NO,     /* Java frames only: no native, no kernel frames */
    WIRE_WALK_ASGCT,  /* native frames by frame pointers, Java frames by AsyncGetCallTrace */
    WIRE_WALKS
};

/* Whether this walk uses unwind tables (core/wire/unwind.h). */
static inline int wire_walk_has_tables(enum wire_walk walk) {
    return walk == WIRE_WALK_VM || walk == WIRE_WALK_VMX || walk == WIRE_WALK_DWARF;
}

enum wire_engine_flag {
    WIRE_ENGINE_ALL_USER = 1,     /* cpu, perf: leave out the kernel */
    WIRE_ENGINE_ALL_KERNEL = 2,   /* cpu, perf: leave out everything but the kernel */
    WIRE_ENGINE_LIVE = 4,         /* alloc: report when a sampled object is gone (WIRE_FREE) */
    WIRE_ENGINE_NO_FREE = 8,      /* nativemem: do not watch free() */
    WIRE_ENGINE_TLAB = 16,        /* alloc: one sample per new TLAB, at any interval (JDK 8) */
    WIRE_ENGINE_TEXT_CONFIG = 32, /* perf.config1 is the address of `text` in the agent's copy:
                                     a kprobe's function, a uprobe's file */
    WIRE_ENGINE_TARGET_CPU = 64,  /* cpu, perf: on the processor `cpu` only */
    WIRE_ENGINE_SIGTRAP = 128,    /* cpu: WIRE_MECHANISM_SIGTRAP is safe with this kernel */
};

/* Frames that are added on request. */
enum wire_feature {
    WIRE_FEATURE_VTABLE = 1,   /* the receiver's class, above a "vtable stub" or "itable stub" */
    WIRE_FEATURE_COMPTASK = 2, /* in compiler threads, the method that is being compiled */
    WIRE_FEATURE_PCADDR = 4,   /* the program counter, as the leaf */
};

/* Fields for perf_event_open (source: perf_event_open(2)). Of a breakpoint, config1 and config2 are
 * bp_addr and bp_len. */
struct wire_perf {
    uint32_t type;
    uint32_t bp_type;
    uint64_t config, config1, config2;
};

#define WIRE_TEXT_BYTES 1024u
#define WIRE_METHODS 16u

/* One engine that the reader requests. */
struct wire_engine_request {
    uint32_t event;        /* enum wire_event */
    uint32_t mechanism;    /* enum wire_mechanism */
    uint64_t interval;     /* ns, bytes or counts, by the event; 0: the event's default, which may
                              be every occurrence */
    uint32_t flags;        /* enum wire_engine_flag */
    int32_t cpu;           /* WIRE_ENGINE_TARGET_CPU */
    struct wire_perf perf; /* WIRE_EVENT_PERF */
    uint64_t address[2];   /* alloc on JDK 8: the VM's two functions that trace allocations */
    uint64_t every;        /* method: one sample per this many calls; 0, 1: all calls */
    char name[64];         /* the event as the user calls it: "page-faults"; NUL-terminated */
    char text[WIRE_TEXT_BYTES]; /* NUL-terminated; perf: see above; method: lines of
                                   "pkg.Class.method", "pkg.Class.method(I)V" or "… LEAST", where
                                   LEAST is the shortest call that counts, in ns; at most
                                   WIRE_METHODS lines */
};

/* The state of a requested engine; status.engine[event]. */
struct wire_engine_status {
    uint32_t event;
    uint32_t mechanism; /* in use; WIRE_MECHANISM_AUTO: not running */
    uint64_t interval;
    int32_t error;        /* errno where a requested engine cannot run, with `reason` */
    uint32_t biased;      /* 1: samples are taken at safepoints only */
    uint64_t samples;     /* since the engine started; the agent adds to it atomically */
    uint64_t dropped;     /* samples lost because the ring was full */
    uint64_t expected_ns; /* wall: time of all threads that has passed */
    uint64_t covered_ns;  /* wall: how much of expected_ns is in samples */
    uint64_t threads;     /* armed threads, for engines that arm each thread */
    char name[64];        /* as in the request */
    char reason[144]; /* why this mechanism, or why none; NUL-terminated; empty: the first choice */
};

/* Reader → agent. Write the fields, then increment `generation` (release) and futex-wake it. */
struct wire_request {
    _Atomic uint32_t generation; /* futex word; the agent's thread waits on it */
    _Atomic uint32_t heartbeat;  /* any change means that the reader is alive */
    uint32_t command;            /* enum wire_command */
    uint32_t depth;       /* frames kept per stack; of a deeper one depth - 1 and an error frame */
    uint32_t signal;      /* signal number of the CPU engines; 0: SIGPROF */
    uint32_t wall_signal; /* of the wall engine; 0: SIGVTALRM */
    uint32_t lease_ms;    /* 0: WIRE_LEASE_MS */
    uint32_t engines;     /* entries of engine[]; no two of the same event */
    uint32_t reader_done; /* set when the reader has written its files */
    uint32_t walk;        /* enum wire_walk; replaced by another one where it does not work */
    uint32_t precise;     /* 1: recompile hot methods that lack debug information */
    uint32_t all_or_none; /* 1: an engine that cannot run fails the request */
    uint32_t filtered;    /* 1: sample only threads whose bit is set in the mapping's last part */
    _Atomic uint32_t filters; /* incremented after bits were changed */
    /* Samples are taken only between a call of the function at window_begin (0: always) and a call
     * of the function at window_end (0: no end). With window_marks, samples are taken all the time,
     * and the windows are reported (WIRE_WINDOW). */
    uint32_t window_marks;
    uint32_t cut; /* N + 1: of a stack with `depth` frames or more, N are kept; 0: see depth */
    uint64_t window_begin, window_end;
    uint32_t features;            /* set of enum wire_feature */
    _Atomic uint32_t java_states; /* not 0: report Java states of threads, once a second what has
                                     changed. A new number asks for all of them again */
    uint64_t reserved[3];
    struct wire_engine_request engine[WIRE_EVENTS];
};

/* Agent → reader. */
struct wire_status {
    _Atomic uint32_t
        generation;         /* the request's generation that was carried out last; futex word */
    _Atomic uint32_t state; /* enum wire_state */
    int32_t error_code;     /* errno of the last failure, 0 for none */
    uint32_t engines;       /* set of the events that are being sampled */
    char walker[32];        /* the walker in use, such as "vm"; NUL-terminated */
    char message[256];      /* one line for people about the last failure */
    struct wire_engine_status engine[WIRE_EVENTS]; /* by event */
    _Atomic uint64_t signals;                      /* times a handler was entered while enabled */
    _Atomic uint64_t samples;                      /* samples committed to the ring */
    _Atomic uint64_t dropped;                      /* samples that found the ring full */
    _Atomic uint64_t dropped_weight;               /* their weight */
    _Atomic uint64_t failed[WIRE_FAILURE_SLOTS];   /* samples by the failure of their walk */
    _Atomic uint64_t handler_ns;                   /* CPU time spent in handlers and callbacks */
    _Atomic uint64_t agent_ns;                     /* CPU time of the agent's own threads */
    _Atomic uint64_t threads;                      /* threads alive */
    _Atomic uint64_t faults;                       /* guarded reads that hit unmapped memory */
    _Atomic uint64_t recompiled;                   /* methods recompiled for request.precise */
    _Atomic uint64_t recompile_ns;                 /* time the VM took to discard their old code */
    _Atomic uint64_t windows;                      /* windows entered so far */
    _Atomic uint32_t java_report;                  /* enum wire_java_report */
    _Atomic uint32_t discarded;                    /* samples of the handler itself, left out */
};

/* Positions in the ring count bytes since the beginning and never wrap (2^64). The place in the
 * ring is position & (ring_bytes - 1). The ring holds head - tail bytes. */
struct wire_positions {
    _Alignas(64) _Atomic uint64_t head; /* writers: next byte to reserve */
    _Alignas(64) _Atomic uint64_t tail; /* reader: next byte to read; all before it is zeroed */
    _Atomic uint64_t wiping; /* reader: end of what it is zeroing now. If a reader was killed, this
                                may be more than tail: the next reader finishes the work */
};

struct wire_header {
    uint64_t magic;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint64_t ring_bytes; /* power of two */
    uint32_t pid;        /* as the JVM sees itself */
    uint32_t reserved;
    uint64_t session;  /* the reader's number, given at attach, by which it finds its own mapping */
    uint64_t clock_ns; /* CLOCK_MONOTONIC at creation: the beginning of the stream's time */
};

struct wire_control {
    struct wire_request request;
    _Alignas(64) struct wire_status status;
    _Alignas(64) struct wire_positions positions;
};

/* The whole mapping as a struct. */
struct wire_mapping {
    union {
        struct wire_header header;
        uint8_t header_page[WIRE_HEADER_BYTES];
    };
    union {
        struct wire_control control;
        uint8_t control_page[WIRE_CONTROL_BYTES];
    };
    _Alignas(8) uint8_t ring[]; /* ring_bytes, then the unwind tables, then the threads' bits */
};

/* The whole mapping's size. */
static inline uint64_t wire_mapping_bytes(uint64_t ring_bytes) {
    return WIRE_RING_OFFSET + ring_bytes + WIRE_UNWIND_BYTES + WIRE_THREADS_BYTES;
}

static inline uint64_t wire_unwind_offset(uint64_t ring_bytes) {
    return WIRE_RING_OFFSET + ring_bytes;
}

/* Bit tid % 8 of byte tid / 8. */
static inline uint64_t wire_threads_offset(uint64_t ring_bytes) {
    return wire_unwind_offset(ring_bytes) + WIRE_UNWIND_BYTES;
}

static_assert(sizeof(struct wire_engine_request) == 1168, "wire ABI");
static_assert(sizeof(struct wire_engine_status) == 272, "wire ABI");
static_assert(sizeof(struct wire_request) == 112 + 1168 * WIRE_EVENTS, "wire ABI");
static_assert(offsetof(struct wire_control, status) % 64 == 0, "wire ABI");
static_assert(offsetof(struct wire_control, positions) == 12352, "wire ABI");
static_assert(sizeof(struct wire_control) <= WIRE_CONTROL_BYTES, "wire ABI");
static_assert(offsetof(struct wire_mapping, control) == WIRE_HEADER_BYTES, "wire ABI");
static_assert(offsetof(struct wire_mapping, ring) == WIRE_RING_OFFSET, "wire ABI");

#endif
