/* Sends the caller's requests to the agent; each answer has a deadline. */
#include "core/session/session_state.h"

#include "core/base/clock.h"
#include "core/event/event.h"
#include "core/session/agent_link.h"
#include "core/session/drain/perf_broker.h"
#include "core/session/drain/sigtrap_proof.h"
#include "core/wire/perf_attr.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RELINK_MS 3000
#define RECENT_NS UINT64_C(5000000000)

/* perf_events that we open for the JVM: whether to offer this, and to whom. */

static int no_right(const struct session *s, int error, struct err *e) {
    struct perf_machine m;
    perf_machine_read(&m);
    return err_exit_as(e, ERR_EXIT_PROFILER, error,
                       "--fdtransfer: this jtop-prof (uid %d) may not open perf_events for JVM %d "
                       "(%s; kernel.perf_event_paranoid is %d): run it as root or with "
                       "CAP_PERFMON, or omit the option: ctimer then samples cpu",
                       (int)geteuid(), (int)s->jvm.pid, strerror(error), m.paranoid);
}

int drain_offer_broker(const struct session *s, bool *offer, struct err *e) {
    bool given = s->options.fd_transfer;
    *offer = false;
    if (!given && !perf_broker_helps(&s->jvm))
        return 0;
    int right = perf_broker_right();
    *offer = right == 0;
    return right < 0 && given ? no_right(s, -right, e) : 0;
}

int drain_use_broker(struct session *s, int fd, struct err *e) {
    struct drain *d = &s->drain;
    perf_broker_end(d->broker);
    d->broker = NULL;
    int result = fd < 0 ? -ENOENT : perf_broker_begin(&s->jvm, fd, &d->broker);
    if (result == 0 || !s->options.fd_transfer)
        return 0;
    return err_exit_as(e, ERR_EXIT_PROFILER, -result,
                       "--fdtransfer: JVM %d has no socket through which to request perf_events "
                       "(%s): %s; without the option cpu is sampled by ctimer",
                       (int)s->jvm.pid, strerror(-result),
                       s->options.library ? "with --libpath no socket is created for it"
                                          : "it has no directory where its user may create one");
}

void drain_use_mapping(struct session *s, struct mapping m) {
    struct drain *d = &s->drain;
    session_lock(s);
    s->mapping = m;
    session_unlock(s);
    thread_filter_use_bits(&s->filter, mapping_threads(&m));
    ring_reader_init(&d->ring, m.wire, m.ring_bytes);
    control_init(&d->control, m.wire);
    d->linked = true;
    d->silent = false;
    d->beat_ns = 0; /* attaching took some time, which is not a pause of this process */
    drain_beat(d, clock_now_ns());
}

/* Called after sampling has started again. Samples taken until the lease expired have been read;
 * those of the rest of the pause are missing, and the status reports that. */
static void drain_tell_resumed(struct session *s) {
    struct drain *d = &s->drain;
    uint64_t gap = d->resume_gap_ns;
    uint64_t lease = (uint64_t)WIRE_LEASE_MS * 1000000u;
    uint64_t missed = gap > lease ? gap - lease : 0;
    d->resume_gap_ns = 0;
    session_lock(s);
    s->status.missed_ns += missed;
    session_unlock(s);
    if (missed)
        session_set_message(s,
                            "this process was stopped for %.1f s: sampling resumed, about %.1f s "
                            "are missing",
                            (double)gap / 1e9, (double)missed / 1e9);
    else
        session_set_message(s, "the agent had detached from the JVM: sampling resumed");
}

