/* The ways to begin a session: attach to a JVM, adopt a mapping whose agent asked for a reader, or
 * go on with the agent of a session that has stopped. */
#include "core/session/session_state.h"

#include "attach/load/attach.h"
#include "core/base/clock.h"
#include "core/event/event.h"
#include "core/session/agent_link.h"
#include "core/session/drain/perf_broker.h"
#include "core/session/drain/sigtrap_proof.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int start_thread(struct session *s, struct err *e) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&s->thread, NULL, drain_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, code, "cannot start a thread: %s", strerror(code));
    s->threaded = true;
    return 0;
}

static int open_process(struct session *s, struct err *e) {
    s->pid_fd = (int)syscall(SYS_pidfd_open, s->jvm.pid, 0);
    if (s->pid_fd < 0 && errno == ESRCH)
        return err_set(e, ESRCH, "there is no process %d", (int)s->jvm.pid);
    s->drain.decoder->policy = drain_policy;
    s->drain.decoder->policy_arg = s;
    return 0; /* without pidfd (Linux before 5.3) the drain thread checks the process itself */
}

static int open_recording(struct session *s, const char *path, struct err *e) {
    if (!path)
        return 0;
    int result = recording_create(path, &s->drain.recording, e);
    if (result != 0)
        return result;
    s->drain.decoder->recording = s->drain.recording;
    snprintf(s->status.recording, sizeof s->status.recording, "%s", path);
    recording_write_jvm(s->drain.recording, (uint32_t)s->jvm.pid, s->jvm.name, s->jvm.version);
    return 0;
}

/* Starts the thread together with the first request, if there is one. */
static int begin(struct session *s, enum wire_command command, struct session **out,
                 struct err *e) {
    if (command != WIRE_COMMAND_NONE)
        session_begin_request(s, command);
    int result = start_thread(s, e);
    if (result == 0 && command != WIRE_COMMAND_NONE)
        result = session_await_request(s, e);
    if (result == 0)
        *out = s;
    return result;
}

int session_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                   struct err *e) {
    struct session *s;
    struct agent_link link = {.broker = -1};
    bool offer = false;
    *out = NULL;
    int result = session_new(o, &s, e);
    if (!s)
        return result;
    s->jvm = *j;
    s->drain.decoder->since_ns = clock_now_ns();
    sigtrap_proof_begin(); /* first: it may take ten milliseconds */
    result = agent_library_find(o->library, s->library, sizeof s->library, e);
    if (result == 0)
        result = open_process(s, e);
    if (result == 0)
        result = open_recording(s, o->record, e);
    if (result == 0)
        result = drain_offer_broker(s, &offer, e);
    if (result == 0)
        result = agent_link_open(j, s->library, o->library != NULL, offer, s->options.ring_bytes,
                                 ATTACH_TIMEOUT_MS, &link, e);
    if (result == 0) {
        drain_use_mapping(s, link.mapping);
        result = drain_use_broker(s, link.broker, e);
    }
    if (result == 0)
        drain_unwind(s); /* goes on while the proof does */
    (void)sigtrap_proof();
    if (result == 0)
        result = begin(s, WIRE_COMMAND_START, out, e);
    if (result != 0)
        session_close(s);
    return result;
}

#define VERSION_TRIES 50
#define VERSION_STEP_NS 10000000

/* Whether the lookup for an event depends on the JVM's version. */
static bool version_matters(const struct session_options *o) {
    for (uint32_t i = 0; i < o->engines; i++)
        if (event_is_open(&o->engine[i], 8) != event_is_open(&o->engine[i], 0))
            return true;
    return false;
}

/* A JVM that is starting may start us before it publishes its version. */
static bool inspect(struct session *s, pid_t pid) {
    struct err ignored;
    int tries = version_matters(&s->options) ? VERSION_TRIES : 1;
    while (jvm_inspect(pid, &s->jvm, &ignored) == 0) {
        if (s->jvm.version[0] || --tries == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = VERSION_STEP_NS}, NULL);
    }
    return false;
}

/* The process that the agent names may not be a JVM that can be inspected (any more). */
static bool describe(struct session *s, pid_t pid) {
    if (inspect(s, pid))
        return true;
    s->jvm = (struct jvm){.pid = pid, .inner_pid = pid};
    snprintf(s->jvm.name, sizeof s->jvm.name, "%d", (int)pid);
    return false;
}

/* Whether an event needs an address that the agent cannot look up: the agent has started without
 * that event, or failed with it. */
static bool lacks_address(const struct session_options *o, int java_version) {
    for (uint32_t i = 0; i < o->engines; i++)
        if (event_is_open(&o->engine[i], java_version))
            return true;
    return false;
}

/* The agent starts by itself what it can start without us. We request the rest, and what it does
 * not know. */
static bool chose_itself(const struct session *s) {
    const struct wire_control *c = &s->mapping.wire->control;
    uint32_t asked = atomic_load_explicit(&c->request.generation, memory_order_acquire);
    struct agent_report report;
    control_report(&s->drain.control, &report);
    return (asked != 0 || report.engine_runs) && !s->filter.on && !s->begin && !s->end &&
           !lacks_address(&s->options, event_java_version(s->jvm.version));
}

