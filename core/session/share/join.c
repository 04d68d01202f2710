#include "core/session/share/join.h"

#include "core/base/clean_text.h"
#include "core/base/clock.h"
#include "core/session/agent_link.h"
#include "core/session/pauses.h"
#include "core/wire/wire_names.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Receives data from the process that samples. That process is trusted, but its data is checked
 * nevertheless. */

#define SECOND_NS UINT64_C(1000000000)
#define GAP_NS (2 * SECOND_NS) /* the status arrives each second */

/* Makes a string terminated and printable. */
static void clean(char *field, size_t size) {
    char copy[512];
    size = size < sizeof copy ? size : sizeof copy;
    memcpy(copy, field, size);
    clean_field(field, size, copy, size);
}

static void clean_status(struct session_status *st) {
    clean(st->event, sizeof st->event);
    clean(st->mechanism, sizeof st->mechanism);
    clean(st->reason, sizeof st->reason);
    clean(st->walker, sizeof st->walker);
    clean(st->message, sizeof st->message);
    clean(st->budget.text, sizeof st->budget.text);
    clean(st->news, sizeof st->news);
    for (uint32_t i = 0; i < EVENT_KINDS; i++) {
        struct session_engine *one = &st->engine[i];
        clean(one->name, sizeof one->name);
        clean(one->mechanism, sizeof one->mechanism);
        clean(one->reason, sizeof one->reason);
        if (!(one->coverage >= 0 && one->coverage <= 1))
            one->coverage = -1;
    }
}

static void clean_share_status(struct share_status *t) {
    uint64_t now = clock_now_ns();
    clean_status(&t->status);
    if (t->time_ns > now)
        t->time_ns = now;
    for (uint32_t i = 0; i < t->engines; i++) {
        t->engine[i].name[sizeof t->engine[i].name - 1] = '\0';
        t->engine[i].text[sizeof t->engine[i].text - 1] = '\0';
    }
}

static bool is_bool(const bool *b) {
    uint8_t byte;
    memcpy(&byte, b, 1);
    return byte < 2;
}

static bool is_sound(const struct share_status *t) {
    bool sound = t->engines <= WIRE_EVENTS && (uint32_t)t->walk < WIRE_WALKS &&
                 t->lent < 1u << WIRE_EVENTS && (uint32_t)t->status.phase <= SESSION_FAILED &&
                 t->status.phase != SESSION_REPLAYED && t->depth <= WIRE_FRAMES_MAX &&
                 is_bool(&t->restricted) && is_bool(&t->status.unrecorded) &&
                 is_bool(&t->status.budget.exhausted) && is_bool(&t->status.undated) &&
                 (uint32_t)t->status.java_states < WIRE_JAVA_REPORTS && is_bool(&t->precise) &&
                 is_bool(&t->tag_cpu) && is_bool(&t->tag_sched);
    for (uint32_t i = 0; i < EVENT_KINDS && sound; i++)
        sound = is_bool(&t->status.engine[i].asked) && is_bool(&t->status.engine[i].runs) &&
                is_bool(&t->status.engine[i].biased);
    for (uint32_t i = 0; i < t->engines && sound; i++)
        sound = t->engine[i].event < WIRE_EVENTS;
    return sound;
}

static enum wire_mechanism mechanism_of(const char *name) {
    for (uint32_t i = 0; i < WIRE_MECHANISMS; i++)
        if (strcmp(name, wire_mechanism_name[i]) == 0)
            return (enum wire_mechanism)i;
    return WIRE_MECHANISM_AUTO;
}

/* For the marks in a recording of this session. */
static void know_engines(struct drain *d, const struct session_status *st) {
    for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
        const struct session_engine *one = &st->engine[i];
        struct wire_engine_status *known = &d->known[i];
        *known = (struct wire_engine_status){.event = i,
                                             .mechanism = mechanism_of(one->mechanism),
                                             .interval = one->interval,
                                             .threads = one->threads,
                                             .biased = one->biased,
                                             .error = one->error};
        static_assert(sizeof known->name == sizeof one->name, "a name is a name");
        memcpy(known->name, one->name, sizeof known->name);
        known->name[sizeof known->name - 1] = '\0';
    }
}