/* Keeps the engines that an agent has chosen itself as the session's engines from now on. */
static void keep_choice(struct session *s) {
    struct drain *d = &s->drain;
    struct session_options *o = &s->options;
    session_lock(s);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        const struct wire_engine_status *engine = &d->report.engine[event];
        uint32_t i = 0;
        while (i < o->engines && o->engine[i].event != event)
            i++;
        if (engine->mechanism == WIRE_MECHANISM_AUTO || i == WIRE_EVENTS)
            continue;
        if (i == o->engines)
            o->engine[o->engines++] = (struct wire_engine_request){.event = event};
        o->engine[i].interval = engine->interval;
        memcpy(o->engine[i].name, engine->name, sizeof engine->name);
    }
    session_unlock(s);
    enum wire_walk walk = wire_walk_by_name(d->report.walker);
    o->walk = walk < WIRE_WALKS ? walk : WIRE_WALK_VM;
    o->precise = o->precise || d->report.recompiled > 0;
}

/* Reads what the old agent has left, adds its counters to the sums, and releases its mapping. */
static void close_chapter(struct session *s) {
    struct drain *d = &s->drain;
    drain_read(s, true);
    drain_publish(s);
    if (s->adopted && d->report.engine_runs)
        keep_choice(s);
    d->before.dropped += d->report.dropped;
    d->before.discarded += d->report.discarded;
    d->before.agent_ns += d->report.agent_ns;
    d->before.recompiled += d->report.recompiled;
    d->before.recompile_ns += d->report.recompile_ns;
    d->before.windows += d->report.windows;
    for (int i = 0; i < WIRE_FAILURES; i++)
        d->before.failed[i] += d->report.failed[i];
    d->report = (struct agent_report){0};
    d->linked = false;
    drain_end_unwind(&s->drain);
    d->ring = (struct ring_reader){0};
    session_lock(s);
    decoder_new_stream(d->decoder);
    thread_filter_use_bits(&s->filter, NULL);
    struct mapping old = s->mapping;
    s->mapping = (struct mapping){0};
    session_unlock(s);
    mapping_close(&old);
}

int drain_relink(struct session *s, uint64_t now, struct err *e) {
    struct drain *d = &s->drain;
    struct agent_link link;
    struct err why;
    bool offer = false;
    /* The pause may also have come after this turn's heartbeat. */
    uint64_t since_beat = clock_now_ns() - d->beat_ns;
    uint64_t gap = now - d->stall_end < RECENT_NS ? d->stall_ns : 1;
    if (since_beat > gap)
        gap = since_beat;
    close_chapter(s);
    if (!s->library[0])
        return err_exit_as(e, ERR_EXIT_PROFILER, ECONNRESET,
                           "the agent has detached from JVM %d and cannot attach again",
                           (int)s->jvm.pid);
    int result = drain_offer_broker(s, &offer, &why);
    if (result == 0)
        result = agent_link_open(&s->jvm, s->library, s->options.library != NULL, offer,
                                 s->options.ring_bytes, RELINK_MS, &link, &why);
    if (result != 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, -result,
                           "sampling ended after this process paused for %.1f s: %.400s",
                           (double)gap / 1e9, why.message);
    drain_use_mapping(s, link.mapping);
    (void)drain_use_broker(s, link.broker, NULL);
    d->relink_ns = now;
    d->resume_gap_ns = gap;
    s->adopted = false;
    return 0;
}

/* For signal handlers that were running when the engines stopped */
#define SETTLE_NS UINT64_C(200000000)
/* The same while the engines go on */
#define HANDLER_NS UINT64_C(20000000)

enum session_phase drain_phase(struct session *s) {
    session_lock(s);
    enum session_phase phase = s->status.phase;
    session_unlock(s);
    return phase;
}

enum wire_command drain_wanted(struct session *s) {
    session_lock(s);
    enum wire_command command = s->done ? WIRE_COMMAND_NONE : s->wanted;
    session_unlock(s);
    return command;
}

static void ask(struct drain *d, enum wire_command command, const struct control_start *start,
                int timeout_ms) {
    bool none = command == WIRE_COMMAND_START && start->engines == 0;
    bool some = command == WIRE_COMMAND_START && !none;
    perf_broker_allow(d->broker, some ? start->engine : NULL, some ? start->engines : 0,
                      d->control.generation + 1);
    control_request(&d->control, none ? WIRE_COMMAND_STOP : command, start);
    d->pending = command;
    d->failure_told = false;
    d->deadline_ns = clock_now_ns() + (uint64_t)timeout_ms * 1000000u;
}

