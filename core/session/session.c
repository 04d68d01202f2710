#include "core/session/session_state.h"

#include "attach/attach.h"
#include "core/session/agent_link.h"

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

static uint64_t ring_bytes_of(uint64_t wanted) {
    uint64_t bytes = WIRE_RING_BYTES_MIN;
    if (wanted == 0)
        return WIRE_RING_BYTES_DEFAULT;
    while (bytes < wanted && bytes < WIRE_RING_BYTES_MAX)
        bytes *= 2;
    return bytes;
}

struct session *session_new(const struct session_options *o) {
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *o;
    s->options.ring_bytes = ring_bytes_of(o->ring_bytes);
    if (o->depth == 0)
        s->options.depth = WIRE_DEPTH_DEFAULT;
    else if (o->depth > WIRE_FRAMES_MAX)
        s->options.depth = WIRE_FRAMES_MAX;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    s->pid_fd = -1;
    s->phase_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->profile = profile_new(o->history_seconds);
    if (s->profile)
        s->drain.decoder = decoder_new(s->profile, NULL);
    if (s->drain.decoder && s->phase_fd >= 0 && s->wake_fd >= 0)
        return s;
    session_free(s);
    return NULL;
}

static void close_fd(int fd) {
    if (fd >= 0)
        close(fd);
}

void session_free(struct session *s) {
    if (!s)
        return;
    decoder_free(s->drain.decoder);
    drain_end_unwind(s); /* before its mapping */
    symbols_free(s->drain.symbols);
    free(s->drain.batch);
    mapping_close(&s->mapping);
    profile_free(s->profile);
    close_fd(s->pid_fd);
    close_fd(s->wake_fd);
    close_fd(s->phase_fd);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

uint32_t session_news(struct session *s, char *out, size_t size) {
    session_lock(s);
    const struct decoder_notes *n = &s->drain.decoder->notes;
    snprintf(out, size, "%s", n->news);
    uint32_t left_out = n->news_left_out;
    session_unlock(s);
    return left_out;
}

/* Telling each other. */

static void signal_fd(int fd) {
    uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0)
        return; /* only when it is full of signals already */
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

static void begin_request(struct session *s, enum wire_command command) {
    session_lock(s);
    s->wanted = command;
    s->done = false;
    session_unlock(s);
    signal_fd(s->wake_fd);
}

/* The drain thread finishes every request in bounded time. */
static int await_request(struct session *s, struct err *e) {
    session_lock(s);
    while (!s->done)
        pthread_cond_wait(&s->changed, &s->lock);
    s->wanted = WIRE_COMMAND_NONE;
    int result = s->result;
    if (result != 0 && e)
        *e = s->outcome;
    session_unlock(s);
    return result;
}

static int request(struct session *s, enum wire_command command, struct err *e) {
    begin_request(s, command);
    return await_request(s, e);
}

/* Starting. */

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
    return 0; /* without pidfd (Linux before 5.3) the drain thread looks by itself */
}

static int open_recording(struct session *s, const char *path, struct err *e) {
    if (!path)
        return 0;
    int result = recording_create(path, &s->drain.recording, e);
    if (result != 0)
        return result;
    s->drain.decoder->recording = s->drain.recording;
    recording_write_jvm(s->drain.recording, (uint32_t)s->jvm.pid, s->jvm.name, s->jvm.version);
    return 0;
}

int session_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                   struct err *e) {
    *out = NULL;
    struct session *s = session_new(o);
    if (!s)
        return err_set(e, ENOMEM, "out of memory");
    struct mapping m = {0};
    s->jvm = *j;
    s->drain.decoder->since_ns = session_clock_ns();
    int result = agent_library_find(o->library, s->library, sizeof s->library, e);
    if (result == 0)
        result = open_process(s, e);
    if (result == 0)
        result = open_recording(s, o->record, e);
    if (result == 0)
        result = agent_link_open(j, s->library, s->options.ring_bytes, ATTACH_TIMEOUT_MS, &m, e);
    if (result == 0) {
        drain_use_mapping(s, m);
        begin_request(s, WIRE_COMMAND_START);
        result = start_thread(s, e);
    }
    if (result == 0)
        result = await_request(s, e);
    if (result != 0) {
        session_close(s);
        return result;
    }
    *out = s;
    return 0;
}

/* The process said by the agent may be no JVM that can be inspected (any more). */
static bool describe(struct session *s, pid_t pid) {
    struct err ignored;
    if (jvm_inspect(pid, &s->jvm, &ignored) == 0)
        return true;
    s->jvm = (struct jvm){.pid = pid, .inner_pid = pid};
    snprintf(s->jvm.name, sizeof s->jvm.name, "%d", (int)pid);
    return false;
}

int session_adopt(int memfd, pid_t pid, const struct session_options *o, struct session **out,
                  struct err *e) {
    *out = NULL;
    struct mapping m = {0};
    int result = mapping_of_fd(memfd, 0, &m, e);
    close(memfd);
    if (result != 0)
        return result;
    struct session *s = session_new(o);
    if (!s) {
        mapping_close(&m);
        return err_set(e, ENOMEM, "out of memory");
    }
    uint64_t now = session_clock_ns();
    uint64_t begin = __atomic_load_n(&m.wire->header.clock_ns, __ATOMIC_RELAXED);
    s->adopted = true;
    s->options.ring_bytes = m.ring_bytes;
    s->start_ns = begin < now ? begin : now;
    s->drain.decoder->since_ns = s->start_ns;
    /* Attaching again after a pause needs both: something to attach to, and what to load. */
    if (!describe(s, pid) ||
        agent_library_find(o->library, s->library, sizeof s->library, NULL) != 0)
        s->library[0] = '\0';
    drain_use_mapping(s, m);
    /* A JVM that is gone already has left its samples all the same. */
    if (open_process(s, NULL) != 0)
        s->drain.process_gone = true;
    result = open_recording(s, o->record, e);
    if (result == 0)
        result = start_thread(s, e);
    if (result != 0) {
        session_close(s);
        return result;
    }
    *out = s;
    return 0;
}

/* Looking. */

void session_jvm(struct session *s, struct jvm *out) {
    session_lock(s);
    *out = s->jvm;
    session_unlock(s);
}

void session_status(struct session *s, struct session_status *out) {
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    session_lock(s);
    *out = s->status;
    if (s->start_ns) {
        uint64_t end = s->stop_ns ? s->stop_ns : session_clock_ns();
        out->elapsed_ns = end - s->start_ns;
        out->elapsed_ns -= out->missed_ns < out->elapsed_ns ? out->missed_ns : out->elapsed_ns;
    }
    session_unlock(s);
    out->frontend_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int session_event_fd(const struct session *s) {
    return s->phase_fd;
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
    if (s->threaded) {
        request(s, WIRE_COMMAND_DETACH, NULL);
        session_lock(s);
        s->quit = true;
        signal_fd(s->wake_fd);
        session_unlock(s);
        pthread_join(s->thread, NULL);
        drain_read(s, s->drain.process_gone);
        drain_publish(s);
        drain_mark(s);
    } else if (s->drain.linked) {
        control_request(&s->drain.control, WIRE_COMMAND_DETACH, NULL);
    }
    recording_finish(s->drain.recording, NULL);
    session_free(s);
}
