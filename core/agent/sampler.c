#include "core/agent/sampler.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/reserve.h"
#include "core/agent/walk/virtual_thread.h"
#include "core/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define YIELDS 1000u      /* before the wait for handlers sleeps between checks */
#define IDS_WANTED 12000u /* methods; their tables take about 200 KB */
#define IDS_WANTED_MAX (1u << 19)
/* At least; where they fill up sooner, the limit is doubled: that many may be alive */
#define IDS_KEPT_MS 10000u

int sampler_map(struct sampler *s, const struct vm *vm, struct wire_mapping *mapping,
                uint64_t ring_bytes) {
    /* in_flight keeps its value: a handler of the last session may be between its two steps in
     * sampler_enter. */
    s->libraries.count[0] = s->libraries.count[1] = 0;
    s->names = (struct names){0};
    s->ids_wanted = 0;
    method_ids_forget(&s->asgct.methods);
    s->ids_since_ms = 0;
    s->live_ids = 0;
    s->allowed = NULL;
    s->window = SAMPLER_ALWAYS;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    /* One handler may run on each CPU, and a few more may be preempted in the middle. */
    s->pool_size = 2 * (uint32_t)(cpus > 0 ? cpus : 1) + 14;
    s->pool = reserve(s->pool_size * sizeof *s->pool);
    if (!s->pool)
        return -errno;
    s->status = &mapping->control.status;
    ring_writer_init(&s->ring, mapping, ring_bytes);
    s->names.vm = vm;
    s->names.ring = &s->ring;
    s->walker = (struct walker){.vm = vm,
                                .names = &s->names,
                                .libraries = &s->libraries,
                                .precise = &s->precise,
                                .cache = frame_cache_map(),
                                .last = last_stacks_map()};
    int r = id_table_map(&s->names.methods);
    if (r == 0)
        r = id_table_map(&s->names.stubs);
    if (r == 0)
        r = id_table_map(&s->names.classes);
    if (r < 0)
        sampler_unmap(s);
    return r;
}

void sampler_unmap(struct sampler *s) {
    if (s->pool)
        munmap(s->pool, s->pool_size * sizeof *s->pool);
    s->pool = NULL;
    frame_cache_unmap(s->walker.cache);
    s->walker.cache = NULL;
    last_stacks_unmap(s->walker.last);
    s->walker.last = NULL;
    id_table_unmap(&s->names.methods);
    id_table_unmap(&s->names.stubs);
    id_table_unmap(&s->names.classes);
}

void sampler_enable(struct sampler *s, uint32_t depth, uint32_t cut) {
    s->depth = depth ? depth : WIRE_DEPTH_DEFAULT;
    if (s->depth > WIRE_FRAMES_MAX - 1) /* one place is for an error frame */
        s->depth = WIRE_FRAMES_MAX - 1;
    s->cut = cut <= s->depth ? cut : 0;
    uint32_t now = SAMPLER_DISABLED;
    atomic_compare_exchange_strong(&s->enabled, &now, SAMPLER_ENABLED);
}

