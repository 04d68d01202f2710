/* The drain thread: a loop that sends heartbeats, reads the ring, carries out the caller's
 * requests, and watches the agent, the JVM, and itself (if this process was stopped for longer than
 * the lease, it must attach again). It never waits long. */
#include "core/session/drain/drain.h"

#include "attach/proc/thread_stat.h"
#include "core/base/clean_text.h"
#include "core/base/clock.h"
#include "core/session/pauses.h"
#include "core/session/session_state.h"
#include "core/wire/record_build.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Keeps the agent within its budget: requests from the agent what core/session/drain/budget.c
 * decides. */

static void show(struct session *s) {
    session_lock(s);
    budget_show(&s->drain.budget, s->options.engine, s->options.engines, &s->status.budget);
    session_unlock(s);
}

/* Once a second: checks whether the agent keeps to its budget, and reacts. */
static void drain_look_at_budget(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    if (!d->budget.limit_ppm || s->joined || !d->linked || d->pending != WIRE_COMMAND_NONE ||
        !d->report.engine_runs || drain_wanted(s) != WIRE_COMMAND_NONE)
        return;
    uint32_t before = d->budget.factor;
    if (budget_look(&d->budget, now, s->status.agent_ns)) {
        d->budgeting = true;
        d->budget_before = before;
        drain_ask_start(s);
    }
    show(s);
}

void drain_end_budgeting(struct session *s, bool succeeded) {
    struct drain *d = &s->drain;
    d->budgeting = false;
    if (succeeded)
        budget_restart(&d->budget, clock_now_ns());
    else
        budget_undo(&d->budget, d->budget_before);
    show(s);
    if (!succeeded)
        drain_ask_start(s);
}

/* Sampling must not start late because of the last library's tables. */
#define AWAIT_MS 500

/* Returns the requested walker, until the agent reports which one it uses. WIRE_WALKS: unknown. */
static enum wire_walk walker_of(const struct session *s) {
    const char *name = s->drain.report.walker;
    if (!name[0] || !s->drain.started) /* it may be that of a session before this one */
        return s->adopted ? WIRE_WALKS : s->options.walk;
    return wire_walk_by_name(name);
}

/* Ends what was lent to viewers that have left. */
static void drain_look_at_lent(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    if (s->joined || !d->linked || d->pending != WIRE_COMMAND_NONE || d->answered_ns ||
        drain_wanted(s) != WIRE_COMMAND_NONE)
        return;
    session_lock(s);
    const struct session_options *o = &s->options;
    if (s->kept_until_ns && now > s->kept_until_ns && !s->lookers) {
        lent_drop_kept(&s->lent);
        s->kept_until_ns = 0;
    }
    bool changed =
        lent_expire(&s->lent, now, o->engine, o->engines) && s->status.phase == SESSION_RUNNING;
    session_unlock(s);
    if (!changed)
        return;
    d->budgeting = true; /* a START of our own, which nobody waits for */
    d->budget_before = d->budget.factor;
    drain_ask_start(s);
}

void drain_unwind(struct session *s) {
    struct drain *d = &s->drain;
    struct err e;
    char trouble[256];
    bool asked = walker_of(s) != WIRE_WALK_VM; /* otherwise frame pointers are sufficient, too */
    if (d->unwind) {
        if (asked && unwind_trouble(d->unwind, trouble, sizeof trouble))
            session_set_message(s, "%s", trouble);
        return;
    }
    if (d->unwind_failed || !d->linked || !wire_walk_has_tables(walker_of(s)))
        return;
    const struct mapping *m = &s->mapping;
    if (unwind_start(s->jvm.pid, mapping_unwind(m), m->fd, wire_unwind_offset(m->ring_bytes),
                     &d->unwind, &e) == 0)
        return;
    d->unwind_failed = true;
    if (asked)
        session_set_message(s, "no unwind tables: %s", e.message);
}

void drain_await_unwind(struct session *s, const struct control_start *start) {
    drain_unwind(s);
    if (s->drain.unwind)
        unwind_wait(s->drain.unwind, AWAIT_MS, unwind_needs_all(start->engine, start->engines));
}

void drain_end_unwind(struct drain *d) {
    unwind_stop(d->unwind);
    d->unwind = NULL;
    d->unwind_failed = false;
}

/* What the kernel knows about the JVM's threads: names that the agent has not reported, and
 * policies. */

#define OUTER_NS UINT64_C(200000000) /* between two readings of all threads' numbers */

