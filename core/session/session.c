#include "core/session/session_state.h"

#include "core/base/clock.h"
#include "core/wire/broker.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Telling each other. */

static void signal_fd(int fd) {
    uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0)
        return; /* only when it is full of signals already */
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

/* The drain thread finishes every request in bounded time. */
int session_await_request(struct session *s, struct err *e) {
    session_lock(s);
    while (!s->done && !s->quit)
        pthread_cond_wait(&s->changed, &s->lock);
    s->wanted = WIRE_COMMAND_NONE;
    if (!s->done) /* asked for by another thread, while the session is closed */
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

/* Looking. */

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

void session_status(struct session *s, struct session_status *out) {
    session_lock(s);
    *out = s->status;
    if (s->threaded) {
        out->elapsed_ns = s->sampled_ns + (s->running_ns ? clock_now_ns() - s->running_ns : 0);
        out->elapsed_ns -= out->missed_ns < out->elapsed_ns ? out->missed_ns : out->elapsed_ns;
    }
    session_unlock(s);
    out->frontend_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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

/* Changing. */

static int check_engines(const struct session *s, const struct wire_engine_request *engine,
                         uint32_t engines, struct err *e) {
    uint32_t seen = 0;
    if (!s->threaded)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "a recording is what it is: events can be changed only while a JVM is "
                           "being sampled");
    for (uint32_t i = 0; i < engines; i++) {
        if (i >= WIRE_EVENTS || engine[i].event >= WIRE_EVENTS || seen & 1u << engine[i].event)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "one event is asked for twice, or one that there is not");
        seen |= 1u << engine[i].event;
    }
    return 0;
}

int session_set_engines(struct session *s, const struct wire_engine_request *engine,
                        uint32_t engines, struct err *e) {
    int result = check_engines(s, engine, engines, e);
    if (result != 0)
        return result;
    pthread_mutex_lock(&s->caller);
    session_lock(s);
    struct session_options *o = &s->options;
    memcpy(s->engine_before, o->engine, sizeof s->engine_before);
    s->engines_before = o->engines;
    if (engines > 0)
        memcpy(o->engine, engine, engines * sizeof *engine);
    o->engines = engines;
    session_unlock(s);
    session_begin_request(s, WIRE_COMMAND_START);
    result = session_await_request(s, e);
    pthread_mutex_unlock(&s->caller);
    return result;
}

uint32_t session_engines(struct session *s, struct wire_engine_request *out) {
    session_lock(s);
    uint32_t engines = s->options.engines;
    memcpy(out, s->options.engine, engines * sizeof *out);
    session_unlock(s);
    return engines;
}

/* Ending. */

int session_stop(struct session *s, struct err *e) {
    return s->threaded ? request(s, WIRE_COMMAND_STOP, e) : 0;
}

void session_reader_done(struct session *s) {
    session_lock(s);
    if (s->mapping.wire)
        control_tell_done(&s->mapping.wire->control);
    session_unlock(s);
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
        session_lock(s);
        s->quit = true;
        pthread_cond_broadcast(&s->changed);
        signal_fd(s->wake_fd);
        session_unlock(s);
        pthread_join(s->thread, NULL);
        drain_read(s, s->drain.process_gone);
        drain_publish(s);
        drain_mark(s);
        drain_end_feeds(s);
    } else if (s->drain.linked) {
        control_request(&s->drain.control, WIRE_COMMAND_DETACH, NULL);
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
