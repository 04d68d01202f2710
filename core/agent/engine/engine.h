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
 * An engine is a method to take samples of one event. Each has a struct and a file. engines.c lists
 * them in the order in which the engines of the same event are tried.
 *
 *   by a signal   the kernel, or a thread of ours, sends a signal to a thread; `handle` runs in
 *                 that thread and calls sampler_take. perf, ctimer, itimer, wall.
 *   by a call     the VM or the program calls a function of the engine. The function calls
 *                 sampler_take with the place of that call. alloc, lock, nativemem, method.
 *   by itself     the agent's thread samples all threads. safepoint.
 *
 * The weights of an event's samples add up to the total use, even if signals come late or seldom.
 * Time in handlers: perf's counter is off in handlers, or what it has counted there is subtracted,
 * so weights do not include their time. The kernel's CPU clocks continue, so weights of the timers
 * include it. In all cases, status.handler_ns has this time.
 *
 * `stop` undoes everything that the engine has changed in the target. It is called when the engine
 * is to end, when the reader is gone, and before the agent ends.
 *
 * Context: the agent's thread calls all functions except `handle`, with agent.engine_lock held; the
 * VM's last thread (VMDeath) may also call `stop`, and JVMTI callbacks may call arm and disarm.
 * arm, disarm and adopt are called with the threads' lock held. `handle` is signal-safe.
 */
#ifndef JTOP_AGENT_ENGINE_ENGINE_H
#define JTOP_AGENT_ENGINE_ENGINE_H

#include "core/agent/sampler.h"

#include <jvmti.h>
#include <signal.h>

/* An engine's state of one thread; zero if not armed. */
struct engine_thread {
    uint32_t tid;
    int32_t handle;   /* descriptor or timer */
    void *page;       /* perf: control page and data page */
    uint64_t counted; /* perf: the counter at the last sample; only the thread's handler uses it */
};

struct broker;
struct engine;
struct threads;

/* A running engine; one per wire_event. */
struct engine_run {
    const struct engine *_Atomic engine; /* NULL: none */
    struct wire_engine_request request;  /* a copy: terminated strings, and the actual interval */
    struct wire_engine_request asked;    /* as received, to be compared with the next one */
    int signo_asked;                     /* 0: any free signal */
    int signo;                           /* signal in use, for engines by signal */
    _Atomic bool changing;        /* it starts or stops: signals may come already, or still */
    struct engine_thread *thread; /* THREADS_MAX, by the thread's index; address space */
    struct sampler *sampler;
    struct threads *threads;
    struct broker *broker;
    struct wire_engine_status *status; /* counters are changed with engine_count */
    jvmtiEventCallbacks *callbacks;    /* of `jvmti`: change them, then call SetEventCallbacks */
    jvmtiEnv *jvmti;
};

struct engine {
    enum wire_event event;
    enum wire_mechanism mechanism;
    bool by_signal;
    bool by_trap;    /* that signal is SIGTRAP (process/sigtrap.h) */
    bool per_thread; /* arm() is called for every thread that may be sampled */
    bool biased;
    uint64_t interval; /* the default */
    uint64_t interval_min;
    /* 0; or -errno with the reason in `why`, and nothing changed. */
    int (*start)(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes);
    int (*arm)(struct engine_run *run, struct engine_thread *t, uint32_t index);
    /* If arm() returns -EAGAIN, the thread cannot be armed at once. Then the agent's thread calls
     * fetch() to get a descriptor, without the threads' lock and for at most `wait_ms`, and then
     * adopt(), which owns the descriptor even if it fails. fetch() returns -ETIMEDOUT: not yet.
     * NULL: arm() never returns -EAGAIN. */
    int (*fetch)(struct engine_run *run, uint32_t tid, uint32_t wait_ms);
    int (*adopt)(struct engine_run *run, struct engine_thread *t, uint32_t index, int fd);
    void (*disarm)(struct engine_run *run, struct engine_thread *t);
    /* When it is called, no handler and no sampler_take of a callback is running. A callback may
     * still be running before or after its sampler_take. */
    void (*stop)(struct engine_run *run, JNIEnv *jni);
    /* True: the signal was this engine's. Between sampler_enter and sampler_leave. */
    bool (*handle)(struct engine_run *run, const siginfo_t *info, void *context);
    /* turn() is called at least every `turn_ms`; 0: about every 100 ms. */
    uint32_t turn_ms;
    /* Regular work; NULL: none. */
    void (*turn)(struct engine_run *run, JNIEnv *jni, uint64_t now_ms);
};

#define CPU_INTERVAL 10000000u  /* ns */
#define CPU_INTERVAL_MIN 10000u /* ns; the kernel makes a shorter cpu-clock period this long */

extern const struct engine engine_cpu_sigtrap, engine_cpu_perf, engine_cpu_ctimer,
    engine_cpu_itimer, engine_cpu_safepoint, engine_wall, engine_wall_safepoint, engine_alloc,
    engine_alloc_trap, engine_lock, engine_nativemem, engine_nativelock, engine_perf_event,
    engine_method;

/* Sets the VM's sampling interval in Agent_OnLoad (0: the default), before the main thread exists.
 * A thread keeps the interval that was set when it was created until its next sample. */
void engine_alloc_foresee(jvmtiEnv *jvmti, uint64_t interval);

// NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes
static inline void engine_count(uint64_t *counter, uint64_t n) {
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

#endif