/* If another event has replaced this one, the samples counted so far would look like samples of the
 * new event, so they are dropped. */
static void forget_replaced(struct session *s, const struct session_status *now) {
    for (uint32_t i = 0; i < WIRE_EVENTS; i++) {
        const struct session_engine *before = &s->status.engine[i];
        if (!now->engine[i].runs || !before->mechanism[0] ||
            strcmp(before->name, now->engine[i].name) == 0)
            continue;
        profile_forget(s->profile, i);
        if (i == WIRE_EVENT_WALL)
            profile_forget(s->profile, EVENT_ACTIVE);
    }
}

/* What was sampled while this session viewed no process is missing here. */
static void note_gap(struct session *s, struct join *j, const struct share_status *t) {
    uint64_t now = clock_now_ns(), said = t->time_ns < now ? t->time_ns : now;
    if (!j->told && j->was_told && j->told_ns && said > j->told_ns + GAP_NS && s->running_ns)
        j->missed_ns += said - j->told_ns;
    j->told_ns = said;
}

static void show_gap(const struct join *j, struct session_status *st) {
    st->missed_ns += j->missed_ns;
    if (j->missed_ns && !st->message[0])
        snprintf(st->message, sizeof st->message,
                 "about %llu s are missing: no samples were received in this time",
                 (unsigned long long)((j->missed_ns + SECOND_NS / 2) / SECOND_NS));
}

/* The engines of the other process itself. */
static void take_engines(struct session *s, const struct share_status *t) {
    struct session_options *o = &s->options;
    o->engines = 0;
    for (uint32_t i = 0; i < t->engines; i++)
        if (!(t->lent & 1u << t->engine[i].event))
            o->engine[o->engines++] = t->engine[i];
}

static void show_status(struct session *s, struct join *j, struct share_status *t) {
    struct session_status *st = &s->status;
    if (j->told)
        forget_replaced(s, &t->status);
    memcpy(t->status.recording, st->recording, sizeof st->recording);
    note_gap(s, j, t);
    for (int i = 0; i < WIRE_EVENTS; i++)
        profile_event_runs(s->profile, i, t->time_ns, t->status.engine[i].runs);
    profile_event_runs(s->profile, EVENT_ACTIVE, t->time_ns,
                       t->status.engine[WIRE_EVENT_WALL].runs);
    *st = t->status;
    st->reader = (int32_t)j->reader;
    s->sampled_ns = st->elapsed_ns + st->missed_ns;
    show_gap(j, st);
    s->running_ns = st->phase == SESSION_RUNNING && t->engines ? clock_now_ns() : 0;
    if (!s->wanted || s->done || !j->told) /* otherwise they are being changed */
        take_engines(s, t);
    s->drain.decoder->tag_cpu = t->tag_cpu;
    s->drain.decoder->tag_sched = t->tag_sched;
}

static void show_apart(struct session *s, struct join *j, struct share_status *t) {
    struct session_status *st = &s->status;
    memcpy(t->status.recording, st->recording, sizeof st->recording);
    join_apart_rebase(s, j);
    note_gap(s, j, t);
    *st = t->status;
    join_apart_show(s, j);
    show_gap(j, st);
}

static bool take_status(struct session *s, struct join *j, const void *data, size_t bytes) {
    struct share_status now, *t = &j->last;
    if (bytes != sizeof now)
        return false;
    memcpy(&now, data, sizeof now);
    if (!is_sound(&now))
        return false;
    clean_share_status(&now);
    *t = now; /* nothing else of what was sent is ever used */
    know_engines(&s->drain, &t->status);
    session_lock(s);
    const struct session_status *st = &s->status;
    bool news = st->phase != t->status.phase || (!st->samples && t->status.samples);
    if (s->options.apart && st->phase == SESSION_RUNNING)
        show_apart(s, j, t);
    else if (!s->options.apart)
        show_status(s, j, t);
    session_unlock(s);
    if (news)
        session_wake_reader(s);
    bool first = !j->told;
    j->told = j->was_told = true;
    j->tries = 0;
    if (first && s->options.apart && !j->ending)
        join_apart_ask(s, j);
    else if (first)
        session_finish(s, WIRE_COMMAND_START, 0, NULL);
    return true;
}

