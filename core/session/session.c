#include "core/session/session.h"

#include "attach/load/attach.h"
#include "core/base/clock.h"
#include "core/event/event.h"
#include "core/session/agent_link.h"
#include "core/session/drain/perf_broker.h"
#include "core/session/session_state.h"
#include "core/session/share/join.h"
#include "core/wire/broker.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DETACH_STEP_MS 100

/* Notification between the threads. */

static void signal_fd(int fd) {
    uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0)
        return; /* fails only if it is already full of signals */
}

void session_wake_drain(struct session *s) {
    signal_fd(s->wake_fd);
}

void session_wake_reader(struct session *s) {
    signal_fd(s->phase_fd);
}

struct profile *session_lock(struct session *s) {
    pthread_mutex_lock(&s->lock);
    return s->profile;
}

void session_unlock(struct session *s) {
    pthread_mutex_unlock(&s->lock);
}

void session_set_phase(struct session *s, enum session_phase phase, const char *message) {
    session_lock(s);
    bool changed = s->status.phase != phase;
    s->status.phase = phase;
    if (message)
        snprintf(s->status.message, sizeof s->status.message, "%s", message);
    session_unlock(s);
    if (changed)
        session_wake_reader(s);
}

void session_set_message(struct session *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    session_lock(s);
    vsnprintf(s->status.message, sizeof s->status.message, fmt, ap);
    session_unlock(s);
    va_end(ap);
}

void session_ask_java_states(struct session *s, uint32_t ms, bool all) {
    uint64_t now = clock_now_ns(), until = now + ms * UINT64_C(1000000);
    uint64_t before = atomic_load(&s->states_until_ns);
    bool first = all || now >= before;
    if (all)
        atomic_store(&s->states_all, true);
    while (before < until && !atomic_compare_exchange_weak(&s->states_until_ns, &before, until))
        ;
    if (first)
        session_wake_drain(s);
}

void session_finish(struct session *s, enum wire_command command, int result, const struct err *e) {
    session_lock(s);
    if (s->wanted == command && !s->done) {
        s->done = true;
        s->result = result;
        if (e)
            s->outcome = *e;
    }
    pthread_cond_broadcast(&s->changed);
    session_unlock(s);
}

void session_begin_request(struct session *s, enum wire_command command) {
    session_lock(s);
    s->wanted = command;
    s->done = false;
    session_unlock(s);
    signal_fd(s->wake_fd);
}

/* The drain thread finishes every request within a limited time. */
int session_await_request(struct session *s, struct err *e) {
    session_lock(s);
    while (!s->done && !s->quit)
        pthread_cond_wait(&s->changed, &s->lock);
    s->wanted = WIRE_COMMAND_NONE;
    if (!s->done) /* another thread made the request while the session is closed */
        s->result = err_set(&s->outcome, ESRCH, "the session is being closed");
    int result = s->result;
    if (result != 0 && e)
        *e = s->outcome;
    session_unlock(s);
    return result;
}

static int request(struct session *s, enum wire_command command, struct err *e) {
    pthread_mutex_lock(&s->caller);
    session_begin_request(s, command);
    int result = session_await_request(s, e);
    pthread_mutex_unlock(&s->caller);
    return result;
}

/* Reading the state. */

void session_jvm(struct session *s, struct jvm *out) {
    session_lock(s);
    *out = s->jvm;
    session_unlock(s);
}

void session_cpu(struct session *s, struct session_cpu *out) {
    session_lock(s);
    *out = s->cpu;
    session_unlock(s);
}

