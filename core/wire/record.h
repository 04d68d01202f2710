/*
 * The records in the ring, and in a recording file: a header word, then fixed-width fields, then
 * frames or bytes. Every record is 8-byte aligned and a multiple of 8 bytes long.
 *
 *      bits 0-31  length in bytes, header included
 *      bits 32-47 type (enum wire_type)
 *      bit  63    busy: reserved by a writer, not yet committed (never seen in a recording)
 *
 * A header word of 0 has not been written yet.
 * A decoder checks the length against the type's smallest size, and every count against the length.
 * Strings are modified UTF-8 as in the VM, not NUL-terminated, and may be cut to WIRE_STRING_MAX
 * bytes.
 *
 * Context: plain data and pure functions, may be included anywhere, signal-safe.
 */
#ifndef JTOP_WIRE_RECORD_H
#define JTOP_WIRE_RECORD_H

#include "core/wire/layout.h"

enum wire_type {
    WIRE_PAD = 1, /* filler up to the end of the ring, or a record that failed half-way */
    WIRE_SAMPLE,
    WIRE_METHOD,     /* the names of a method, before or soon after the first sample that has it */
    WIRE_CLASS,      /* the name of a class */
    WIRE_THREAD,     /* a thread's name, at first sight and when it changes */
    WIRE_THREAD_END, /* the thread is gone; its tid may be used again */
    WIRE_STUB,       /* the name of a piece of generated code that is no method */
    WIRE_LIBRARY,    /* libraries were loaded or unloaded: read /proc/PID/maps again */
    WIRE_LOCK,       /* who waited for a lock, how long, and who held it */
    WIRE_LOG = 11,   /* a line for people; type 10 was never written */
    WIRE_REPEAT,     /* a thread's last sample of an event counts again: the thread has not moved */
    WIRE_FREE,       /* something with a live_id is gone */
    WIRE_PAUSE,      /* the VM stopped all Java threads */
    WIRE_WINDOW,     /* a window between calls of the functions request.window_begin and _end */
    WIRE_JAVA_STATE, /* a thread's java.lang.Thread.State now; never in a recording */
    /* Written by readers into recordings only: */
    WIRE_SYMBOL = 64, /* the name of a native or kernel address */
    WIRE_JVM,         /* what was recorded: pid, main class, version */
    WIRE_MARK,        /* engine, interval and counters at this point of the recording */
    WIRE_ENVIRONMENT, /* where and from what the recording was made, for people */
    WIRE_DEFLATE, /* only a header; everything after it is one zlib stream (RFC 1950) of records */
};

/* A frame is one word: type in bits 56-63; then either bci in 32-47 and method id in 0-31, or an
 * address in 0-55, or an enum wire_failure. */
enum wire_frame_type {
    WIRE_FRAME_INTERPRETED = 1,
    WIRE_FRAME_C1,
    WIRE_FRAME_C2,
    WIRE_FRAME_INLINED,       /* inlined into the compiled frame that follows */
    WIRE_FRAME_NATIVE_METHOD, /* a Java native method's wrapper: has a method id */
    WIRE_FRAME_NATIVE,        /* address in a mapped file */
    WIRE_FRAME_KERNEL,        /* address in the kernel */
    WIRE_FRAME_STUB,  /* address of the beginning of a routine or code blob, named by a WIRE_STUB */
    WIRE_FRAME_CLASS, /* class id: what was allocated, or the lock's class */
    WIRE_FRAME_ERROR, /* enum wire_failure */
    WIRE_FRAME_COMPILING,     /* a compiler thread's outermost frame: the method (id) it compiles */
    WIRE_FRAME_PC,            /* where the thread was interrupted */
    WIRE_FRAME_CLASS_OUTSIDE, /* class id: what was allocated, outside any thread's buffer (TLAB) */
    WIRE_FRAME_TYPES
};

#define WIRE_FRAME_ADDRESS_MASK ((UINT64_C(1) << 56) - 1)
#define WIRE_BCI_NONE 0xffffu

static inline uint64_t wire_frame_java(enum wire_frame_type type, uint32_t method, uint32_t bci) {
    return (uint64_t)type << 56 | (uint64_t)(bci & 0xffffu) << 32 | method;
}

static inline uint64_t wire_frame_address(enum wire_frame_type type, uint64_t address) {
    return (uint64_t)type << 56 | (address & WIRE_FRAME_ADDRESS_MASK);
}

static inline uint32_t wire_frame_type(uint64_t frame) {
    return (uint32_t)(frame >> 56);
}

static inline uint32_t wire_frame_method(uint64_t frame) {
    return (uint32_t)frame;
}

static inline uint32_t wire_frame_bci(uint64_t frame) {
    return (uint32_t)(frame >> 32) & 0xffffu;
}

/* The address as the CPU has it. Bit 55 marks a kernel address, whose high bits are all ones. */
static inline uint64_t wire_frame_pc(uint64_t frame) {
    uint64_t a = frame & WIRE_FRAME_ADDRESS_MASK;
    return a >> 55 ? a | ~WIRE_FRAME_ADDRESS_MASK : a;
}