static bool take_records(struct session *s, const uint64_t *data, size_t bytes) {
    struct decoder *d = s->drain.decoder;
    size_t at = 0;
    for (size_t length; at < bytes; at += length) {
        length = wire_header_length(data[at / 8]);
        if (length < 8 || length % 8 || length > bytes - at || length > WIRE_RECORD_BYTES_MAX)
            return false;
    }
    for (at = 0; at < bytes; at += wire_header_length(data[at / 8]))
        decoder_prepare(d, data + at / 8);
    session_lock(s);
    for (at = 0; at < bytes; at += wire_header_length(data[at / 8]))
        decoder_decode(d, data + at / 8);
    session_unlock(s);
    return true;
}

static bool take_answer(struct session *s, struct join *j, const void *data, size_t bytes,
                        bool refused) {
    struct share_exit x;
    struct err e = {0};
    if (bytes != sizeof x)
        return false;
    memcpy(&x, data, sizeof x);
    share_exit_to_err(&x, &e);
    if (refused && x.result == 0)
        return false;
    if (s->options.apart) {
        join_apart_answered(s, j, x.result, &e);
        return !refused && drain_phase(s) == SESSION_RUNNING;
    }
    if (j->asked || refused)
        session_finish(s, WIRE_COMMAND_START, x.result, &e);
    j->asked = false;
    return !refused;
}

bool join_take(struct session *s, struct join *j, uint32_t kind, const void *data, size_t bytes) {
    switch (kind) {
    case SHARE_RECORDS:
        return bytes % 8 == 0 && take_records(s, data, bytes);
    case SHARE_STATUS:
        return take_status(s, j, data, bytes);
    case SHARE_ANSWER:
        return take_answer(s, j, data, bytes, false);
    case SHARE_EXIT:
        return take_answer(s, j, data, bytes, true);
    default:
        return true;
    }
}

#define TURN_MS 200
#define FIRST_NS (15 * SECOND_NS) /* sending a long past takes time */
#define ANSWER_NS (8 * SECOND_NS)
#define TURN_BYTES (8u << 20) /* maximum received before other work is done */

int join_connect(struct join *j, const struct jvm *jvm, bool past, struct err *e) {
    const struct share_hello hello = share_hello();
    const struct share_join join = {.start_ticks = jvm->start_ticks, .past = past};
    j->fd = share_connect(jvm->pid, &j->reader, e);
    if (j->fd < 0)
        return j->fd;
    int rc = share_send_frame(j->fd, SHARE_HELLO, &hello, sizeof hello, NULL, 0);
    if (rc == 0)
        rc = share_send_frame(j->fd, SHARE_JOIN, &join, sizeof join, NULL, 0);
    j->told = j->over = j->has_header = false;
    j->states_all = true;
    j->have = 0;
    j->deadline_ns = clock_now_ns() + FIRST_NS;
    if (rc == 0)
        return 0;
    close(j->fd);
    j->fd = -1;
    return err_set(e, -rc, "process %d refused to share its profile: %s", (int)j->reader,
                   strerror(-rc));
}

void join_hear(struct session *s, struct join *j) {
    for (size_t taken = 0; taken < TURN_BYTES && !j->over;) {
        size_t want = j->has_header ? j->header.bytes : sizeof j->header;
        char *to = j->has_header ? (char *)j->frame : (char *)&j->header;
        ssize_t n = want > j->have ? recv(j->fd, to + j->have, want - j->have, MSG_DONTWAIT) : 0;
        if (want > j->have && n <= 0) {
            j->over = n == 0 || (errno != EAGAIN && errno != EINTR);
            return;
        }
        j->have += (size_t)n;
        taken += (size_t)n;
        if (j->have < want)
            continue;
        j->have = 0;
        if (j->has_header)
            j->over = !join_take(s, j, j->header.kind, j->frame, want);
        else
            j->over = j->header.bytes > sizeof j->frame;
        j->has_header = !j->has_header;
    }
}

