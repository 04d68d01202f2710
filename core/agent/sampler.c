#include "core/agent/sampler.h"

#include "core/agent/guarded.h"
#include "core/agent/virtual_thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define IDS_WANTED 12000u /* methods; what they take is about 200 KB */
#define IDS_WANTED_MAX (1u << 19)
#define IDS_KEPT_MS 10000u /* at least: where they fill up sooner, as many may be alive */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* the vdso: no system call */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int sampler_map(struct sampler *s, const struct vm *vm, struct wire_mapping *mapping,
                uint64_t ring_bytes) {
    /* in_flight is kept: a handler of the last session may be between its two steps. */
    s->libraries.count[0] = s->libraries.count[1] = 0;
    s->names = (struct names){0};
    s->ids_wanted = 0;
    method_ids_forget(&s->asgct.methods);
    s->ids_since_ms = 0;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    /* Handlers run on a cpu each, and a few may be preempted in the middle. */
    s->pool_size = 2 * (uint32_t)(cpus > 0 ? cpus : 1) + 14;
    s->pool = mmap(NULL, s->pool_size * sizeof *s->pool, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->pool == MAP_FAILED) {
        s->pool = NULL;
        return -errno;
    }
    s->status = &mapping->control.status;
    ring_writer_init(&s->ring, mapping, ring_bytes);
    s->names.vm = vm;
    s->names.ring = &s->ring;
    s->walker = (struct walker){
        .vm = vm, .names = &s->names, .libraries = &s->libraries, .precise = &s->precise};
    int r = id_table_map(&s->names.methods);
    if (r == 0)
        r = id_table_map(&s->names.stubs);
    if (r < 0)
        sampler_unmap(s);
    return r;
}

void sampler_unmap(struct sampler *s) {
    if (s->pool)
        munmap(s->pool, s->pool_size * sizeof *s->pool);
    s->pool = NULL;
    id_table_unmap(&s->names.methods);
    id_table_unmap(&s->names.stubs);
}

void sampler_enable(struct sampler *s, uint32_t depth) {
    s->depth = depth && depth < WIRE_FRAMES_MAX ? depth : WIRE_DEPTH_DEFAULT;
    atomic_store(&s->enabled, 1);
}

void sampler_disable(struct sampler *s) {
    atomic_store(&s->enabled, 0);
    while (atomic_load(&s->in_flight))
        sched_yield();
}

void sampler_renew_ids(struct sampler *s, uint64_t now_ms) {
    struct id_table *ids = &s->names.methods;
    if (!s->ids_wanted) {
        s->ids_wanted = IDS_WANTED;
        s->ids_since_ms = now_ms;
    }
    /* A moment without handlers: those that come later use the new half. */
    if (ids->old_is_dirty && atomic_load(&s->in_flight) == 0)
        id_table_clean(ids);
    if (atomic_load_explicit(&ids->used, memory_order_relaxed) < s->ids_wanted || ids->old_is_dirty)
        return;
    if (now_ms - s->ids_since_ms < IDS_KEPT_MS && s->ids_wanted < IDS_WANTED_MAX) {
        s->ids_wanted *= 2;
        return;
    }
    s->ids_since_ms = now_ms;
    id_table_turn(ids);
}

bool sampler_enter(struct sampler *s) {
    atomic_fetch_add(&s->in_flight, 1);
    if (atomic_load(&s->enabled))
        return true;
    atomic_fetch_sub(&s->in_flight, 1);
    return false;
}

void sampler_leave(struct sampler *s) {
    atomic_fetch_sub(&s->in_flight, 1);
}

static struct scratch *acquire(struct sampler *s, uint32_t tid) {
    for (uint32_t i = 0; i < s->pool_size; i++) {
        struct scratch *c = &s->pool[(tid + i) % s->pool_size];
        if (!atomic_exchange_explicit(&c->busy, 1, memory_order_acquire))
            return c;
    }
    return NULL;
}

static void count(_Atomic uint64_t *counter, uint64_t n) {
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void commit(struct sampler *s, const struct sample_request *q, const struct stack *st,
                   uint64_t time_ns) {
    uint32_t bytes = (uint32_t)(sizeof(struct wire_sample) + st->n * sizeof st->frame[0]);
    struct wire_sample *r = ring_reserve(&s->ring, WIRE_SAMPLE, bytes);
    if (!r) {
        count(&s->status->dropped, 1);
        count(&s->status->dropped_weight, q->weight);
        return;
    }
    r->time_ns = time_ns;
    r->weight = q->weight;
    r->virtual_id = st->virtual_id;
    r->tid = q->tid;
    r->frames = (uint16_t)st->n;
    r->event = (uint8_t)q->event;
    r->state = WIRE_THREAD_RUNNING;
    memcpy(r->frame, st->frame, st->n * sizeof st->frame[0]);
    ring_commit(r, WIRE_SAMPLE);
    count(&s->status->samples, 1);
}

static bool faults_are_deliverable(const void *context) {
    const sigset_t *blocked = &((const ucontext_t *)context)->uc_sigmask;
    return !sigismember(blocked, SIGSEGV) && !sigismember(blocked, SIGBUS);
}

#define ALTERNATE_STACK_MIN 16384u /* the signal's frame alone may take 3 KiB, a fault's as much */

/* A thread with an alternate stack is interrupted on that. */
static bool stack_is_small(const void *context) {
    const stack_t *alternate = &((const ucontext_t *)context)->uc_stack;
    return !(alternate->ss_flags & SS_DISABLE) && alternate->ss_size < ALTERNATE_STACK_MIN;
}

void sampler_take(struct sampler *s, const struct sample_request *q) {
    uint64_t begin = now_ns();
    struct registers r = registers_read(q->context);
    uint64_t few[2];
    struct stack st = {.frame = few, .max = 2, .java_max = s->depth};
    struct scratch *c = acquire(s, q->tid);
    count(&s->status->signals, 1);
    if (c) {
        st.frame = c->frame;
        /* One place is kept for the error frame that says why a walk ended. */
        st.max = WIRE_FRAMES_MAX;
        for (uint32_t i = 0; i < q->kernel_frames && s->walker.walk != WIRE_WALK_NO; i++)
            stack_add(&st, q->kernel[i]);
    }
    if (!c)
        st.failure = WIRE_FAILURE_NO_SCRATCH;
    else if (!faults_are_deliverable(q->context))
        st.failure = WIRE_FAILURE_SEGV_BLOCKED;
    else if (stack_is_small(q->context))
        st.failure = WIRE_FAILURE_SMALL_STACK;
    bool safe = c && !st.failure;
    if (!safe) {
        stack_add(&st, wire_frame_address(WIRE_FRAME_NATIVE, r.pc));
        stack_add(&st, wire_frame_address(WIRE_FRAME_ERROR, st.failure));
    } else if (s->walker.walk == WIRE_WALK_ASGCT) {
        walk_asgct(&s->asgct, &s->walker, q->context, &r, &st);
    } else {
        walk_vm(&s->walker, &r, &st);
    }
    if (safe)
        st.virtual_id = virtual_thread_current(s->walker.vm, s->walker.names,
                                               vm_current_java_thread(s->walker.vm), q->tid);
    if (st.failure)
        count(&s->status->failed[st.failure], 1);
    commit(s, q, &st, begin);
    if (c)
        atomic_store_explicit(&c->busy, 0, memory_order_release);
    count(&s->status->handler_ns, now_ns() - begin);
}
