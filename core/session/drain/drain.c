/* The drain thread: a loop that beats the heart, reads the ring, carries out what the caller asks
 * for, and watches the agent, the JVM, and itself (whoever was stopped for longer than the lease
 * has to attach again). It never waits long. */
#include "core/session/session_state.h"

#include "core/base/clock.h"
#include "core/session/pauses.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TURN_MS 20       /* between two looks at the ring */
#define IDLE_TURN_MS 200 /* when nothing comes, or a frugal session; less than the heartbeat */
#define FRUGAL_TIMES 5   /* less often than others it looks at the JVM and for names */
#define SECOND_NS UINT64_C(1000000000)

static void wait_for_work(struct session *s) {
    struct drain *d = &s->drain;
    if (d->pending != WIRE_COMMAND_NONE && s->mapping.wire)
        control_wait(&d->control, TURN_MS);
    bool often = drain_phase(s) == SESSION_RUNNING && !(s->options.frugal && d->calm);
    int timeout = often ? TURN_MS : IDLE_TURN_MS;
    if (d->pending != WIRE_COMMAND_NONE)
        timeout = 0;
    else if (d->answered_ns)
        timeout = 1;
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

void drain_beat(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    uint64_t gap = d->beat_ns ? now - d->beat_ns : 0;
    if (gap > SECOND_NS) {
        d->stall_ns = gap;
        d->stall_end = now;
    }
    d->beat_ns = now;
    if (d->linked)
        control_beat(&d->control);
}

/* The end of the JVM, and of the agent. */

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

/* The agent has let go, most likely because we were stopped for longer than the lease. */
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
    err_exit_as(&e, ERR_EXIT_PROFILER, ECONNRESET, "the agent has let go of the JVM");
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
        /* A hostile agent that lets go all the time must not keep us from anything else. */
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

/* Once a second. */

static void tell_kernel_trouble(struct session *s) {
    struct drain *d = &s->drain;
    const char *trouble =
        d->symbols && d->report.engine[WIRE_EVENT_CPU].mechanism == WIRE_MECHANISM_PERF &&
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
    struct session_cpu cpu = s->cpu; /* which this thread alone changes */
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

/* Sooner than once a second: who dies young leaves no name. */
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
        drain_beat(s, now);
        bool empty = drain_read(s, d->process_gone);
        drain_swap_recording(s);
        drain_publish(s);
        drain_feed(s, now);
        drain_unwind(s);
        watch_agent(s, now, empty);
        if (d->linked)
            drain_serve_requests(s, now, empty);
        else
            drain_take_request(s);
        name_threads(s, now);
        every_second(s, now);
    }
    return NULL;
}