/* Lists the threads with the JVM's numbers. `known` belongs to the caller. */
static int list_threads(const struct jvm *j, struct thread_numbers *known,
                        struct thread_stat **out) {
    return j->inner_pid == j->pid ? thread_stat_list(j->pid, out)
                                  : thread_stat_list_inside(j->pid, known, out);
}

int session_threads(struct session *s, struct thread_stat **out) {
    struct jvm j;
    *out = NULL;
    session_lock(s);
    j = s->jvm;
    bool gone = s->status.phase == SESSION_JVM_GONE;
    session_unlock(s);
    return gone ? 0 : list_threads(&j, &s->caller_threads, out);
}

/* Sends the name through the decoder like any other record, so that a recording contains
 * it, too. */
static void name_thread(struct session *s, uint32_t tid, const char *name) {
    uint64_t record[RECORD_BUILD_BYTES / 8];
    char clean[24];
    clean_text(clean, sizeof clean, name, strlen(name));
    record_build_thread(record, tid, 0, 0, wire_text_of(clean));
    decoder_prepare(s->drain.decoder, record);
    session_lock(s);
    decoder_decode(s->drain.decoder, record);
    session_unlock(s);
}

/* With a pattern, the agent samples only threads whose names are known to match, and it knows only
 * Java names. Threads of the garbage collector are therefore found by the kernel's names. */
void drain_name_threads(struct session *s) {
    struct decoder *d = s->drain.decoder;
    bool guess = s->filter.has_pattern && s->drain.linked;
    if (!d->nameless_threads && !guess)
        return;
    d->nameless_threads = false;
    struct thread_stat *list = NULL;
    int n = list_threads(&s->jvm, &s->drain.threads, &list);
    for (int i = 0; i < n; i++) {
        uint32_t tid = list[i].tid;
        if (decoder_lacks_name(d, tid))
            name_thread(s, tid, list[i].comm);
        else if (guess)
            thread_filter_guess(&s->filter, tid, list[i].comm);
    }
    free(list);
    drain_tell_filters(s);
}

void drain_tell_filters(struct session *s) {
    const char *trouble = thread_filter_trouble(&s->filter);
    if (trouble)
        session_set_message(s, "%s", trouble);
    if (!s->filter.changed || !s->drain.linked)
        return;
    s->filter.changed = false;
    control_tell_filters(&s->drain.control);
}

static void look_up_numbers(struct session *s) {
    struct drain *d = &s->drain;
    struct thread_stat *list = NULL;
    uint64_t now = clock_now_ns();
    if (d->outer_ns && now - d->outer_ns < OUTER_NS)
        return;
    d->outer_ns = now;
    int n = list_threads(&s->jvm, &d->threads, &list);
    id_map_clear(&d->outer);
    for (int i = 0; i < n; i++)
        id_map_put(&d->outer, UINT64_C(1) << 32 | list[i].tid, list[i].outer);
    free(list);
}

int drain_policy(void *session, uint32_t tid) {
    struct session *s = session;
    uint64_t key = UINT64_C(1) << 32 | tid;
    if (s->jvm.inner_pid != s->jvm.pid) {
        if (!id_map_get(&s->drain.outer, key, &tid))
            look_up_numbers(s);
        if (!id_map_get(&s->drain.outer, key, &tid))
            return -ESRCH;
    }
    int policy = tid > 0 && tid <= WIRE_TID_MAX ? sched_getscheduler((pid_t)tid) : -1;
    return policy < 0 ? -ESRCH : policy & ~SCHED_RESET_ON_FORK;
}

/* Size of the records decoded at once with the lock held: a few milliseconds of work. */
#define BATCH_BYTES (256u << 10)
/* Maximum number of times per second that the JVM's maps are read because it reports a change. If
 * it reports changes all the time, names may be up to a second old. */
#define LOOKS_PER_SECOND 100
#define TURN_MS 20 /* between two readings of the ring */
/* The same if the ring contains little: fewer turns take less of the machine. A burst must not fill
 * the ring meanwhile. And there are sessions that cannot wait: the first samples are to be seen soon,
 * a pattern must be compared with a new thread's name, a thread's policy must be read while it lives,
 * viewers wait, or a JVM that ends waits for our files. */
