/*
 * What every engine does once it knows the thread and the weight: walk the stack and write a sample
 * to the ring. Signal handlers sample the place where a thread was interrupted, callbacks the place
 * that called them.
 *
 * Context: sampler_enter, sampler_allows, sampler_take and sampler_leave are signal-safe and made
 * for handlers: no lock, no allocation, no system call. Callbacks also call sampler_live_id and
 * sampler_free. All other functions belong to the agent's thread.
 */
#ifndef JTOP_AGENT_SAMPLER_H
#define JTOP_AGENT_SAMPLER_H

#include "core/agent/walk/walk.h"
#include "core/agent/walk/walk_asgct.h"
#include "core/wire/layout.h"

struct scratch {
    _Atomic uint32_t busy;
    uint64_t frame[WIRE_FRAMES_MAX];
};

enum sampler_window {
    SAMPLER_ALWAYS = 0, /* no window was requested */
    SAMPLER_OUTSIDE,    /* between windows: nothing is sampled */
    SAMPLER_INSIDE,
    SAMPLER_MARKED_OUTSIDE, /* between windows: samples have the flag WIRE_SAMPLE_OUTSIDE */
};

enum sampler_state { SAMPLER_DISABLED = 0, SAMPLER_ENABLED, SAMPLER_CRASHED };

struct sampler {
    _Atomic uint32_t enabled;     /* enum sampler_state */
    _Atomic uint32_t in_flight;   /* handlers that are running */
    _Atomic uint32_t turned_away; /* handlers refused while it was disabled */
    struct wire_status *status;
    struct ring_writer ring;
    struct names names;
    struct libraries libraries;
    struct walker walker;
    struct precise precise;
    struct asgct asgct;
    _Atomic uint32_t window; /* enum sampler_window */
    const uint8_t *allowed;  /* one bit per tid, shared with the reader; NULL: all threads */
    struct scratch *pool;
    uint32_t pool_size;
    uint32_t depth, cut; /* as in struct wire_request */
    uint32_t ids_wanted; /* ids are renewed when this many methods are known; 0: the default */
    uint64_t ids_since_ms;
    _Atomic uint64_t live_ids; /* how many were given so far */
};

/* A sleeping thread, other than the calling one. It may wake up at any time while its stack is
 * read. `slept` tells afterwards whether it has slept all the time; if not, the sample is
 * discarded. */
struct sample_sleeper {
    uintptr_t java; /* JavaThread*, 0: none */
    bool (*slept)(void *arg);
    void *arg;
};

/* A stack of the calling thread, or of a sleeper. */
struct sample_request {
    const struct sample_sleeper *sleeper; /* uses `from`; NULL: the calling thread */
    void *context;         /* ucontext_t of the interrupted thread; NULL: use `from` */
    struct registers from; /* where a callback was called from, or a sleeper's registers */
    bool java_only;        /* no native frames, whatever the walker */
    bool faults;           /* faults are deliverable now, whatever the context's mask is */
    uint32_t skip_java;    /* how many Java frames to leave out at the leaf's end */
    uint64_t top; /* frame word to put above the leaf, such as the allocated class; 0: none */
    uint32_t tid;
    enum wire_event event;
    uint64_t weight;
    uint32_t count;   /* occurrences it stands for; 0 means 1 */
    uint64_t live_id; /* 0: not followed */
    enum wire_thread_state state;
    const uint64_t *kernel; /* kernel frames as frame words, leaf first */
    uint32_t kernel_frames;
};

/* Maps the memory that handlers need. Returns 0 or -errno. sampler_unmap releases it; call it after
 * sampler_disable. */
int sampler_map(struct sampler *s, const struct vm *vm, struct wire_mapping *mapping,
                uint64_t ring_bytes);
void sampler_unmap(struct sampler *s);

void sampler_enable(struct sampler *s, uint32_t depth, uint32_t cut);
/* The VM reports a fatal error: sampling ends for good. Signal-safe, any thread. */
static inline void sampler_crashed(struct sampler *s) {
    atomic_store(&s->enabled, SAMPLER_CRASHED);
}
/* Returns when no handler runs any more. */
void sampler_disable(struct sampler *s);

/* Drops the known methods and their ids when there are many. Where classes are loaded and unloaded,
 * most of these methods are gone; the others are announced again. To be called from time to time,
 * also while handlers run. */
void sampler_renew_ids(struct sampler *s, uint64_t now_ms);

/* Marks the calling handler as running. False: sampling is off; the handler must use nothing and
 * return. */
bool sampler_enter(struct sampler *s);
void sampler_leave(struct sampler *s);

/* Whether the thread with this number is to be sampled. */
static inline bool sampler_allows(const struct sampler *s, uint32_t tid) {
    const uint8_t *bits = s->allowed;
    return !bits || (tid < WIRE_TID_MAX && bits[tid / 8] >> tid % 8 & 1);
}

/* Takes a sample. True: it is in the ring. False: it is not wanted (thread, window), the sleeper
 * woke up, or the ring was full, which is counted. */
bool sampler_take(struct sampler *s, const struct sample_request *q);

/* Whether a handler with this context runs on a small alternate stack: a thread that has one runs
 * its handlers there. Another signal's frame may have no room on it. Signal-safe. */
bool sampler_stack_is_small(const void *context);

/* Counts samples that are left out because they are of a handler itself. Signal-safe. */
static inline void sampler_discard(struct sampler *s, uint32_t samples) {
    atomic_fetch_add_explicit(&s->status->discarded, samples, memory_order_relaxed);
}

/* Writes a sample of a stack that the caller knows: n frame words, leaf first, WIRE_FRAMES_MAX at
 * most. Returns as sampler_take. */
bool sampler_put(struct sampler *s, const struct sample_request *q, uint64_t *frame, uint32_t n);

/* A unique number for something whose end sampler_free will report. Never 0. */
uint64_t sampler_live_id(struct sampler *s);
/* Reports the end of what has this number. False: the ring is full. */
bool sampler_free(struct sampler *s, uint64_t live_id);

#endif