/* Starting. */

/* Looks up what the request lacks. An engine for which something is not found is left out, and its
 * status states the reason. */
static int resolve(struct session *s, struct wire_engine_request *request, struct err *e) {
    struct wire_engine_status *refused = &s->drain.refused[request->event];
    int version = event_java_version(s->jvm.version);
    *refused = (struct wire_engine_status){.event = request->event};
    if (!event_is_open(request, version))
        return 0;
    drain_open_symbols(s);
    int result = event_resolve(request, s->drain.symbols, (int)s->jvm.pid, version, e);
    if (result == 0)
        return 0;
    refused->error = -result;
    memcpy(refused->name, request->name, sizeof refused->name);
    refused->name[sizeof refused->name - 1] = '\0';
    snprintf(refused->reason, sizeof refused->reason, "%.*s", (int)sizeof refused->reason - 1,
             e->message);
    char *why = s->drain.why_refused[request->event];
    snprintf(why, sizeof s->drain.why_refused[0], "%.399s", e->message);
    return result;
}

static int find_window(struct session *s, const char *function, uint64_t *address, struct err *e) {
    if (!function)
        return 0;
    drain_open_symbols(s);
    return event_find_function(s->drain.symbols, (int)s->jvm.pid, function, address, e);
}

/* Fails if no engine is left to request. */
static int prepare_start(struct session *s, struct control_start *start, struct err *e) {
    struct wire_engine_request asked[WIRE_EVENTS];
    const struct session_options *o = &s->options;
    uint32_t lent;
    session_lock(s);
    uint32_t engines = session_wanted(s, asked, &lent);
    session_count_own(s);
    session_unlock(s);
    /* An engine for another process must not keep our own from running. */
    bool all = o->all_or_none && !lent;
    *start = (struct control_start){
        .all_or_none = all,
        .sigtrap = sigtrap_proof(),
        .signal = o->signal,
        .wall_signal = o->wall_signal,
        .depth = o->depth,
        .cut = o->cut,
        .features = o->features,
        .walk = o->walk,
        .precise = o->precise,
        .filtered = s->filter.on,
        .window_marks = o->window_marks,
    };
    int result = find_window(s, s->begin, &start->window_begin, e);
    if (result == 0)
        result = find_window(s, s->end, &start->window_end, e);
    if (result != 0)
        return result;
    int failed = 0;
    for (uint32_t i = 0; i < engines; i++) {
        struct err why = {0};
        result = resolve(s, &asked[i], &why);
        if (result == 0) {
            start->engine[start->engines++] = budget_apply(&s->drain.budget, &asked[i]);
        } else if (failed == 0) {
            failed = result;
            *e = why;
        }
    }
    return failed && (all || start->engines == 0) ? failed : 0;
}

/* The agent did not receive the request: the previous engines continue. */
static void take_back(struct session *s) {
    if (!s->drain.started || drain_wanted(s) != WIRE_COMMAND_START)
        return;
    session_lock(s);
    memcpy(s->options.engine, s->engine_before, sizeof s->options.engine);
    s->options.engines = s->engines_before;
    session_unlock(s);
    drain_publish(s);
}

void drain_ask_start(struct session *s) {
    struct control_start start;
    struct err e = {0};
    int result = prepare_start(s, &start, &e);
    if (result != 0) {
        if (!s->drain.budgeting)
            take_back(s);
        drain_start_failed(s, &e);
        return;
    }
    drain_await_unwind(s, &start);
    drain_tell_filters(s);
    s->adopted = false;
    ask(&s->drain, WIRE_COMMAND_START, &start, SESSION_ANSWER_MS);
}

static void started(struct session *s) {
    struct drain *d = &s->drain;
    d->started = true;
    if (d->budgeting) {
        drain_end_budgeting(s, true);
        drain_publish(s);
        drain_mark(s);
        return;
    }
    budget_restart(&d->budget, clock_now_ns());
    session_set_phase(s, SESSION_RUNNING, NULL);
    drain_publish(s);
    drain_mark(s);
    if (d->resume_gap_ns)
        drain_tell_resumed(s);
    session_finish(s, WIRE_COMMAND_START, 0, NULL);
}

