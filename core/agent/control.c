#include "core/agent/agent.h"
#include "core/agent/engine/engine_wall.h"
#include "core/agent/process/guarded.h"
#include "core/agent/process/sigtrap.h"
#include "core/base/clock.h"
#include "core/wire/handshake.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURN_MS 100          /* between two turns of periodic work while engines run */
#define IDLE_TURN_MS 500     /* the same while the agent only waits for requests */
#define FULL_SCAN_MS 1000    /* finds threads that came and went in equal numbers */
#define FIRST_LEASE_MS 10000 /* for a reader that is still starting */

static void wait_for_request(struct wire_request *q, uint32_t seen, uint32_t ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};
    syscall(SYS_futex, &q->generation, FUTEX_WAIT, seen, &t, NULL, 0);
}

/* How long the reader has been silent, measured in turns of the agent's thread. A longer gap counts
 * as one idle turn: the JVM itself was stopped then, and the reader is not to blame. */
struct lease {
    uint32_t heartbeat;
    uint64_t silent_ms, limit_ms, last_ms;
};

static bool lease_is_out(struct lease *l, const struct wire_request *q) {
    uint64_t now = clock_now_ms();
    uint64_t turn = now - l->last_ms;
    uint32_t beat = atomic_load_explicit(&q->heartbeat, memory_order_relaxed);
    l->last_ms = now;
    if (beat != l->heartbeat) {
        l->heartbeat = beat;
        l->silent_ms = 0;
        uint32_t asked = q->lease_ms;
        l->limit_ms = asked && asked < 600000 ? asked : WIRE_LEASE_MS;
        return false;
    }
    l->silent_ms += turn < 2UL * IDLE_TURN_MS ? turn : IDLE_TURN_MS;
    return l->silent_ms >= l->limit_ms;
}

void agent_wake(void) {
    syscall(SYS_futex, &agent.mapping.wire->control.request.generation, FUTEX_WAKE, 1, NULL, NULL,
            0);
}

static void tell_refused(struct wire_engine_status *s, uint32_t threads, int error) {
    if (error == ENOTCONN)
        snprintf(s->reason, sizeof s->reason,
                 "%u newer threads are not sampled: jtop-prof no longer opens perf_events",
                 threads);
    else
        snprintf(s->reason, sizeof s->reason,
                 "%u newer threads are not sampled: they cannot be added (errno %d)", threads,
                 error);
}

static void publish(void) {
    struct wire_status *s = &agent.mapping.wire->control.status;
    atomic_store_explicit(&s->agent_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID) + wall_own_cpu_ns(),
                          memory_order_relaxed);
    atomic_store_explicit(&s->threads, agent.threads.alive, memory_order_relaxed);
    atomic_store_explicit(&s->faults, guarded_faults(), memory_order_relaxed);
    for (int event = 0; event < WIRE_EVENTS; event++)
        if (agent.threads.refused[event])
            tell_refused(&s->engine[event], agent.threads.refused[event],
                         agent.threads.refused_error[event]);
}

static void announce_libraries(void) {
    if (!libraries_refresh(&agent.sampler.libraries))
        return;
    uint64_t *r = ring_reserve(&agent.sampler.ring, WIRE_LIBRARY, 8);
    if (r)
        ring_commit(r, WIRE_LIBRARY);
}

/* Periodic work on what changes while engines run: threads, names, libraries. Names cost most.
 * The pause between two checks of names is 500 times the CPU time of the last check, and at least a
 * second. */
struct chores {
    uint64_t next_ms; /* engines may want their turn sooner than that */
    uint64_t next_scan_ms, next_names_ms;
    uint32_t filters; /* request.filters at the last check */
};

static void name_threads(struct chores *c, uint64_t now, jvmtiEnv *jvmti, JNIEnv *jni) {
    uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    threads_name_all(&agent.threads, jvmti, jni);
    uint64_t pause = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) / 1000000 * 500;
    c->next_names_ms = now + (pause > 1000 ? pause : 1000);
}

static void do_chores(struct chores *c, jvmtiEnv *jvmti, JNIEnv *jni) {
    bool late = agent.threads.late; /* if so, every thread that starts wakes the agent's thread */
    agent_arm_late();
    uint64_t now = clock_now_ms();
    bool often = agent_turn_ms(TURN_MS) < TURN_MS;
    if (now < c->next_ms && (often || late)) {
        if (often)
            agent_turn_engines(jni, now);
        return;
    }
    c->next_ms = now + TURN_MS;
    uint32_t filters = atomic_load(&agent.mapping.wire->control.request.filters);
    threads_scan(&agent.threads, now >= c->next_scan_ms || filters != c->filters);
    c->filters = filters;
    if (now >= c->next_scan_ms)
        c->next_scan_ms = now + FULL_SCAN_MS;
    if (now >= c->next_names_ms)
        name_threads(c, now, jvmti, jni);
    announce_libraries();
    if (agent.sampler.precise.on)
        precise_turn(&agent.sampler.precise, jvmti, jni);
    if (agent.sampler.asgct.open)
        asgct_turn(&agent.sampler.asgct, &agent.sampler.names, jvmti, jni);
    (void)guarded_install(); /* another handler may have been put in front of ours */
    agent_turn_engines(jni, now);
    sampler_renew_ids(&agent.sampler, now);
    publish();
}