void sampler_disable(struct sampler *s) {
    uint32_t now = SAMPLER_ENABLED;
    atomic_compare_exchange_strong(&s->enabled, &now, SAMPLER_DISABLED);
    /* A callback may wait inside the VM, for the end of a garbage collection or for a debugger. */
    for (uint32_t waits = 0; atomic_load(&s->in_flight); waits++)
        if (waits < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

void sampler_renew_ids(struct sampler *s, uint64_t now_ms) {
    struct id_table *ids = &s->names.methods;
    if (!s->ids_wanted) {
        s->ids_wanted = IDS_WANTED;
        s->ids_since_ms = now_ms;
    }
    /* No handler runs at this moment. Those that come later use the new half. */
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
    if (atomic_load(&s->enabled) == SAMPLER_ENABLED)
        return true;
    atomic_fetch_add(&s->turned_away, 1);
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

/* No sample takes longer. A longer time includes time in which the thread did not run. The thread's
 * CPU clock would be exact, but needs one more system call per sample. */
#define SPENT_MOST_NS 250000

static void count_spent(struct sampler *s, uint64_t ns) {
    count(&s->status->handler_ns, ns < SPENT_MOST_NS ? ns : SPENT_MOST_NS);
}

static bool commit(struct sampler *s, const struct sample_request *q, const struct stack *st,
                   uint64_t time_ns, uint32_t window) {
    struct wire_engine_status *engine = &s->status->engine[q->event];
    uint32_t bytes = (uint32_t)(sizeof(struct wire_sample) + st->n * sizeof st->frame[0]);
    struct wire_sample *r = ring_reserve(&s->ring, WIRE_SAMPLE, bytes);
    if (!r) {
        count(&s->status->dropped, 1);
        count(&s->status->dropped_weight, q->weight);
        __atomic_fetch_add(&engine->dropped, 1, __ATOMIC_RELAXED);
        return false;
    }
    /* It reads the vdso or the thread's rseq area: no system call. */
    int cpu = q->sleeper ? -1 : sched_getcpu();
    r->time_ns = time_ns;
    r->weight = q->weight;
    r->virtual_id = st->virtual_id;
    r->live_id = q->live_id;
    r->tid = q->tid;
    r->count = q->count ? q->count : 1;
    r->frames = (uint16_t)st->n;
    r->event = (uint8_t)q->event;
    r->state = (uint8_t)q->state;
    r->cpu = cpu >= 0 ? (uint16_t)cpu : WIRE_CPU_NONE;
    r->flags = window == SAMPLER_MARKED_OUTSIDE ? WIRE_SAMPLE_OUTSIDE : 0;
    memcpy(r->frame, st->frame, st->n * sizeof st->frame[0]);
    ring_commit(r, WIRE_SAMPLE);
    count(&s->status->samples, 1);
    __atomic_fetch_add(&engine->samples, 1, __ATOMIC_RELAXED);
    return true;
}

static bool faults_are_deliverable(const void *context) {
    sigset_t own;
    const sigset_t *blocked = &own;
    if (context)
        blocked = &((const ucontext_t *)context)->uc_sigmask;
    else if (pthread_sigmask(SIG_BLOCK, NULL, &own) != 0)
        return false;
    return !sigismember(blocked, SIGSEGV) && !sigismember(blocked, SIGBUS);
}

#define ALTERNATE_STACK_MIN 16384u /* a signal's frame may take 3 KiB, a fault's as much */

bool sampler_stack_is_small(const void *context) {
    if (!context)
        return false;
    const ucontext_t *u = context;
    /* In a handler of faults, one more signal's frame is on it. */
    size_t least =
        (size_t)ALTERNATE_STACK_MIN * (sigismember(&u->uc_sigmask, SIGSEGV) == 1 ? 2 : 1);
    return !(u->uc_stack.ss_flags & SS_DISABLE) && u->uc_stack.ss_size < least;
}

/* AsyncGetCallTrace reads the context only for a thread in Java code. A callback is not in Java
 * code. */
static __attribute__((noinline)) void walk_without_context(struct sampler *s,
                                                           const struct walker *w,
                                                           const struct registers *r,
                                                           struct stack *st) {
    ucontext_t none;
    memset(&none, 0, sizeof none);
    walk_asgct(&s->asgct, w, &none, r, st);
}

static void walk(struct sampler *s, const struct sample_request *q, const struct registers *r,
                 struct stack *st) {
    struct walker w = s->walker;
    w.sleeper = q->sleeper ? &q->sleeper->java : NULL;
    if (w.walk == WIRE_WALK_ASGCT && q->sleeper) {
        w.walk = WIRE_WALK_VM; /* AsyncGetCallTrace works for the calling thread only */
        walk_vm(&w, r, st);
    } else if (w.walk == WIRE_WALK_ASGCT && q->context) {
        walk_asgct(&s->asgct, &w, q->context, r, st);
    } else if (w.walk == WIRE_WALK_ASGCT) {
        walk_without_context(s, &w, r, st);
    } else {
        uint32_t first = st->n;
        if (q->java_only)
            w.walk = WIRE_WALK_NO;
        walk_vm(&w, r, st);
        if (st->failure != WIRE_FAILURE_NO_JAVA || w.walk == s->walker.walk || q->sleeper)
            return;
        /* No Java frame was found. The VM acted by itself, for example while it starts: its own
         * functions are then the stack. */
        st->n = first;
        st->failure = WIRE_FAILURE_NONE;
        w.walk = s->walker.walk;
        walk_vm(&w, r, st);
    }
}

static bool is_java(uint64_t frame) {
    uint32_t type = wire_frame_type(frame);
    return type >= WIRE_FRAME_INTERPRETED && type <= WIRE_FRAME_NATIVE_METHOD;
}

/* Removes up to `frames` Java frames from place `first` on. */
static void skip_java(struct stack *st, uint32_t first, uint32_t frames) {
    uint32_t n = 0;
    while (n < frames && first + n < st->n && is_java(st->frame[first + n]))
        n++;
    memmove(&st->frame[first], &st->frame[first + n], (st->n - first - n) * sizeof st->frame[0]);
    st->n -= n;
}

/* Cuts the frames from place `first` on to the requested depth. */
static void limit_depth(const struct sampler *s, uint32_t first, struct stack *st) {
    bool truncated = st->failure == WIRE_FAILURE_TRUNCATED;
    uint32_t frames = st->n - first - (truncated && st->n > first);
    if (!truncated && frames < s->depth + !s->cut)
        return;
    uint32_t kept = s->cut ? s->cut - 1 : s->depth - (s->depth > 1);
    st->n = first + (frames < kept ? frames : kept);
    st->failure = WIRE_FAILURE_TRUNCATED;
    stack_add(st, wire_frame_address(WIRE_FRAME_ERROR, WIRE_FAILURE_TRUNCATED));
}

bool sampler_take(struct sampler *s, const struct sample_request *q) {
    uint32_t window = atomic_load_explicit(&s->window, memory_order_relaxed);
    if (window == SAMPLER_OUTSIDE || !sampler_allows(s, q->tid))
        return false;
    uint64_t begin = clock_now_ns();
    /* The window may have ended before `begin` was read. */
    if (window == SAMPLER_INSIDE)
        window = atomic_load(&s->window);
    if (window == SAMPLER_OUTSIDE)
        return false;
    struct registers r = q->context ? registers_read(q->context) : q->from;
    uint64_t few[3];
    struct stack st = {.frame = few, .max = 3, .java_max = s->depth + q->skip_java};
    struct scratch *c = acquire(s, q->tid);
    if (!q->sleeper)
        count(&s->status->signals, 1);
    if (c) {
        st.frame = c->frame;
        /* The walk keeps one place free for the error frame that says why it ended. */
        st.max = WIRE_FRAMES_MAX;
    }
    if (q->top)
        stack_add(&st, q->top);
    if (q->context && s->walker.features & WIRE_FEATURE_PCADDR)
        stack_add(&st, wire_frame_address(WIRE_FRAME_PC, r.pc));
    for (uint32_t i = 0; c && i < q->kernel_frames && s->walker.walk != WIRE_WALK_NO; i++)
        stack_add(&st, q->kernel[i]);
    uint32_t first = st.n;
    if (!c)
        st.failure = WIRE_FAILURE_NO_SCRATCH;
    else if (!q->faults && !faults_are_deliverable(q->context))
        st.failure = WIRE_FAILURE_SEGV_BLOCKED;
    else if (sampler_stack_is_small(q->context))
        st.failure = WIRE_FAILURE_SMALL_STACK;
    bool safe = c && !st.failure;
    if (!safe) {
        stack_add(&st, wire_frame_address(WIRE_FRAME_NATIVE, r.pc));
        stack_add(&st, wire_frame_address(WIRE_FRAME_ERROR, st.failure));
    } else {
        walk(s, q, &r, &st);
        skip_java(&st, first, q->skip_java);
        limit_depth(s, first, &st);
        uintptr_t java = q->sleeper ? q->sleeper->java : vm_current_java_thread(s->walker.vm);
        st.virtual_id = virtual_thread_current(s->walker.vm, s->walker.names, java, q->tid);
    }
    bool valid = !q->sleeper || q->sleeper->slept(q->sleeper->arg);
    if (valid && st.failure)
        count(&s->status->failed[st.failure], 1);
    bool taken = valid && commit(s, q, &st, begin, window);
    if (c)
        atomic_store_explicit(&c->busy, 0, memory_order_release);
    if (!q->sleeper) /* a sleeper is sampled by a thread of the agent */
        count_spent(s, clock_now_ns() - begin);
    return taken;
}

// NOLINTNEXTLINE(readability-non-const-parameter): a stack may be written to
bool sampler_put(struct sampler *s, const struct sample_request *q, uint64_t *frame, uint32_t n) {
    uint32_t window = atomic_load_explicit(&s->window, memory_order_relaxed);
    if (window == SAMPLER_OUTSIDE || !sampler_allows(s, q->tid))
        return false;
    struct stack st = {.frame = frame, .n = n, .max = WIRE_FRAMES_MAX};
    limit_depth(s, 0, &st);
    return commit(s, q, &st, clock_now_ns(), window);
}

uint64_t sampler_live_id(struct sampler *s) {
    return atomic_fetch_add_explicit(&s->live_ids, 1, memory_order_relaxed) + 1;
}

bool sampler_free(struct sampler *s, uint64_t live_id) {
    struct wire_free *r = ring_reserve(&s->ring, WIRE_FREE, sizeof *r);
    if (!r)
        return false;
    r->time_ns = clock_now_ns();
    r->live_id = live_id;
    ring_commit(r, WIRE_FREE);
    return true;
}