#define CALM_TURN_MS 200 /* shorter than the heartbeat */
#define CALM_PART 8
#define CALM_PART_OF_SMALL 64 /* only frugal sessions are calm with a small ring */
#define CALM_SECONDS 2
#define CALM_RING_BYTES (4u << 20)
#define SECOND_NS UINT64_C(1000000000)

/* How much is taken out of the ring at a time. With a recording, records stay in the ring until
 * they are in the file, so enough of the ring must stay free for the writers. */
static size_t batch_limit(const struct drain *d) {
    uint64_t share = d->ring.bytes / 4;
    return d->recording && share < BATCH_BYTES ? (size_t)share : BATCH_BYTES;
}

/* Reads records until the batch is full, the ring is empty, or libraries changed: behind that
 * record, addresses have another meaning. */
static size_t fill_batch(struct drain *d, bool writers_gone, bool *libraries) {
    if (!d->batch)
        d->batch = malloc(BATCH_BYTES + WIRE_RECORD_BYTES_MAX);
    size_t used = 0, limit = batch_limit(d);
    *libraries = false;
    while (d->batch && used < limit && !*libraries) {
        uint64_t *record = d->batch + used / 8;
        uint32_t length = ring_peek(&d->ring, record, WIRE_RECORD_BYTES_MAX, writers_gone);
        if (!d->recording)
            ring_release(&d->ring);
        if (length == 0)
            break;
        used += length;
        *libraries = wire_header_type(*record) == WIRE_LIBRARY;
    }
    return used;
}

/* With a recording, records leave the ring only after the kernel has them: if this process is
 * killed, each record is in the file or still in the ring. The next mark reports a failed write. */
static void decode_batch(struct session *s, size_t used) {
    struct drain *d = &s->drain;
    size_t words = used / 8;
    for (size_t i = 0; i < words; i += wire_header_length(d->batch[i]) / 8)
        decoder_prepare(d->decoder, d->batch + i);
    if (d->recording)
        (void)recording_flush(d->recording, NULL);
    ring_release(&d->ring);
    session_lock(s);
    for (size_t i = 0; i < words; i += wire_header_length(d->batch[i]) / 8)
        decoder_decode(d->decoder, d->batch + i);
    session_unlock(s);
}

/* From here on, addresses have another meaning. */
static void libraries_changed(struct drain *d) {
    if (d->unwind)
        unwind_refresh(d->unwind);
    if (d->looks >= LOOKS_PER_SECOND) {
        d->look_due = true;
        return;
    }
    d->looks++;
    decoder_libraries_changed(d->decoder);
}

static void look_later(struct drain *d) {
    if (d->decoder->now_ns - d->looks_ns < SECOND_NS)
        return;
    d->looks_ns = d->decoder->now_ns;
    d->looks = 0;
    if (!d->look_due)
        return;
    d->look_due = false;
    decoder_libraries_changed(d->decoder);
}

/* The session is calm if only a small part of the ring would be full after CALM_TURN_MS at the present
 * rate. Shorter turns are judged together: each of them says little. */
static void judge_rate(struct drain *d) {
    uint64_t now = clock_now_ns(), ns = now - d->judged_ns, bytes = d->ring.tail - d->judged_tail;
    if (ns < TURN_MS * UINT64_C(1000000))
        return;
    ns = ns < SECOND_NS ? ns : SECOND_NS;
    uint64_t part = d->ring.bytes < CALM_RING_BYTES ? CALM_PART_OF_SMALL : CALM_PART;
    d->calm = bytes <= d->ring.bytes &&
              bytes * part * (CALM_TURN_MS * UINT64_C(1000000)) < d->ring.bytes * ns;
    d->judged_ns = now;
    d->judged_tail = d->ring.tail;
}

bool drain_read(struct session *s, bool writers_gone) {
    struct drain *d = &s->drain;
    uint64_t begin = d->ring.tail;
    /* If a writer is faster than we are, it must not block all other work. */
    while (d->ring.bytes && d->ring.tail - begin < d->ring.bytes) {
        bool libraries;
        uint64_t before = d->ring.tail;
        d->decoder->now_ns = clock_now_ns();
        look_later(d);
        size_t used = fill_batch(&s->drain, writers_gone, &libraries);
        if (used)
            decode_batch(s, used);
        else
            ring_release(&d->ring);
        drain_tell_filters(s);
        if (libraries)
            libraries_changed(d);
        if (d->ring.tail == before)
            break;
    }
    if (d->decoder->held.first) {
        session_lock(s);
        decoder_expire(d->decoder);
        session_unlock(s);
    }
    judge_rate(d);
    return !d->ring.bytes ||
           atomic_load_explicit(&d->ring.positions->head, memory_order_relaxed) == d->ring.tail;
}

