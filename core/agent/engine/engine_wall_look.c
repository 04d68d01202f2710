#include "core/agent/engine/engine_wall.h"

#include "core/agent/process/guarded.h"
#include "core/base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REPEAT_NS UINT64_C(900000000) /* a live screen hears of a sleeper as often */
#define TRIES 3                       /* to find a thread asleep from one end to the other */
#define CALM_LOOKS 8                  /* without a move, until looks become fewer */
#define CALM_FACTOR 4
#define HANDLER_NS 200000u /* a handler and its thread's way back to sleep use less */
#define LINK_BYTES 8192u   /* of a stack without Java, searched for a frame */

/* How much of the time up to a look its sample covers. */
static uint64_t covered(const struct wall *w, const struct wall_thread *t, uint64_t now) {
    uint64_t most = 2 * w->run->request.interval;
    return now - t->since_ns < most ? now - t->since_ns : most;
}

uint32_t wall_count(struct wall_thread *t, uint64_t interval, uint64_t weight) {
    int64_t ns = (int64_t)interval;
    t->rest_ns += (int64_t)weight;
    int64_t count = t->rest_ns > 0 ? (t->rest_ns + ns / 2) / ns : 0;
    count = count < 1 ? 1 : count > UINT32_MAX ? UINT32_MAX : count;
    t->rest_ns -= count * ns;
    t->rest_ns = t->rest_ns < -4 * ns ? -4 * ns : t->rest_ns;
    return (uint32_t)count;
}

void wall_repeat(struct wall *w, struct wall_thread *t) {
    uint64_t interval = w->run->request.interval;
    if (!t->sampled || t->same_ns <= t->since_ns)
        return;
    struct wire_repeat *r = ring_reserve(&w->run->sampler->ring, WIRE_REPEAT, sizeof *r);
    if (!r)
        return; /* later, with what comes then */
    uint64_t weight = t->same_ns - t->since_ns;
    uint32_t count = wall_count(t, interval, weight);
    memset((char *)r + sizeof r->header, 0, sizeof *r - sizeof r->header);
    r->time_ns = t->same_ns;
    r->weight = weight;
    r->tid = t->tid;
    r->count = count;
    r->event = WIRE_EVENT_WALL;
    r->state = t->state;
    ring_commit(r, WIRE_REPEAT);
    engine_count(&w->run->status->samples, count);
    t->since_ns = t->same_ns;
}

static void note_same(struct wall *w, struct wall_thread *t, uint64_t from, uint64_t now) {
    t->calm++;
    t->same_ns = now;
    atomic_fetch_add(&w->covered_ns, now - from);
    if (now - t->since_ns >= REPEAT_NS)
        wall_repeat(w, t);
}

/* What tells that a thread has slept all the while. */
struct check {
    uint32_t tid;
    uint64_t cpu_ns;
};

static bool has_slept(void *arg) {
    const struct check *c = arg;
    return clock_ns(clock_of_thread(c->tid)) == c->cpu_ns;
}

/* The JavaThread*, if the thread's it is. */
static uintptr_t java_thread(struct wall *w, uint32_t tid) {
    uintptr_t java = threads_java_of(w->run->threads, tid);
    return java && threads_tid_of(w->run->threads, java) == tid ? java : 0;
}

/* Where a sleeper's stack begins. False: it cannot be told from here. */
static bool registers_of(struct wall *w, const struct thread_sleep *sleep,
                         struct sample_request *q) {
    const struct walker *walker = &w->run->sampler->walker;
    const struct vm_layout *at = &walker->vm->at;
    uintptr_t java = q->sleeper->java;
    uintptr_t anchor =
        java ? guarded_load64(java + (uintptr_t)(at->thread_anchor + at->anchor_sp)) : 0;
    q->from = (struct registers){.pc = sleep->pc, .sp = sleep->sp};
    if (sleep->syscall < 0) { /* its last Java frame is all there is */
        q->from.sp = anchor;
        q->java_only = true;
        return anchor != 0;
    }
    q->from.fp = walk_find_link(walker, sleep->sp, anchor ? anchor : sleep->sp + LINK_BYTES);
    return true;
}

/* Takes a sleeper's sample from here. False: it was not asleep, or there was no room. */
static bool take(struct wall *w, struct wall_thread *t, const struct thread_sleep *sleep,
                 uint64_t now, uint64_t cpu, bool *can) {
    struct sampler *s = w->run->sampler;
    struct check check = {t->tid, cpu};
    struct sample_sleeper sleeper = {java_thread(w, t->tid), has_slept, &check};
    struct sample_request q = {.sleeper = &sleeper, .tid = t->tid, .event = WIRE_EVENT_WALL};
    if (!sampler_enter(s))
        return false;
    bool taken = false;
    *can = registers_of(w, sleep, &q);
    if (*can) {
        q.state = thread_state_of_sleep(&w->states, s->walker.vm, sleeper.java, sleep, q.from.fp);
        q.weight = now - t->since_ns;
        q.count = wall_count(t, w->run->request.interval, q.weight);
        t->window = atomic_load(&s->window);
        taken = sampler_take(s, &q);
        if (taken) {
            t->calm = 0;
            atomic_fetch_add(&w->covered_ns, covered(w, t, now));
            t->state = (uint8_t)q.state;
            t->cpu_ns = cpu;
            t->since_ns = now;
            t->sampled = true;
        }
    }
    sampler_leave(s);
    return taken;
}