/* Requests of the caller. */

static void finish(struct session *s, int code, const char *why) {
    struct err e;
    err_exit_as(&e, ERR_EXIT_PROFILER, code, "%s", why);
    session_finish(s, WIRE_COMMAND_START, -code, &e);
}

static void ask_engines(struct session *s, struct join *j) {
    struct wire_engine_request engine[WIRE_EVENTS];
    session_lock(s);
    uint32_t engines = s->options.engines;
    memcpy(engine, s->options.engine, sizeof engine);
    session_unlock(s);
    if (share_send_frame(j->fd, SHARE_ENGINES, engine, engines * sizeof engine[0], NULL, 0) != 0) {
        finish(s, EPIPE, "the process that samples this JVM accepts no requests");
        return;
    }
    j->asked = true;
    j->deadline_ns = clock_now_ns() + ANSWER_NS;
}

static void serve(struct session *s, struct join *j, uint64_t now) {
    enum wire_command command = drain_wanted(s);
    if (command == WIRE_COMMAND_STOP && s->options.apart)
        join_apart_stop(s, j, now);
    else if (command == WIRE_COMMAND_STOP || command == WIRE_COMMAND_DETACH)
        session_finish(s, command, 0, NULL);
    if (command != WIRE_COMMAND_START)
        return;
    if (!j->told && now > j->deadline_ns)
        finish(s, ETIMEDOUT, "the process that samples this JVM did not share its profile in time");
    else if (j->asked && now > j->deadline_ns)
        finish(s, ETIMEDOUT, "the process that samples this JVM did not answer in time");
    else if (j->told && !j->asked)
        ask_engines(s, j);
    if (now > j->deadline_ns)
        j->asked = false;
}

/* There is no process any more that could carry out the request. */
static void refuse(struct session *s) {
    enum wire_command command = drain_wanted(s);
    if (command == WIRE_COMMAND_START)
        finish(s, ESRCH, "the process that sampled this JVM has ended: open the JVM again");
    else
        session_finish(s, command, 0, NULL);
}

static void every_second(struct session *s, struct join *j, uint64_t now) {
    if (now < j->second_ns)
        return;
    j->second_ns = now + SECOND_NS;
    session_lock(s);
    decoder_expire(s->drain.decoder);
    session_unlock(s);
    drain_look_at_jvm(s, now);
    drain_mark(s);
}

/* Asks the other process for Java states, once a second while they are wanted. */
static void ask_java_states(struct session *s, struct join *j, uint64_t now) {
    bool all;
    if (!drain_wants_java_states(s, now, &all) || !j->told || j->fd < 0)
        return;
    j->states_all |= all;
    if (!all && now < j->states_ns)
        return;
    const uint32_t frame = j->states_all;
    if (share_send_frame(j->fd, SHARE_STATES, &frame, sizeof frame, NULL, 0) == 0)
        j->states_all = false;
    j->states_ns = now + SECOND_NS;
}

/* The end. */

static bool process_gone(struct session *s) {
    struct pollfd p = {.fd = s->pid_fd, .events = POLLIN};
    return s->pid_fd >= 0 ? poll(&p, 1, 0) > 0 : kill(s->jvm.pid, 0) != 0 && errno == ESRCH;
}

static void flush(struct session *s) {
    session_lock(s);
    decoder_flush(s->drain.decoder);
    session_unlock(s);
    drain_mark(s);
    drain_run_clock(s, false);
}