/* A frugal session reads the JVM's figures and names this many times less often */
#define FRUGAL_TIMES 5

static void wait_for_work(struct session *s) {
    struct drain *d = &s->drain;
    if (d->pending != WIRE_COMMAND_NONE && s->mapping.wire)
        control_wait(&d->control, TURN_MS);
    bool hurry = s->filter.has_pattern || s->awaited || s->options.tag_sched || d->viewed ||
                 d->seconds < CALM_SECONDS;
    bool calm = d->calm && d->ring.bytes >= CALM_RING_BYTES && !hurry;
    int timeout = TURN_MS;
    if (drain_phase(s) != SESSION_RUNNING || (s->options.frugal && d->calm) || calm)
        timeout = CALM_TURN_MS;
    bool first = d->answered_ns && d->read_again_ns != d->answered_ns;
    if (d->pending != WIRE_COMMAND_NONE || first)
        timeout = 0;
    else if (d->answered_ns)
        timeout = 1;
    d->read_again_ns = d->answered_ns;
    struct pollfd fds[] = {
        {.fd = s->wake_fd, .events = POLLIN},
        {.fd = d->process_gone ? -1 : s->pid_fd, .events = POLLIN},
    };
    if (poll(fds, 2, timeout) <= 0)
        return;
    uint64_t n;
    if (fds[0].revents && read(s->wake_fd, &n, sizeof n) < 0)
        return;
    if (fds[1].revents)
        d->process_gone = true;
}

static void watch_process(struct session *s) {
    if (s->pid_fd < 0 && kill(s->jvm.pid, 0) != 0 && errno == ESRCH)
        s->drain.process_gone = true;
    if (s->drain.process_gone)
        s->drain.linked = false;
}

void drain_beat(struct drain *d, uint64_t now) {
    uint64_t gap = d->beat_ns ? now - d->beat_ns : 0;
    if (gap > SECOND_NS) {
        d->stall_ns = gap;
        d->stall_end = now;
    }
    d->beat_ns = now;
    if (d->linked)
        control_beat(&d->control);
}

/* The end of the JVM and of the agent. */

static void jvm_gone(struct session *s, const char *how) {
    struct drain *d = &s->drain;
    session_lock(s);
    decoder_flush(d->decoder);
    session_unlock(s);
    drain_publish(s);
    drain_mark(s);
    drain_run_clock(s, false);
    char message[128];
    snprintf(message, sizeof message, "JVM %d %s", (int)s->jvm.pid, how);
    session_set_phase(s, SESSION_JVM_GONE, message);
    struct err e;
    err_exit_as(&e, ERR_EXIT_PROFILER, ESRCH, "%s%s", message,
                d->started ? "" : " before sampling began");
    drain_refuse_start(s, &e);
    session_finish(s, WIRE_COMMAND_STOP, 0, NULL);
    session_finish(s, WIRE_COMMAND_DETACH, 0, NULL);
    d->pending = WIRE_COMMAND_NONE;
    d->answered_ns = 0;
}

/* The agent has detached, most likely because this process was stopped for longer than
 * the lease. */
static void resume(struct session *s, uint64_t now) {
    struct err e;
    int result = drain_relink(s, now, &e);
    s->drain.pending = WIRE_COMMAND_NONE;
    s->drain.budgeting = false;
    if (result == 0)
        drain_ask_start(s);
    else
        drain_start_failed(s, &e);
}

static void let_go(struct session *s, enum session_phase phase) {
    s->drain.linked = false;
    s->drain.pending = WIRE_COMMAND_NONE;
    s->drain.budgeting = false;
    s->drain.answered_ns = 0;
    if (phase != SESSION_RUNNING || drain_wanted(s) == WIRE_COMMAND_STOP)
        return;
    struct err e;
    err_exit_as(&e, ERR_EXIT_PROFILER, ECONNRESET, "the agent has detached from the JVM");
    drain_start_failed(s, &e);
}