void drain_refuse_start(struct session *s, const struct err *e) {
    take_back(s);
    session_finish(s, WIRE_COMMAND_START, -e->code, e);
}

/* A session that already ran continues unchanged: another request may succeed. */
void drain_start_failed(struct session *s, const struct err *e) {
    struct drain *d = &s->drain;
    if (d->budgeting) {
        session_set_message(s, "%s", e->message);
        drain_end_budgeting(s, false);
        return;
    }
    if (d->started && d->linked)
        session_set_message(s, "%s", e->message);
    else
        session_set_phase(s, SESSION_FAILED, e->message);
    session_finish(s, WIRE_COMMAND_START, -e->code, e);
}

static void answered_start(struct session *s) {
    const struct agent_report *r = &s->drain.report;
    struct err e;
    session_lock(s);
    struct wire_engine_request ignored[WIRE_EVENTS];
    uint32_t lent;
    bool none = session_wanted(s, ignored, &lent) == 0;
    session_unlock(s);
    if (r->state == WIRE_STATE_RUNNING || (none && r->state == WIRE_STATE_IDLE)) {
        started(s);
        return;
    }
    int code = r->error_code > 0 && r->error_code < 4096 ? r->error_code : EPROTO;
    if (code == EBUSY) /* that would mean that another process profiles the JVM */
        code = ENOTSUP;
    err_exit_as(&e, ERR_EXIT_PROFILER, code, "%s",
                r->message[0] ? r->message : "the agent did not start sampling");
    drain_mark(s);
    s->drain.failure_told = true;
    drain_start_failed(s, &e);
}

/* Ending. */

/* Samples that wait for a name get what is known. */
static void settle(struct session *s) {
    drain_name_threads(s);
    session_lock(s);
    decoder_flush(s->drain.decoder);
    session_unlock(s);
    drain_publish(s);
}

/* All engines have stopped, and everything they wrote has been read. */
static void stopped(struct session *s, const char *message) {
    settle(s);
    drain_mark(s);
    drain_run_clock(s, false);
    session_set_phase(s, SESSION_STOPPED, message);
}

/* Whether the profile is to end while sampling goes on for viewers. */
static bool spares_viewers(struct session *s) {
    session_lock(s);
    bool spares = s->spare && s->lookers > 0;
    session_unlock(s);
    return spares;
}

/* The profile's time ends now, and the engines go on. The ring is still to be read. */
static void end_time(struct session *s) {
    struct drain *d = &s->drain;
    d->answered_ns = clock_now_ns();
    session_lock(s);
    d->decoder->window.end_ns = d->answered_ns;
    session_unlock(s);
}

/* Everything of the profile's time has been read. */
static void ended(struct session *s) {
    struct err e;
    uint64_t end = s->drain.decoder->window.end_ns;
    settle(s);
    if (drain_end_recording(s, &e) < 0) {
        session_set_message(s, "%s", e.message);
        session_lock(s);
        s->status.unrecorded = true;
        session_unlock(s);
    }
    session_lock(s);
    s->over_ns = end;
    session_unlock(s);
    session_wake_reader(s);
}

static void answered(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    enum wire_command command = d->pending;
    d->pending = WIRE_COMMAND_NONE;
    d->silent = false;
    drain_publish(s);
    if (command == WIRE_COMMAND_START) {
        d->calm = false; /* more may come from now on */
        d->judged_ns = now;
        d->judged_tail = d->ring.tail;
        answered_start(s);
    } else if (command == WIRE_COMMAND_STOP) {
        drain_mark(s); /* the engines stopped now, not when everything is read */
        d->answered_ns = now;
    } else {
        d->linked = false;
        session_finish(s, command, 0, NULL);
    }
}

