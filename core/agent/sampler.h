/*
 * What every signal handler does once it knows the thread and the weight: walk the stack and put a
 * sample into the ring.
 *
 * Context: sampler_enter, sampler_take and sampler_leave are signal-safe and made for handlers:
 * no lock, no allocation, no system call. The rest belongs to the agent's thread.
 */
#ifndef JTOP_AGENT_SAMPLER_H
#define JTOP_AGENT_SAMPLER_H

#include "core/agent/walk.h"
#include "core/agent/walk_asgct.h"
#include "core/wire/layout.h"

struct scratch {
    _Atomic uint32_t busy;
    uint64_t frame[WIRE_FRAMES_MAX];
};

struct sampler {
    _Atomic uint32_t enabled;
    _Atomic uint32_t in_flight; /* handlers at work */
    struct wire_status *status;
    struct ring_writer ring;
    struct names names;
    struct libraries libraries;
    struct walker walker;
    struct precise precise;
    struct asgct asgct;
    struct scratch *pool;
    uint32_t pool_size;
    uint32_t depth;      /* Java frames kept */
    uint32_t ids_wanted; /* methods known when new ids are given; 0: the default */
    uint64_t ids_since_ms;
};

struct sample_request {
    void *context; /* ucontext_t of the interrupted thread */
    uint32_t tid;
    enum wire_event event;
    uint64_t weight;
    const uint64_t *kernel; /* kernel frames as frame words, leaf first */
    uint32_t kernel_frames;
};

/* Maps what handlers need. 0 or -errno; sampler_unmap undoes it, after sampler_disable. */
int sampler_map(struct sampler *s, const struct vm *vm, struct wire_mapping *mapping,
                uint64_t ring_bytes);
void sampler_unmap(struct sampler *s);

void sampler_enable(struct sampler *s, uint32_t depth);
/* Returns when no handler is at work any more. */
void sampler_disable(struct sampler *s);

/* Lets go of the methods met, and of their ids, when there are many: where classes come and go most
 * of them are gone, and the others are announced again. Now and then, with handlers at work. */
void sampler_renew_ids(struct sampler *s, uint64_t now_ms);

/* False: not sampling; the handler must touch nothing and return. */
bool sampler_enter(struct sampler *s);
void sampler_leave(struct sampler *s);
void sampler_take(struct sampler *s, const struct sample_request *q);

#endif
