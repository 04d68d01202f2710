/*
 * Files:
 *   agent          the agent's global state, entry points, VM callbacks, start
 *   agent_options  parser of the agent's option string
 *   broker         client that asks the reader to open perf_events for the JVM
 *   control        the agent's thread: requests, reader's lease, periodic work
 *   engines        starting, stopping and choosing engines; the common signal handler
 *   libc           C library symbol versions that keep the agent loadable everywhere
 *   pauses         garbage collection pauses, written to the ring
 *   sampler        one sample: walks the stack and writes the record to the ring
 *   spawn_reader   search for the frontend program, and its start as reader of the ring
 *   threads        table of the JVM's threads: arms engines for them, reports names
 *   window         sampling limited to the time between calls of two native functions
 *
 * The agent in the JVM: one struct, one thread, two ways in (Agent_OnLoad, Agent_OnAttach).
 *
 *   attach/load ─▶ agent_begin ─▶ agent thread: requests, lease, threads, libraries ─▶ agent_end
 *   signal      ─▶ engine.handle ─▶ sampler_take ─▶ ring
 *
 * Context: each function says.
 */
#ifndef JTOP_AGENT_AGENT_H
#define JTOP_AGENT_AGENT_H

#include "core/agent/agent_options.h"
#include "core/agent/broker.h"
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
    pthread_mutex_t engine_lock;        /* of starting and stopping, and of what follows */
    struct engine_run run[WIRE_EVENTS]; /* by event */
    _Atomic bool ground;                /* what all engines share is in place */
    struct wire_request request;        /* that it was laid for */
    char walker_why[112];               /* why not the walker that was asked for */
    struct signals signals;
    struct window window;
    struct broker broker;
    uint32_t moves;          /* of engines to another signal, since the request */
    uint64_t start_until_ms; /* how long a request may wait for late threads */
    uint64_t late_again_ms;  /* they are not looked at before that; 0: at once */
    bool zero;               /* the Zero VM: nobody can walk its stacks */
    bool flag_was_set;       /* DebugNonSafepoints is ours to restore, to flag_before */
    bool flag_before;
    jvmtiEventCallbacks callbacks;     /* of `jvmti` */
    pthread_mutex_t lock;              /* of active and ending */
    bool active;                       /* between agent_begin and agent_end */
    _Atomic uint32_t reader_silent_ms; /* since its heart beat last */
    _Atomic bool evict;                /* a new reader takes the place of a silent one */
    _Atomic bool java_exits;           /* VMDeath was seen: no engine is started any more */
};

extern struct agent agent;

/* The agent's thread. */
void agent_run(jvmtiEnv *jvmti, JNIEnv *jni);

/* Makes the engines be what the request says: those that stay as they are go on. Fills the status.
 * Agent's thread; a lock inside. */
void agent_start_engines(const struct wire_request *request, jvmtiEnv *jvmti, JNIEnv *jni);
/* Context: the agent's thread, or VMDeath. Idempotent. */
void agent_stop_engines(jvmtiEnv *jvmti, JNIEnv *jni);
/* What engines do now and then. Agent's thread. */
void agent_turn_engines(JNIEnv *jni, uint64_t now_ms);
/* Arms threads that could not be on the spot, if it is time. Agent's thread. */
void agent_arm_late(void);
/* Never while nothing is sampled. */
bool agent_late_is_due(void);
/* Has the agent's thread look around at once. Any thread, while there is a mapping. */
void agent_wake(void);
/* How often they want it, `ms` at least. */
uint32_t agent_turn_ms(uint32_t ms);

/* Runs the frontend as the reader of our ring. 0 or -errno. Context: VMInit. */
int agent_spawn_reader(void);

#endif