void session_whole_status(struct session *s, struct session_status *out) {
    session_lock(s);
    *out = s->status;
    if (s->threaded) {
        uint64_t now = s->over_ns ? s->over_ns : clock_now_ns();
        out->elapsed_ns = s->sampled_ns;
        if (s->running_ns && now > s->running_ns)
            out->elapsed_ns += now - s->running_ns;
        out->elapsed_ns -= out->missed_ns < out->elapsed_ns ? out->missed_ns : out->elapsed_ns;
    }
    session_unlock(s);
    out->frontend_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void session_status(struct session *s, struct session_status *out) {
    struct wire_engine_request ignored[WIRE_EVENTS];
    uint32_t lent = 0;
    session_whole_status(s, out);
    if (!s->options.apart)
        return;
    session_lock(s);
    if (!s->joined)
        session_wanted(s, ignored, &lent);
    if (s->over_ns && out->phase == SESSION_RUNNING)
        out->phase = SESSION_STOPPED;
    if (!s->joined) /* the agent's counters are of all events */
        memcpy(out->failed, s->drain.decoder->counts.failed, sizeof out->failed);
    session_unlock(s);
    session_hide_engines(out, lent);
    out->dropped = 0;
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        out->dropped += out->engine[event].dropped;
}

uint32_t session_news(struct session *s, char *out, size_t size) {
    session_lock(s);
    const struct decoder_notes *n = &s->drain.decoder->notes;
    snprintf(out, size, "%s", n->news);
    uint32_t left_out = n->news_left_out;
    session_unlock(s);
    return left_out;
}

int session_event_fd(const struct session *s) {
    return s->phase_fd;
}

/* Ending. */

int session_stop(struct session *s, struct err *e) {
    return s->threaded ? request(s, WIRE_COMMAND_STOP, e) : 0;
}

int session_end(struct session *s, struct err *e) {
    session_lock(s);
    s->spare = s->options.apart;
    session_unlock(s);
    int result = session_stop(s, e);
    session_lock(s);
    bool goes_on = s->over_ns || s->joined;
    session_unlock(s);
    return result == 0 && goes_on ? 1 : result;
}

void session_reader_done(struct session *s) {
    session_lock(s);
    if (s->mapping.wire)
        control_tell_done(&s->mapping.wire->control);
    session_unlock(s);
}

void session_end_thread(struct session *s) {
    session_lock(s);
    s->quit = true;
    pthread_cond_broadcast(&s->changed);
    signal_fd(s->wake_fd);
    session_unlock(s);
    pthread_join(s->thread, NULL);
    session_lock(s);
    s->threaded = false;
    session_unlock(s);
    drain_read(s, s->drain.process_gone);
    drain_publish(s);
    drain_mark(s);
    drain_end_feeds(s);
}

/* Without a drain thread. The agent must be free when the caller attaches next. */
static void detach(struct session *s) {
    struct control *c = &s->drain.control;
    uint64_t end = clock_now_ms() + SESSION_DETACH_MS;
    control_request(c, WIRE_COMMAND_DETACH, NULL);
    if (s->drain.silent || s->drain.report.state == WIRE_STATE_EXITED)
        return; /* it reads the request later, or never */
    while (!control_answered(c) && clock_now_ms() < end)
        control_wait(c, DETACH_STEP_MS);
}

void session_close(struct session *s) {
    if (!s)
        return;
    session_lock(s);
    struct share *share = s->share;
    session_unlock(s);
    share_quiet(share);
    if (s->threaded) {
        request(s, WIRE_COMMAND_DETACH, NULL);
        session_end_thread(s);
    } else if (s->drain.linked) {
        detach(s);
    }
    share_end(s->share);
    recording_finish(s->drain.recording, NULL);
    session_free(s);
}

bool session_engine_is_counted(const struct session_engine *engine) {
    return strcmp(engine->mechanism, wire_mechanism_name[WIRE_MECHANISM_WEIGHTS]) != 0;
}

bool session_engine_is_poorer(const struct session_engine *engine) {
    return engine->reason[0] &&
           strncmp(engine->reason, BROKER_REASON, sizeof BROKER_REASON - 1) != 0;
}

void session_tap(struct session *s, const struct decoder_tap *tap) {
    s->drain.decoder->tap = tap;
}

static uint64_t ring_bytes_of(uint64_t wanted) {
    uint64_t bytes = WIRE_RING_BYTES_MIN;
    if (wanted == 0)
        return WIRE_RING_BYTES_DEFAULT;
    while (bytes < wanted && bytes < WIRE_RING_BYTES_MAX)
        bytes *= 2;
    return bytes;
}

static void take_options(struct session *s, const struct session_options *o) {
    s->options = *o;
    s->options.ring_bytes = ring_bytes_of(o->ring_bytes);
    if (o->engines > WIRE_EVENTS)
        s->options.engines = WIRE_EVENTS;
    if (o->engines == 0) {
        s->options.engines = 1;
        s->options.engine[0] = (struct wire_engine_request){.event = WIRE_EVENT_CPU, .name = "cpu"};
    }
    if (o->depth == 0)
        s->options.depth = WIRE_DEPTH_DEFAULT;
    else if (o->depth > WIRE_FRAMES_MAX)
        s->options.depth = WIRE_FRAMES_MAX;
}

static void make_locks(struct session *s) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->caller, NULL);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    s->pid_fd = -1;
    s->phase_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static bool copy_name(const char *name, char **out) {
    *out = name ? strdup(name) : NULL;
    return !name || *out;
}