/* Reports Java states, whether engines run or not, if the reader asks for them. A thread must be
 * known and named before its state is written. */
static void look_at_java_states(struct chores *c, jvmtiEnv *jvmti, JNIEnv *jni) {
    struct wire_control *w = &agent.mapping.wire->control;
    uint32_t asked = atomic_load_explicit(&w->request.java_states, memory_order_relaxed);
    uint64_t now = clock_now_ms();
    if (asked)
        (void)guarded_install(); /* as in do_chores, which runs only with engines */
    if (asked && !agent.ground && now >= c->next_names_ms) {
        threads_scan(&agent.threads, true);
        name_threads(c, now, jvmti, jni);
    }
    enum wire_java_report report =
        java_states_turn(&agent.java_states, &agent.threads, asked, now, jvmti, jni);
    atomic_store_explicit(&w->status.java_report, report, memory_order_relaxed);
}

/* Returns true when the agent is to detach. */
static bool carry_out(struct wire_request *shared, jvmtiEnv *jvmti, JNIEnv *jni) {
    static struct wire_request q; /* for the agent's thread only; 9 KiB are much for its stack */
    memcpy(&q, shared, sizeof q);
    agent.broker.generation = q.generation;
    switch (q.command) {
    case WIRE_COMMAND_START:
        /* Names come first: they must be in the ring before the first sample that needs them. */
        threads_scan(&agent.threads, true);
        threads_name_all(&agent.threads, jvmti, jni);
        agent_start_engines(&q, jvmti, jni);
        break;
    case WIRE_COMMAND_STOP:
        agent_stop_engines(jvmti, jni);
        atomic_store(&agent.mapping.wire->control.status.state, WIRE_STATE_IDLE);
        break;
    case WIRE_COMMAND_DETACH:
        return true;
    default:
        break;
    }
    publish();
    return false;
}

static void acknowledge(struct wire_status *s, uint32_t generation) {
    atomic_store(&s->generation, generation);
    syscall(SYS_futex, &s->generation, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void end(jvmtiEnv *jvmti, JNIEnv *jni, uint32_t generation, enum wire_state state) {
    struct wire_status *s = &agent.mapping.wire->control.status;
    agent_stop_engines(jvmti, jni);
    publish();
    pthread_mutex_lock(&agent.lock);
    if (agent.java_exits) { /* VMDeath may be waiting for the reader: keep the mapping */
        pthread_mutex_unlock(&agent.lock);
        return;
    }
    threads_close(&agent.threads, jvmti);
    broker_close(&agent.broker);
    guarded_remove();
    sampler_unmap(&agent.sampler);
    close(agent.mapping.memfd);
    agent.mapping.memfd = -1;
    /* A reader that sees this state knows that the agent has released everything but this page,
     * this thread, and the handler of SIGTRAP. */
    atomic_store(&s->state, state);
    acknowledge(s, generation);
    agent_mapping_close(&agent.mapping);
    agent.active = false;
    pthread_mutex_unlock(&agent.lock);
    sigtrap_leave(); /* no reader waits for this, unless it is already the next one */
}

void agent_run(jvmtiEnv *jvmti, JNIEnv *jni) {
    struct wire_control *c = &agent.mapping.wire->control;
    struct lease lease = {.limit_ms = FIRST_LEASE_MS, .last_ms = clock_now_ms()};
    struct chores chores = {0};
    uint32_t done = 0;
    agent.reader_silent_ms = 0;
    agent.evict = false;
    wall_forget_cpu();
    uint32_t own = (uint32_t)syscall(SYS_gettid);
    threads_own(&agent.threads, own, true);
    while (!agent.java_exits) {
        uint32_t generation = atomic_load_explicit(&c->request.generation, memory_order_acquire);
        if (generation != done) {
            if (carry_out(&c->request, jvmti, jni)) {
                threads_own(&agent.threads, own, false);
                end(jvmti, jni, generation, WIRE_STATE_DETACHED);
                return;
            }
            done = generation;
            acknowledge(&c->status, done);
        }
        if (agent.ground)
            do_chores(&chores, jvmti, jni);
        look_at_java_states(&chores, jvmti, jni);
        bool out = lease_is_out(&lease, &c->request);
        agent.reader_silent_ms = (uint32_t)lease.silent_ms;
        if (out || agent.evict) {
            threads_own(&agent.threads, own, false);
            end(jvmti, jni, done, WIRE_STATE_LEASE_OUT);
            return;
        }
        uint32_t ms = agent.ground ? agent_turn_ms(TURN_MS) : IDLE_TURN_MS;
        /* A thread that becomes late after this check stays so until the wait ends. */
        wait_for_request(&c->request, done, agent_late_is_due() ? 0 : ms);
    }
}
