#include "core/agent/engine/native_gate.h"

#include "core/agent/threads.h"
#include "core/base/hash.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

void native_gate_open(struct native_gate *g, struct engine_run *run) {
    for (uint32_t i = 0; i < NATIVE_GATE_STRIPES; i++)
        g->stripe[i].due = 0;
    g->pid = (uint32_t)getpid();
    atomic_store(&g->run, run);
}

void native_gate_shut(struct native_gate *g) {
    atomic_store(&g->run, NULL);
    for (uint32_t i = 0; i < NATIVE_GATE_STRIPES; i++)
        while (atomic_load(&g->stripe[i].inside))
            sched_yield();
}

/* Threads have stacks of their own, far apart. */
static struct native_stripe *own_stripe(struct native_gate *g) {
    uint64_t h = hash_word((uintptr_t)__builtin_frame_address(0) >> 16);
    return &g->stripe[(h >> 58) % NATIVE_GATE_STRIPES];
}

struct native_stripe *native_gate_enter(struct native_gate *g) {
    struct native_stripe *stripe = own_stripe(g);
    atomic_fetch_add(&stripe->inside, 1);
    if (atomic_load(&g->run))
        return stripe;
    atomic_fetch_sub(&stripe->inside, 1);
    return NULL;
}

void native_gate_leave(struct native_stripe *stripe) {
    atomic_fetch_sub(&stripe->inside, 1);
}

uint64_t native_gate_due(struct native_stripe *stripe, uint64_t interval, uint64_t weight) {
    if (interval <= 1 || weight >= interval)
        return weight;
    uint64_t due = atomic_fetch_add_explicit(&stripe->due, weight, memory_order_relaxed) + weight;
    while (due >= interval) {
        uint64_t rest = due % interval;
        if (atomic_compare_exchange_weak_explicit(&stripe->due, &due, rest, memory_order_relaxed,
                                                  memory_order_relaxed))
            return due - rest;
    }
    return 0;
}

bool native_gate_sample(const struct native_gate *g, const void *frame, uintptr_t real,
                        uint64_t weight, uint64_t live_id) {
    struct engine_run *run = g->run;
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    if (!run || threads_is_own(run->threads, tid) || (uint32_t)getpid() != g->pid ||
        !sampler_enter(run->sampler))
        return false;
    struct sample_request q = {
        .from = registers_of_caller(frame),
        .top = wire_frame_address(WIRE_FRAME_NATIVE, real),
        .tid = tid,
        .event = (enum wire_event)run->request.event,
        .weight = weight,
        .live_id = live_id,
    };
    bool taken = sampler_take(run->sampler, &q);
    sampler_leave(run->sampler);
    return taken;
}