static bool make_decoder(struct session *s, const struct session_options *o) {
    s->profile = profile_new(o->history_seconds);
    if (!s->profile)
        return false;
    profile_limit_memory(s->profile, o->memory_limit - o->memory_limit / 8);
    struct decoder *d = decoder_new(s->profile, NULL);
    s->drain.decoder = d;
    if (!d)
        return false;
    decoder_limit_memory(d, o->memory_limit / 8);
    d->filter = s->filter.on ? &s->filter : NULL;
    d->window.from_ns = o->from_ms * 1000000u;
    d->window.to_ns = o->to_ms * 1000000u;
    d->tag_cpu = o->tag_cpu;
    d->tag_sched = o->tag_sched;
    session_count_own(s);
    return true;
}

int session_new(const struct session_options *o, struct session **out, struct err *e) {
    struct session *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return err_set(e, ENOMEM, "out of memory");
    take_options(s, o);
    make_locks(s);
    budget_init(&s->drain.budget, o->max_overhead_ppm);
    id_map_init(&s->drain.outer, DECODER_THREADS_MAX);
    int result = thread_filter_init(&s->filter, o->thread_pattern, o->tids, o->tid_ranges, e);
    if (result == 0 && (!copy_name(o->begin, &s->begin) || !copy_name(o->end, &s->end) ||
                        !make_decoder(s, o) || s->phase_fd < 0 || s->wake_fd < 0))
        result = err_set(e, ENOMEM, "out of memory");
    if (result != 0)
        session_free(s);
    else
        *out = s;
    return result;
}

static void close_fd(int fd) {
    if (fd >= 0)
        close(fd);
}

void session_free(struct session *s) {
    if (!s)
        return;
    perf_broker_end(s->drain.broker);
    decoder_free(s->drain.decoder);
    drain_end_unwind(&s->drain); /* before its mapping */
    symbols_free(s->drain.symbols);
    free(s->drain.batch);
    id_map_free(&s->drain.outer);
    thread_numbers_free(&s->drain.threads);
    thread_numbers_free(&s->caller_threads);
    cpu_limit_end(&s->cpu_limit);
    mapping_close(&s->mapping);
    profile_free(s->profile);
    thread_filter_free(&s->filter);
    if (s->join && s->join->fd >= 0)
        close(s->join->fd);
    free(s->join);
    free(s->begin);
    free(s->end);
    close_fd(s->pid_fd);
    close_fd(s->wake_fd);
    close_fd(s->phase_fd);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->caller);
    free(s);
}

/* If another caller's request is being carried out, the drain thread is busy: session_close will
 * wait for both. */
void session_leave(struct session *s) {
    if (!s->threaded || pthread_mutex_trylock(&s->caller) != 0)
        return;
    session_begin_request(s, WIRE_COMMAND_DETACH);
    pthread_mutex_unlock(&s->caller);
}