#define WIRE_HEADER_BUSY (UINT64_C(1) << 63)

static inline uint64_t wire_header_word(enum wire_type type, uint32_t length) {
    return (uint64_t)type << 32 | length;
}

static inline uint32_t wire_header_length(uint64_t word) {
    return (uint32_t)word;
}

static inline uint32_t wire_header_type(uint64_t word) {
    return (uint32_t)(word >> 32) & 0xffffu;
}

/* What the thread was doing when it was sampled. */
enum wire_thread_state {
    WIRE_THREAD_UNKNOWN = 0,
    WIRE_THREAD_RUNNING,  /* on a processor, or waiting for one */
    WIRE_THREAD_BLOCKED,  /* entering a Java monitor */
    WIRE_THREAD_WAITING,  /* Object.wait */
    WIRE_THREAD_PARKED,   /* LockSupport.park */
    WIRE_THREAD_SLEEPING, /* Thread.sleep, nanosleep */
    WIRE_THREAD_POLL,     /* poll, select, epoll_wait, accept */
    WIRE_THREAD_IO,       /* read, write, recv, send, connect … */
    WIRE_THREAD_FUTEX,    /* a native lock or condition */
    WIRE_THREAD_DISK,     /* the kernel's uninterruptible sleep */
    WIRE_THREAD_OTHER,    /* sleeps for something else */
    WIRE_THREAD_STATES
};

enum wire_sample_flag {
    WIRE_SAMPLE_OUTSIDE = 1, /* outside the window, with request.window_marks */
};

#define WIRE_CPU_NONE 0xffffu

/* This record only adds weight. The count is in other records. */
#define WIRE_COUNT_NONE UINT32_MAX

struct wire_sample {
    uint64_t header;
    uint64_t time_ns;    /* CLOCK_MONOTONIC */
    uint64_t weight;     /* ns, bytes or counts, by the event */
    uint64_t virtual_id; /* Thread.getId() of the virtual thread that `tid` carried; 0: none */
    uint64_t live_id;    /* WIRE_FREE reports its end; unique in the stream; 0: not followed */
    uint32_t tid;        /* native thread id as the JVM sees it */
    uint32_t count;      /* occurrences it stands for; 0 means 1, WIRE_COUNT_NONE none */
    uint16_t frames;     /* how many frames follow, leaf first */
    uint8_t event;       /* enum wire_event */
    uint8_t state;       /* enum wire_thread_state */
    uint16_t cpu;        /* the processor; WIRE_CPU_NONE: not known */
    uint16_t flags;      /* enum wire_sample_flag */
    uint64_t frame[];
};

/* Counts the last sample of this event and tid again: same stack, same virtual thread. The ring
 * always has such a sample before it, but the reader may have been unable to use that sample. */
struct wire_repeat {
    uint64_t header;
    uint64_t time_ns;
    uint64_t weight;
    uint32_t tid;
    uint32_t count;
    uint8_t event;
    uint8_t state;
    uint8_t reserved[6];
};

struct wire_free {
    uint64_t header;
    uint64_t time_ns;
    uint64_t live_id;
};

enum wire_lock_flag {
    WIRE_LOCK_MONITOR = 1, /* synchronized; otherwise a java.util.concurrent lock */
    WIRE_LOCK_SHARED = 2,  /* read lock, semaphore */
};

/* One finished wait for a lock. The waiter's stack is a sample of WIRE_EVENT_LOCK with the lock's
 * class on top. This record tells which thread it waited for. */
struct wire_lock {
    uint64_t header;
    uint64_t time_ns; /* end of the wait */
    uint64_t waited_ns;
    uint64_t lock_id;    /* tells locks of a class apart: identity hash or address; 0: not known */
    uint64_t virtual_id; /* of the waiter; 0: none */
    uint64_t owner_virtual_id;
    uint32_t tid;          /* of the waiter */
    uint32_t owner_tid;    /* 0: not known */
    uint32_t class_id;     /* a WIRE_CLASS */
    uint32_t flags;        /* enum wire_lock_flag */
    uint32_t owner_frames; /* of the owner's stack when the wait began, as far as known */
    uint32_t reserved;
    uint64_t owner_frame[]; /* leaf first */
};

enum wire_pause_kind { WIRE_PAUSE_GC = 1, WIRE_PAUSE_SAFEPOINT };

struct wire_pause {
    uint64_t header;
    uint64_t begin_ns, end_ns;
    uint32_t kind; /* enum wire_pause_kind */
    uint32_t reserved;
};

struct wire_window {
    uint64_t header;
    uint64_t begin_ns, end_ns;
};

struct wire_method {
    uint64_t header;
    uint32_t method_id;   /* an id that comes again stands for this method from here on */
    uint16_t class_bytes; /* lengths of the three strings in bytes[], in this order */
    uint16_t name_bytes;
    uint16_t signature_bytes;
    uint16_t flags;      /* access flags of the class file format (JVMS table 4.6-A) */
    uint32_t line_bytes; /* of the line table: pairs of u16 bci, line. It follows the strings; a
                            zero byte comes between where the strings have an odd number of bytes */
    uint8_t bytes[];
};