static void adopt_mapping(struct session *s, const struct session_options *o, struct mapping m) {
    uint64_t now = clock_now_ns();
    uint64_t begin_ns = __atomic_load_n(&m.wire->header.clock_ns, __ATOMIC_RELAXED);
    s->options.ring_bytes = m.ring_bytes;
    s->drain.decoder->since_ns = begin_ns < now ? begin_ns : now;
    drain_use_mapping(s, m);
    s->adopted = chose_itself(s);
    s->awaited = true;
    if (!s->adopted)
        return;
    s->drain.started = true;
    s->running_ns = s->drain.decoder->since_ns;
    s->options.engines = o->engines < WIRE_EVENTS ? o->engines : WIRE_EVENTS;
}

int session_adopt(int memfd, pid_t pid, const struct session_options *o, struct session **out,
                  struct err *e) {
    struct session *s;
    struct mapping m = {0};
    *out = NULL;
    int result = mapping_of_fd(memfd, 0, &m, e);
    close(memfd);
    if (result != 0)
        return result;
    result = session_new(o, &s, e);
    if (!s) {
        mapping_close(&m);
        return result;
    }
    /* Attaching again after a pause needs two things: a JVM to attach to, and a library to load. */
    if (!describe(s, pid) ||
        agent_library_find(o->library, s->library, sizeof s->library, NULL) != 0)
        s->library[0] = '\0';
    adopt_mapping(s, o, m);
    /* The samples of a JVM that has already ended are still there. */
    if (open_process(s, NULL) != 0)
        s->drain.process_gone = true;
    result = open_recording(s, o->record, e);
    if (result == 0)
        result =
            begin(s, s->adopted || s->drain.process_gone ? WIRE_COMMAND_NONE : WIRE_COMMAND_START,
                  out, e);
    /* The JVM may end before the request reaches its agent; the samples that the agent took by
     * itself are still there. */
    if (result == -ESRCH && drain_phase(s) == SESSION_JVM_GONE) {
        *out = s;
        result = 0;
    }
    if (result != 0)
        session_close(s);
    return result;
}

/* Going on with the agent of a session that has stopped. */

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether the options that matter only at the attach are the same, and nobody views `before`. */
static bool may_follow(struct session *before, const struct session *s) {
    const struct session_options *o = &s->options, *was = &before->options;
    session_lock(before);
    bool may = before->threaded && !before->joined && !before->lookers && !before->lent.loans &&
               before->status.phase == SESSION_STOPPED && before->wanted == WIRE_COMMAND_NONE &&
               before->mapping.wire && before->mapping.ring_bytes == o->ring_bytes;
    session_unlock(before);
    return may && !o->fd_transfer && !before->filter.on && o->symbols == was->symbols &&
           same_text(o->library, was->library);
}

/* The drain thread of `before` has ended. */
static bool has_agent(const struct session *before) {
    const struct drain *d = &before->drain;
    return d->linked && !d->silent && !d->process_gone && d->pending == WIRE_COMMAND_NONE &&
           d->report.state == WIRE_STATE_IDLE && !d->report.engine_runs;
}

/* The agent counts from its attach on: what it has counted so far does not belong to this session.
 * The differences are right although they are below 0 (arithmetic modulo 2^64). */
static void count_from_here(struct drain *d) {
    control_report(&d->control, &d->report);
    const struct agent_report *r = &d->report;
    d->before.dropped -= r->dropped;
    d->before.discarded -= r->discarded;
    d->before.agent_ns -= r->agent_ns;
    d->before.recompiled -= r->recompiled;
    d->before.recompile_ns -= r->recompile_ns;
    d->before.windows -= r->windows;
    for (int i = 0; i < WIRE_FAILURES; i++)
        d->before.failed[i] -= r->failed[i];
}

static void take_agent(struct session *s, struct session *before) {
    struct drain *d = &s->drain, *was = &before->drain;
    session_lock(before);
    struct mapping m = before->mapping;
    before->mapping = (struct mapping){0};
    session_unlock(before);
    was->linked = false;
    was->ring = (struct ring_reader){0};
    drain_use_mapping(s, m);
    m.wire->control.request.reader_done = 0;
    d->broker = was->broker;
    was->broker = NULL;
    d->unwind = was->unwind;
    was->unwind = NULL;
    d->symbols = was->symbols;
    d->symbols_opened = was->symbols_opened;
    d->decoder->addresses.symbols = d->symbols;
    was->symbols = NULL;
    was->decoder->addresses.symbols = NULL;
    d->look_due = true; /* libraries may have changed meanwhile */
    count_from_here(d);
}

int session_next(struct session *before, const struct session_options *o, struct session **out,
                 struct err *e) {
    struct session *s;
    *out = NULL;
    int result = session_new(o, &s, e);
    if (!s)
        return result;
    if (!may_follow(before, s)) {
        session_free(s);
        return -ENOTCONN;
    }
    session_jvm(before, &s->jvm);
    memcpy(s->library, before->library, sizeof s->library);
    s->awaited = before->awaited;
    s->drain.decoder->since_ns = clock_now_ns();
    session_end_thread(before);
    (void)drain_end_recording(before, NULL); /* it may be of the same file */
    result = has_agent(before) ? open_process(s, e) : -ENOTCONN;
    if (result == 0)
        result = open_recording(s, o->record, e);
    if (result != 0) {
        session_close(s);
        return result;
    }
    result = decoder_restate_to(before->drain.decoder, s->drain.decoder);
    take_agent(s, before);
    if (result != 0)
        result = err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    else
        result = begin(s, WIRE_COMMAND_START, out, e);
    if (result != 0)
        session_close(s);
    return result;
}