/* With what tells the handler whose it is. 0 or -errno. */
static int queue_signal(int32_t pid, uint32_t tid, int signo, uint32_t index) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = signo;
    info.si_code = SI_QUEUE;
    info.si_pid = pid;
    info.si_value.sival_ptr = (void *)((uintptr_t)tid << 32 | index);
    return syscall(SYS_rt_tgsigqueueinfo, pid, tid, signo, &info) == 0 ? 0 : -errno;
}

int wall_try_signal(struct wall *w) {
    return queue_signal(w->pid, (uint32_t)syscall(SYS_gettid), 0, 0);
}

static void send(struct wall *w, struct wall_thread *t, uint64_t now, uint64_t cpu) {
    t->calm = 0;
    t->sent_ns = now;
    atomic_store(&t->until_ns, now);
    atomic_store(&t->covers_ns, covered(w, t, now));
    t->cpu_ns = cpu;
    t->window = atomic_load(&w->run->sampler->window);
    atomic_store(&t->turn, WALL_SENT);
    if (queue_signal(w->pid, t->tid, w->run->signo, (uint32_t)(t - w->entry)) < 0)
        atomic_store(&t->turn, WALL_OURS); /* gone, or too many signals wait: the next time */
}

/* Whether sleepers are sampled from here; else by a signal each time they have moved. */
static bool sees_sleepers(const struct wall *w) {
    return w->run->sampler->walker.vm->heaps > 0 && !w->states.hidden;
}

/* Whether a thread has not moved since its last sample. What a handler itself has used must not
 * look like a move where the next look would send a signal again. */
static bool has_stayed(const struct wall *w, struct wall_thread *t, uint64_t cpu) {
    bool by_handler = t->handled && !sees_sleepers(w) && cpu - t->cpu_ns <= HANDLER_NS;
    t->handled = false;
    if (by_handler)
        t->cpu_ns = cpu;
    return t->sampled && cpu == t->cpu_ns && t->window == atomic_load(&w->run->sampler->window);
}

/* A thread that may have moved since its last sample. */
static void take_or_send(struct wall *w, struct wall_thread *t, uint64_t now, uint64_t cpu) {
    bool described = w->run->sampler->walker.vm->heaps > 0;
    for (int i = 0; i < TRIES && cpu; i++) {
        struct thread_sleep sleep;
        bool can = false;
        enum thread_look look =
            described ? thread_state_look(&w->states, t->tid, &sleep) : THREAD_RUNS;
        uint32_t sent = WALL_SENT;
        if (look == THREAD_GONE)
            return;
        /* It may have slept with the signal blocked, or the handler have been shut out: then the
         * signal is void now. */
        bool waits = look == THREAD_RUNS && now - t->sent_ns <= w->run->request.interval;
        if (atomic_load(&t->turn) != WALL_OURS &&
            (waits || !atomic_compare_exchange_strong(&t->turn, &sent, WALL_OURS)))
            return;
        if (look == THREAD_RUNS) {
            send(w, t, now, cpu);
            return;
        }
        if (take(w, t, &sleep, now, cpu, &can))
            return;
        if (!can) {
            send(w, t, now, cpu);
            return;
        }
        cpu = clock_ns(clock_of_thread(t->tid));
    }
}

/* Outside of a window time does not count. */
static bool is_outside(struct wall *w, struct wall_thread *t, uint64_t now) {
    if (atomic_load(&w->run->sampler->window) != SAMPLER_OUTSIDE)
        return false;
    wall_repeat(w, t);
    t->since_ns = t->looked_ns = now;
    t->sampled = false;
    return true;
}

uint64_t wall_look(struct wall *w, struct wall_thread *t, uint64_t now) {
    uint64_t interval = w->run->request.interval;
    uint32_t turn = atomic_load(&t->turn);
    if (turn == WALL_ITS || (turn == WALL_OURS && is_outside(w, t, now)))
        return interval;
    uint64_t cpu = clock_ns(clock_of_thread(t->tid));
    if (!cpu) {
        wall_threads_drop(w, t);
        return interval;
    }
    uint64_t from = t->looked_ns;
    t->looked_ns = now;
    w->expected_ns += now - from;
    if (turn == WALL_SENT && cpu == t->cpu_ns) { /* it waits for a processor */
        atomic_store(&t->until_ns, now);
        atomic_fetch_add(&t->covers_ns, now - from);
        return interval;
    }
    if (turn == WALL_OURS && has_stayed(w, t, cpu)) {
        note_same(w, t, from, now);
        return t->calm < CALM_LOOKS ? interval : CALM_FACTOR * interval;
    }
    if (turn == WALL_OURS)
        wall_repeat(w, t);
    take_or_send(w, t, now, cpu);
    return interval;
}

void wall_close(struct wall *w, struct wall_thread *t, uint64_t now) {
    if (atomic_load(&t->turn) != WALL_OURS || !t->sampled)
        return;
    if (clock_ns(clock_of_thread(t->tid)) == t->cpu_ns && now > t->looked_ns) {
        w->expected_ns += now - t->looked_ns;
        atomic_fetch_add(&w->covered_ns, now - t->looked_ns);
        t->same_ns = now;
    }
    wall_repeat(w, t);
}
