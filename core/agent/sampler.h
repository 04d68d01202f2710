/*
 * What every engine does once it knows the thread and the weight: walk the stack and put a sample
 * into the ring. Handlers do it for where a thread was interrupted, callbacks for where they were
 * called from.
 *
 * Context: sampler_enter, sampler_allows, sampler_take and sampler_leave are signal-safe and made
 * for handlers: no lock, no allocation, no system call. The rest belongs to the agent's thread.
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
    SAMPLER_ALWAYS = 0, /* no window was asked for */
    SAMPLER_OUTSIDE,    /* between windows: nothing is sampled */
    SAMPLER_INSIDE,
    SAMPLER_MARKED_OUTSIDE, /* all is sampled, with WIRE_SAMPLE_OUTSIDE */
};

struct sampler {
    _Atomic uint32_t enabled;
    _Atomic uint32_t in_flight;   /* handlers at work */
    _Atomic uint32_t turned_away; /* handlers that came while it was disabled */
    struct wire_status *status;
    struct ring_writer ring;
    struct names names;
    struct libraries libraries;
    struct walker walker;
    struct precise precise;
    struct asgct asgct;
    _Atomic uint32_t window; /* enum sampler_window */
    const uint8_t *allowed;  /* a bit a tid, shared with the reader; NULL: all threads are */
    struct scratch *pool;
    uint32_t pool_size;
    uint32_t depth, cut; /* of struct wire_request */
    uint32_t ids_wanted; /* methods known when new ids are given; 0: the default */
    uint64_t ids_since_ms;
    _Atomic uint64_t live_ids; /* given so far */
};

/* Another thread than the calling one, asleep. Its stack is read while it may wake up any time:
 * `slept` says afterwards whether it has not, else the sample is thrown away. */
struct sample_sleeper {
    uintptr_t java; /* JavaThread*, 0: none */
    bool (*slept)(void *arg);
    void *arg;
};

/* A stack of the calling thread, or of a sleeper. */
struct sample_request {
    const struct sample_sleeper *sleeper; /* with `from`; NULL: the calling thread */
    void *context;         /* ucontext_t of the interrupted thread; NULL: in a callback, and … */
    struct registers from; /* … this is where it was called from */
    bool java_only;        /* no native frames, whatever the walker */
    uint32_t skip_java;    /* leave out so many Java frames on top */
    uint64_t top;          /* frame word above the stack: what was allocated …; 0: none */
    uint32_t tid;
    enum wire_event event;
    uint64_t weight;
    uint32_t count;   /* occurrences; 0: 1 */
    uint64_t live_id; /* 0: not followed */
    enum wire_thread_state state;
    const uint64_t *kernel; /* kernel frames as frame words, leaf first */
    uint32_t kernel_frames;
};

/* Maps what handlers need. 0 or -errno; sampler_unmap undoes it, after sampler_disable. */
int sampler_map(struct sampler *s, const struct vm *vm, struct wire_mapping *mapping,
                uint64_t ring_bytes);
void sampler_unmap(struct sampler *s);

void sampler_enable(struct sampler *s, uint32_t depth, uint32_t cut);
/* Returns when no handler is at work any more. */
void sampler_disable(struct sampler *s);

/* Lets go of the methods met, and of their ids, when there are many: where classes come and go most
 * of them are gone, and the others are announced again. Now and then, with handlers at work. */
void sampler_renew_ids(struct sampler *s, uint64_t now_ms);

/* False: not sampling; the handler must touch nothing and return. */
bool sampler_enter(struct sampler *s);
void sampler_leave(struct sampler *s);

/* Whether threads of this number are to be sampled. */
static inline bool sampler_allows(const struct sampler *s, uint32_t tid) {
    const uint8_t *bits = s->allowed;
    return !bits || (tid < WIRE_TID_MAX && bits[tid / 8] >> tid % 8 & 1);
}

/* True: a sample is in the ring. False: it is not wanted (thread, window), or there was no room,
 * which is counted. */
bool sampler_take(struct sampler *s, const struct sample_request *q);

/* The same with a stack that the caller knows: n frame words, leaf first, WIRE_FRAMES_MAX at most. */
bool sampler_put(struct sampler *s, const struct sample_request *q, uint64_t *frame, uint32_t n);

/* A unique number for something whose end will be told with sampler_free. Never 0. */
uint64_t sampler_live_id(struct sampler *s);
/* False: the ring has no room. */
bool sampler_free(struct sampler *s, uint64_t live_id);

#endif