static void unanswered(struct session *s) {
    struct drain *d = &s->drain;
    enum wire_command command = d->pending;
    struct err e;
    d->pending = WIRE_COMMAND_NONE;
    d->silent = true;
    err_exit_as(&e, ERR_EXIT_PROFILER, ETIMEDOUT,
                "the agent in JVM %d did not answer within %d s (is the process stopped?)",
                (int)s->jvm.pid, SESSION_ANSWER_MS / 1000);
    if (command == WIRE_COMMAND_STOP)
        stopped(s, e.message);
    if (command == WIRE_COMMAND_START)
        drain_start_failed(s, &e);
    else
        session_finish(s, command, -ETIMEDOUT, &e);
}

/* There is no agent any more: after a stop, or after the JVM's end. The samples are complete
 * nevertheless, so the phase does not change. */
static void start_without_agent(struct session *s) {
    struct drain *d = &s->drain;
    struct err e;
    if (!d->process_gone && drain_phase(s) == SESSION_STOPPED) {
        uint64_t now = clock_now_ns();
        int result = drain_relink(s, now, &e);
        d->resume_gap_ns = 0; /* nothing was missed */
        if (result == 0)
            drain_ask_start(s);
        else
            drain_refuse_start(s, &e);
        return;
    }
    session_lock(s);
    const char *why = s->status.message;
    err_exit_as(&e, ERR_EXIT_PROFILER, ESRCH, "JVM %d is no longer sampled%s%s", (int)s->jvm.pid,
                why[0] ? ": " : "", why);
    session_unlock(s);
    drain_refuse_start(s, &e);
}

/* Sends the caller's request to the agent, unless there is no agent or no need to. */
void drain_take_request(struct session *s) {
    struct drain *d = &s->drain;
    enum wire_command command = drain_wanted(s);
    if (command == WIRE_COMMAND_NONE)
        return;
    bool running = drain_phase(s) == SESSION_RUNNING;
    if (command == WIRE_COMMAND_DETACH && d->linked &&
        (d->silent || d->report.state == WIRE_STATE_EXITED)) {
        /* The agent does not answer now; in a stopped JVM it will read the request later. */
        control_request(&d->control, command, NULL);
        d->linked = false;
    }
    if (command == WIRE_COMMAND_START) {
        if (d->linked && drain_phase(s) != SESSION_JVM_GONE)
            drain_ask_start(s);
        else
            start_without_agent(s);
    } else if (command == WIRE_COMMAND_STOP && d->linked && running && spares_viewers(s)) {
        end_time(s);
    } else if (d->linked && (running || command == WIRE_COMMAND_DETACH)) {
        ask(&s->drain, command, NULL,
            command == WIRE_COMMAND_DETACH ? SESSION_DETACH_MS : SESSION_ANSWER_MS);
    } else {
        if (command == WIRE_COMMAND_STOP && running)
            stopped(s, NULL);
        else if (drain_phase(s) == SESSION_FAILED)
            settle(s);
        session_finish(s, command, 0, NULL);
    }
}

void drain_take_answer(struct session *s, uint64_t now) {
    struct drain *d = &s->drain;
    if (d->linked && !d->started && d->pending == WIRE_COMMAND_START &&
        control_answered(&d->control) && control_runs(&d->control))
        answered(s, now);
}

void drain_serve_requests(struct session *s, uint64_t now, bool empty) {
    struct drain *d = &s->drain;
    if (d->pending != WIRE_COMMAND_NONE) {
        if (control_answered(&d->control))
            answered(s, now);
        else if (now > d->deadline_ns)
            unanswered(s);
    } else if (d->answered_ns &&
               now - d->answered_ns > (d->decoder->window.end_ns ? HANDLER_NS : 0) &&
               (empty || now - d->answered_ns > SETTLE_NS)) {
        d->answered_ns = 0;
        if (d->decoder->window.end_ns)
            ended(s);
        else
            stopped(s, NULL);
        session_finish(s, WIRE_COMMAND_STOP, 0, NULL);
    } else if (!d->answered_ns) {
        drain_take_request(s);
    }
}