/* Continues after the other process's end. True: the JVM is ours. */
static bool carry_on(struct session *s, struct join *j) {
    char message[256];
    struct err e = {0};
    enum session_phase phase = drain_phase(s);
    close(j->fd);
    j->fd = -1;
    if (!j->was_told || drain_wanted(s) == WIRE_COMMAND_START)
        finish(s, EPIPE, "the process that sampled this JVM has ended");
    if (!j->was_told || phase != SESSION_RUNNING) {
        flush(s);
        return false;
    }
    if (j->ending) {
        join_apart_end(s, j);
        return false;
    }
    if (process_gone(s)) {
        flush(s);
        snprintf(message, sizeof message, "JVM %d is gone", (int)s->jvm.pid);
        session_set_phase(s, SESSION_JVM_GONE, message);
        return false;
    }
    pid_t before = j->reader;
    int rc = join_succeed(s, j, &e);
    if (rc == 1)
        session_set_message(
            s, "process %d, which sampled this JVM, has ended: this process samples it now",
            (int)before);
    if (rc >= 0)
        return rc == 1;
    flush(s);
    snprintf(message, sizeof message, "process %d, which sampled this JVM, has ended: %.180s",
             (int)before, e.message);
    session_set_phase(s, rc == -ENOTSUP ? SESSION_STOPPED : SESSION_FAILED, message);
    return false;
}

static void wait_for_work(struct session *s, const struct join *j) {
    struct pollfd fds[] = {{.fd = s->wake_fd, .events = POLLIN}, {.fd = j->fd, .events = POLLIN}};
    uint64_t n;
    if (poll(fds, 2, TURN_MS) > 0 && fds[0].revents && read(s->wake_fd, &n, sizeof n) < 0)
        return;
}

static bool must_quit(struct session *s) {
    session_lock(s);
    bool quit = s->quit;
    session_unlock(s);
    return quit;
}

static void *join_main(void *arg) {
    struct session *s = arg;
    struct join *j = s->join;
    while (!must_quit(s)) {
        wait_for_work(s, j);
        uint64_t now = clock_now_ns();
        s->drain.decoder->now_ns = now;
        if (j->fd >= 0)
            join_hear(s, j);
        if (j->fd >= 0 && j->over && carry_on(s, j))
            return drain_main(s);
        drain_swap_recording(s);
        if (j->fd >= 0)
            serve(s, j, now);
        else
            refuse(s);
        every_second(s, j, now);
        ask_java_states(s, j, now);
    }
    return NULL;
}

/* Starting. */

static int begin(struct session *s, struct err *e) {
    sigset_t all, before;
    s->pid_fd = (int)syscall(SYS_pidfd_open, s->jvm.pid, 0);
    session_begin_request(s, WIRE_COMMAND_START); /* completed by the first status */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&s->thread, NULL, join_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, code, "cannot start a thread: %s", strerror(code));
    s->threaded = true;
    return session_await_request(s, e);
}

static int open_recording(struct session *s, struct err *e) {
    const char *path = s->options.record;
    if (!path)
        return 0;
    return s->options.apart ? session_record_anew(s, path, e) : session_record(s, path, e);
}

int session_join(const struct jvm *jvm, const struct session_options *o, struct session **out,
                 struct err *e) {
    struct session *s = NULL;
    *out = NULL;
    int result = session_new(o, &s, e);
    if (!s)
        return result;
    s->jvm = *jvm;
    s->joined = true;
    s->drain.decoder->replay = true;
    if (o->apart)
        s->drain.decoder->window.begin_ns = UINT64_MAX; /* its time has not begun */
    s->drain.decoder->policy = drain_policy;
    s->drain.decoder->policy_arg = s;
    s->join = calloc(1, sizeof *s->join);
    if (!s->join) {
        session_close(s);
        return err_set(e, ENOMEM, "out of memory");
    }
    s->join->fd = -1;
    result = join_connect(s->join, jvm, !o->apart, e);
    /* For the time when the other process ends; the session works without it, too. */
    if (result == 0 && agent_library_find(o->library, s->library, sizeof s->library, NULL) != 0)
        s->library[0] = '\0';
    if (result == 0)
        result = begin(s, e);
    if (result == 0)
        result = open_recording(s, e);
    if (result != 0)
        session_close(s);
    else
        *out = s;
    return result;
}
