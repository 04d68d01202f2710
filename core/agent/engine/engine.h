/*
 * Files:
 *   alloc_thread       the allocating thread and how many bytes it has allocated
 *   alloc_weight       statistical weight in bytes of a sampled object
 *   engine             interface of a sampling engine, and the list of all engines
 *   engine_alloc       allocation engine by JVMTI object sampling, JDK 11 and later
 *   engine_alloc_trap  allocation engine by breakpoints in the VM, for older JDKs and TLABs
 *   engine_ctimer      CPU engine with a POSIX timer for each thread
 *   engine_itimer      CPU engine with one process-wide interval timer (SIGPROF)
 *   engine_method      method call engine, which adds calls to the bytecode of classes
 *   engine_nativelock  native lock engine: contended pthread locks and condition waits
 *   engine_nativemem   native memory engine: malloc, mmap and their frees
 *   engine_perf        engines by perf_events: CPU clock and any other perf event
 *   engine_safepoint   fallback CPU and wall engines by GetAllStackTraces at safepoints
 *   engine_wall        wall clock engine: a thread that samples running and sleeping threads
 *   live_objects       sampled objects that may be alive, each with a weak reference
 *   method_calls       calls in progress for each thread, and which ones are sampled
 *   native_blocks      table of sampled native memory blocks that are not freed yet
 *   native_gate        entry check and counters for hooked native functions
 *   perf_buffer        reader of the kernel's ring buffer of one perf event
 *
 * A way of taking samples of one event. One struct and one file each, all listed in engines.c in
 * the order in which those of the same event are tried.
 *
 *   by a signal   something in the kernel, or a thread of ours, sends a thread a signal; `handle`
 *                 runs in it and calls sampler_take. perf, ctimer, itimer, wall.
 *   by a call     the VM or the program calls a function of the engine's, which calls
 *                 sampler_take with where it was called from. alloc, lock, nativemem, method.
 *   by itself     the agent's thread samples all threads. safepoint.
 *
 * The weights of an event's samples add up to what was used, however late or seldom signals come.
 * Time in handlers: perf's counter is switched off in them, so that it is in no weight; the
 * kernel's CPU clocks go on, so for the timers it is. Either way it is in status.handler_ns.
 *
 * What an engine has changed in the target, `stop` undoes completely. It comes when the engine was
 * asked to end, when the reader is gone, and before the agent leaves.
 *
 * Context: all functions but `handle` are called by the agent's thread, with agent.engine_lock
 * held; `stop` by the VM's last thread too (VMDeath); arm and disarm also from JVMTI callbacks, all
 * three with the threads' lock. `handle` is signal-safe.
 */
#ifndef JTOP_AGENT_ENGINE_ENGINE_H
#define JTOP_AGENT_ENGINE_ENGINE_H

#include "core/agent/sampler.h"

#include <jvmti.h>
#include <signal.h>

/* What an engine keeps per thread; zero when not armed. */
struct engine_thread {
    uint32_t tid;
    int32_t handle;   /* descriptor or timer */
    void *page;       /* perf: control page and data page */
    uint64_t counted; /* perf: the counter at the last sample; the thread's own handler's */
};

struct broker;
struct engine;
struct threads;

/* A running engine; one for each wire_event. */
struct engine_run {
    const struct engine *_Atomic engine; /* NULL: none */
    struct wire_engine_request request;  /* a copy; strings end, the interval is the one in force */
    struct wire_engine_request asked;    /* as received; compared with the next one */
    int signo_asked;                     /* 0: one that is free */
    int signo;                           /* in use, of engines by signal */
    _Atomic bool changing;        /* such an engine begins or ends: signals come already or still */
    struct engine_thread *thread; /* THREADS_MAX, by the thread's index; address space */
    struct sampler *sampler;
    struct threads *threads;
    struct broker *broker;
    struct wire_engine_status *status; /* counters are changed with engine_count */
    jvmtiEventCallbacks *callbacks;    /* of `jvmti`: change, then SetEventCallbacks */
    jvmtiEnv *jvmti;
};

struct engine {
    enum wire_event event;
    enum wire_mechanism mechanism;
    bool by_signal;
    bool per_thread; /* arm() is called for every thread that may be sampled */
    bool biased;
    uint64_t interval; /* the default */
    uint64_t interval_min;
    /* 0; or -errno with the reason it does not work here in `why`, and nothing changed. */
    int (*start)(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes);
    int (*arm)(struct engine_run *run, struct engine_thread *t, uint32_t index);
    /* Where arm() says -EAGAIN, the thread cannot be armed on the spot: the agent's thread fetches
     * a descriptor for it, without the threads' lock and at most `wait_ms` long, and then adopts
     * it, which takes the descriptor whatever comes of it. -ETIMEDOUT: not yet. NULL: never. */
    int (*fetch)(struct engine_run *run, uint32_t tid, uint32_t wait_ms);
    int (*adopt)(struct engine_run *run, struct engine_thread *t, uint32_t index, int fd);
    void (*disarm)(struct engine_run *run, struct engine_thread *t);
    /* No handler runs any more, and no sampler_take of a callback; a callback may still be before
     * or behind it. */
    void (*stop)(struct engine_run *run, JNIEnv *jni);
    /* True: the signal was this engine's. Between sampler_enter and sampler_leave. */
    bool (*handle)(struct engine_run *run, const siginfo_t *info, void *context);
    /* How often turn() is wanted at least; 0: about every 100 ms is enough. */
    uint32_t turn_ms;
    /* NULL: nothing to do. */
    void (*turn)(struct engine_run *run, JNIEnv *jni, uint64_t now_ms);
};

#define CPU_INTERVAL 10000000u  /* ns */
#define CPU_INTERVAL_MIN 10000u /* ns; the kernel makes a shorter cpu-clock period this long */

extern const struct engine engine_cpu_perf, engine_cpu_ctimer, engine_cpu_itimer,
    engine_cpu_safepoint, engine_wall, engine_wall_safepoint, engine_alloc, engine_alloc_trap,
    engine_lock, engine_nativemem, engine_nativelock, engine_perf_event, engine_method;

/* Sets the VM's sampling interval in Agent_OnLoad (0: the default), before the main thread exists:
 * a thread keeps the interval it was made with until its next sample. */
void engine_alloc_foresee(jvmtiEnv *jvmti, uint64_t interval);

// NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes
static inline void engine_count(uint64_t *counter, uint64_t n) {
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
