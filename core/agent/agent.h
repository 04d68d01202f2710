/*
 * Files:
 *   agent          the agent's global state, entry points, VM callbacks, start
 *   agent_options  parser of the agent's option string
 *   broker         client that asks the reader to open perf_events for the JVM
 *   control        the agent's thread: requests, reader's lease, periodic work
 *   engines        starting, stopping and choosing engines; the common signal handler
 *   java_states    states of Java threads, reported while a reader asks for them
 *   libc           C library symbol versions that keep the agent loadable everywhere
 *   pauses         garbage collection pauses, written to the ring
 *   sampler        one sample: walks the stack and writes the record to the ring
 *   spawn_reader   search for the frontend program, and its start as reader of the ring
 *   threads        table of the JVM's threads: arms engines for them, reports names
 *   window         sampling limited to the time between calls of two native functions
 *
 * The agent in the JVM: one struct, one thread, two entry points (Agent_OnLoad, Agent_OnAttach).
 *
 *   attach/load ─▶ agent_begin ─▶ agent thread: requests, lease, threads, libraries ─▶ end()
 *   signal      ─▶ engine.handle ─▶ sampler_take ─▶ ring
 *
 * Context: see each function.
 */
#ifndef JTOP_AGENT_AGENT_H
#define JTOP_AGENT_AGENT_H

#include "core/agent/agent_options.h"
#include "core/agent/broker.h"
#include "core/agent/java_states.h"
#include "core/agent/process/mapping.h"
#include "core/agent/process/signals.h"
#include "core/agent/sampler.h"
#include "core/agent/threads.h"
#include "core/agent/window.h"

struct agent {
    JavaVM *java_vm;
    jvmtiEnv *jvmti;
    struct agent_options options;
    struct vm vm;
    struct agent_mapping mapping;
    struct sampler sampler;
    struct threads threads;
    struct java_states java_states;
    pthread_mutex_t engine_lock;        /* held while engines start, stop or take their turn;
                                           protects the engines' state below */
    struct engine_run run[WIRE_EVENTS]; /* by event */
    _Atomic bool ground;                /* what all engines share is set up */
    struct wire_request request;        /* the request that it was set up for */
    char walker_why[112];               /* why the requested walker is not in use */
    struct signals signals;
    struct window window;
    struct broker broker;
    bool trap_lost;          /* another handler took SIGTRAP since the last request */
    uint32_t moves;          /* engines moved to another signal since the last request */
    uint64_t start_until_ms; /* deadline of a request's wait for late threads */
    uint64_t late_again_ms;  /* late threads are not tried again before this time; 0: at once */
    bool zero;               /* the Zero VM: only the VM itself can walk its stacks */
    bool flag_was_set;       /* the agent has set DebugNonSafepoints and restores flag_before */
    bool flag_before;
    jvmtiEventCallbacks callbacks;     /* those of `jvmti` */
    pthread_mutex_t lock;              /* protects `active` and the release of the mapping */
    bool active;                       /* from agent_begin until the agent's thread ends */
    _Atomic uint32_t reader_silent_ms; /* since the reader's last heartbeat */
    _Atomic bool evict;                /* a new reader is to replace a silent one */
    _Atomic bool java_exits;           /* VMDeath was seen: no engine starts any more */
};

extern struct agent agent;

/* The main function of the agent's thread. */
void agent_run(jvmtiEnv *jvmti, JNIEnv *jni);

/* Starts and stops engines so that those of the request run. Engines that stay the same continue.
 * Fills the status. Context: the agent's thread; takes engine_lock. */
void agent_start_engines(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni);
/* Stops all engines. Idempotent. Context: the agent's thread, or VMDeath. */
void agent_stop_engines(jvmtiEnv *jvmti, JNIEnv *jni);
/* Does the periodic work of the engines. Context: the agent's thread. */
void agent_turn_engines(JNIEnv *jni, uint64_t now_ms);
/* If it is time, arms late threads, which could not be armed at once. Agent's thread only. */
void agent_arm_late(void);
/* Whether it is time for agent_arm_late. Always false while nothing is sampled. */
bool agent_late_is_due(void);
/* Wakes the agent's thread from its wait. Context: any thread, while there is a mapping. */
void agent_wake(void);
/* The time after which a running engine wants its next turn; at most `ms`. */
uint32_t agent_turn_ms(uint32_t ms);

/* Starts the frontend as the reader of the agent's ring. Returns 0 or -errno. Context: VMInit. */
int agent_spawn_reader(void);

#endif