static void watch_agent(struct session *s, uint64_t now, bool empty) {
    struct drain *d = &s->drain;
    enum session_phase phase = drain_phase(s);
    if (phase == SESSION_JVM_GONE)
        return;
    if (d->process_gone) {
        jvm_gone(s, d->report.state == WIRE_STATE_EXITED ? "has ended" : "was killed or crashed");
        return;
    }
    if (!d->linked || d->pending == WIRE_COMMAND_DETACH)
        return;
    switch (d->report.state) {
    case WIRE_STATE_EXITED:
        if (empty)
            jvm_gone(s, "has ended");
        break;
    case WIRE_STATE_LEASE_OUT:
    case WIRE_STATE_DETACHED:
        /* A hostile agent that detaches all the time must not block all other work. */
        if (phase == SESSION_RUNNING && now - d->relink_ns > 5 * SECOND_NS &&
            (drain_wanted(s) == WIRE_COMMAND_NONE || drain_wanted(s) == WIRE_COMMAND_START))
            resume(s, now);
        else
            let_go(s, phase);
        break;
    case WIRE_STATE_FAILED:
        if (phase == SESSION_RUNNING && d->pending == WIRE_COMMAND_NONE && !d->failure_told)
            session_set_phase(s, SESSION_FAILED, d->report.message);
        break;
    default:
        break;
    }
}

/* Work that is done once a second. */

static void tell_kernel_trouble(struct session *s) {
    struct drain *d = &s->drain;
    const char *trouble =
        d->symbols && wire_mechanism_is_perf(d->report.engine[WIRE_EVENT_CPU].mechanism) &&
                !d->kernel_trouble_told
            ? symbols_kernel_trouble(d->symbols)
            : NULL;
    if (!trouble)
        return;
    d->kernel_trouble_told = true;
    session_lock(s);
    bool room = s->status.message[0] == '\0';
    session_unlock(s);
    if (room)
        session_set_message(s, "%s", trouble);
}

void drain_look_at_jvm(struct session *s, uint64_t now) {
    struct jvm jvm = s->jvm;
    struct session_cpu cpu = s->cpu; /* only this thread changes it */
    if (jvm_refresh(&jvm) != 0)
        return;
    if (drain_phase(s) == SESSION_RUNNING)
        pauses_read(s, &jvm, now);
    cpu_limit_look(&s->cpu_limit, jvm.pid, &cpu);
    session_lock(s);
    s->jvm = jvm;
    s->cpu = cpu;
    session_unlock(s);
}

static void every_second(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    if (now < d->second_ns)
        return;
    d->second_ns = now + SECOND_NS;
    d->seconds++;
    if (d->process_gone)
        return;
    if (!s->options.frugal || d->seconds % FRUGAL_TIMES == 1)
        drain_look_at_jvm(s, now);
    if (drain_phase(s) != SESSION_RUNNING)
        return;
    tell_kernel_trouble(s);
    drain_look_at_budget(s, now);
    drain_mark(s);
}

/* More often than once a second, because a short-lived thread would end without a name. */
static void name_threads(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    if (now < d->names_ns || d->process_gone)
        return;
    d->names_ns = now + (s->options.frugal ? SECOND_NS : SECOND_NS / 5);
    drain_name_threads(s);
}

void drain_open_symbols(struct session *s) {
    struct err e;
    if (s->drain.symbols_opened)
        return;
    s->drain.symbols_opened = true;
    if (symbols_open_shared(s->jvm.pid, s->options.symbols, &s->drain.symbols, &e) != 0)
        session_set_message(s, "native frames have no names: %s", e.message);
    s->drain.decoder->addresses.symbols = s->drain.symbols;
}

static bool must_quit(struct session *s) {
    session_lock(s);
    bool quit = s->quit;
    session_unlock(s);
    return quit;
}

void *drain_main(void *arg) {
    struct session *s = arg;
    struct drain *d = &s->drain;
    drain_take_request(s); /* so that the engines start while the symbols are opened */
    drain_open_symbols(s);
    d->second_ns = clock_now_ns() + SECOND_NS / 4;
    while (!must_quit(s)) {
        wait_for_work(s);
        uint64_t now = clock_now_ns();
        watch_process(s);
        drain_beat(&s->drain, now);
        drain_take_answer(s, now);
        bool empty = drain_read(s, d->process_gone);
        drain_swap_recording(s);
        drain_publish(s);
        drain_feed(s, now);
        drain_unwind(s);
        drain_ask_java_states(s, now);
        watch_agent(s, now, empty);
        if (d->linked)
            drain_serve_requests(s, now, empty);
        else
            drain_take_request(s);
        drain_look_at_lent(s, now);
        name_threads(s, now);
        every_second(s, now);
    }
    return NULL;
}