struct wire_class {
    uint64_t header;
    uint32_t class_id;
    uint32_t name_bytes;
    uint8_t bytes[]; /* internal form: java/lang/String, [B */
};

struct wire_thread {
    uint64_t header;
    uint64_t java_id; /* Thread.getId(), 0 for a thread that Java does not know */
    uint32_t tid;
    uint16_t name_bytes;
    uint16_t flags; /* WIRE_THREAD_VIRTUAL */
    uint8_t bytes[];
};

#define WIRE_THREAD_VIRTUAL 1u /* java_id is the thread; tid is its carrier at that moment */

struct wire_thread_end {
    uint64_t header;
    uint32_t tid;
    uint32_t reserved;
};

/* java.lang.Thread.State, as Thread.getState() and thread dumps have it. */
enum wire_java {
    WIRE_JAVA_UNKNOWN = 0, /* no living Java thread, or not reported */
    WIRE_JAVA_RUNNABLE,
    WIRE_JAVA_BLOCKED,
    WIRE_JAVA_WAITING,
    WIRE_JAVA_TIMED_WAITING,
    WIRE_JAVA_STATES
};

/* Sent while request.java_states is set. It stays true until the next one of this tid, or the
 * thread's end. */
struct wire_java_state {
    uint64_t header;
    uint32_t tid;
    uint8_t state; /* enum wire_java */
    uint8_t reserved[3];
};

struct wire_stub {
    uint64_t header;
    uint64_t begin;
    uint32_t code_bytes;
    uint32_t name_bytes;
    uint8_t bytes[];
};

struct wire_log {
    uint64_t header;
    uint32_t level; /* 0 error, 1 warning, 2 information */
    uint32_t text_bytes;
    uint8_t bytes[];
};

struct wire_symbol {
    uint64_t header;
    uint64_t address; /* the address that was looked up, with the CPU's high bits: the frame's own
                         address where the thread was executing, one less for a return address */
    uint16_t name_bytes;
    uint16_t module_bytes;
    uint32_t kind;   /* enum method_kind of core/profile/table/method_table.h */
    uint8_t bytes[]; /* name, module */
};

struct wire_jvm {
    uint64_t header;
    uint64_t start_ns; /* CLOCK_REALTIME when the samples' clock was `clock_ns`; 0: not known */
    uint64_t clock_ns;
    uint32_t pid;
    uint16_t name_bytes;
    uint16_t version_bytes;
    uint8_t bytes[]; /* main class or jar, VM version */
};

struct wire_mark {
    uint64_t header;
    uint64_t time_ns;
    uint64_t dropped; /* totals so far */
    uint64_t failed[WIRE_FAILURE_SLOTS];
    struct wire_engine_status engine; /* one mark per requested engine */
    char walker[32];
};

struct wire_environment {
    uint64_t header;
    uint32_t text_bytes;
    uint32_t reserved;
    uint8_t bytes[]; /* lines of "key=value", each followed by a newline */
};

static_assert(sizeof(struct wire_environment) == 16, "wire ABI");
static_assert(sizeof(struct wire_sample) == 56, "wire ABI");
static_assert(sizeof(struct wire_repeat) == 40, "wire ABI");
static_assert(sizeof(struct wire_free) == 24, "wire ABI");
static_assert(sizeof(struct wire_lock) == 72, "wire ABI");
static_assert(sizeof(struct wire_pause) == 32, "wire ABI");
static_assert(sizeof(struct wire_window) == 24, "wire ABI");
static_assert(sizeof(struct wire_method) == 24, "wire ABI");
static_assert(sizeof(struct wire_class) == 16, "wire ABI");
static_assert(sizeof(struct wire_thread) == 24, "wire ABI");
static_assert(sizeof(struct wire_thread_end) == 16, "wire ABI");
static_assert(sizeof(struct wire_java_state) == 16, "wire ABI");
static_assert(sizeof(struct wire_stub) == 24, "wire ABI");
static_assert(sizeof(struct wire_log) == 16, "wire ABI");
static_assert(sizeof(struct wire_symbol) == 24, "wire ABI");
static_assert(sizeof(struct wire_jvm) == 32, "wire ABI");

#define WIRE_RECORD_BYTES_MAX (sizeof(struct wire_sample) + sizeof(uint64_t) * WIRE_FRAMES_MAX)

/* A recording file begins with this header. Records follow as they were read from the ring; most
 * often the first is a WIRE_DEFLATE. */
#define WIRE_FILE_MAGIC 0x314345525054534aULL /* "JSTPREC1" */
#define WIRE_FILE_MAJOR 3u /* raised when records change, not with the rest of the mapping */
struct wire_file_header {
    uint64_t magic;
    uint32_t major; /* WIRE_FILE_MAJOR */
    uint32_t minor; /* 0 */
};

#endif
