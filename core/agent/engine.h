/*
 * A way of taking CPU samples: something in the kernel that sends each thread a signal while it
 * uses the CPU. One struct and one file each; tried in the order of wire_mechanism.
 *
 * A sample weighs the CPU time since the one before it: of its thread for perf and ctimer, of the
 * process for itimer. So the weights add up to the time used, however late or seldom signals come.
 * Time in the handler: perf's counter is switched off in it, so that it is in no weight (it is in
 * status.handler_ns); the kernel's CPU clocks go on, so for the timers it is.
 *
 * Context: all functions but `handle` belong to the agent's thread and JVMTI callbacks, under the
 * threads' lock; `handle` is signal-safe.
 */
#ifndef JTOP_AGENT_ENGINE_H
#define JTOP_AGENT_ENGINE_H

#include "core/agent/sampler.h"

#include <signal.h>

struct engine_config {
    uint64_t interval; /* ns */
    int signo;
    uint32_t threads; /* alive when it starts */
};

/* What an engine keeps per thread; zero when not armed. */
struct engine_thread {
    uint32_t tid;
    int32_t handle;   /* descriptor or timer */
    void *page;       /* perf: control page and data page */
    uint64_t counted; /* perf: the counter at the last sample, ns; the thread's own handler's */
};

struct engine {
    enum wire_mechanism mechanism;
    bool per_thread; /* arm() is called for every thread */
    /* 0; or -errno with the reason it does not work here in `why`. */
    int (*start)(const struct engine_config *config, char *why, size_t why_bytes);
    int (*arm)(const struct engine_config *config, struct engine_thread *t, uint32_t index);
    void (*disarm)(struct engine_thread *t);
    void (*stop)(void);
    /* `thread`: index → entry of the table of threads, for mechanisms that carry the index. */
    void (*handle)(struct sampler *s, const struct engine_config *config,
                   struct engine_thread *thread, uint32_t threads, const siginfo_t *info,
                   void *context);
};

extern const struct engine engine_perf, engine_ctimer, engine_itimer;

#endif
