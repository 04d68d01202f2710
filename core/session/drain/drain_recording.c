/* Recordings that start and end while the session runs. The caller opens the file, so that a bad
 * path is reported at once. Only the drain thread writes to the file; it takes the file over
 * between two readings of the ring. */
#include "core/session/session_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Stores the values from which the recording's counters start. */
static void note_base(struct session *s) {
    struct drain *d = &s->drain;
    d->base.dropped = s->status.dropped;
    memcpy(d->base.failed, s->status.failed, sizeof d->base.failed);
    for (uint32_t event = 0; event < WIRE_EVENTS; event++)
        d->base.engine_dropped[event] = s->status.engine[event].dropped;
}

int drain_end_recording(struct session *s, struct err *e) {
    struct drain *d = &s->drain;
    struct recording_writer *w = d->recording;
    if (!w)
        return 0;
    drain_publish(s);
    drain_mark(s);
    d->recording = NULL;
    d->decoder->recording = NULL;
    return recording_finish(w, e);
}

static int begin_recording(struct session *s, struct recording_writer *w, struct err *e) {
    struct drain *d = &s->drain;
    recording_write_jvm(w, (uint32_t)s->jvm.pid, s->jvm.name, s->jvm.version);
    int result = decoder_restate(d->decoder, w);
    if (result < 0) {
        recording_finish(w, NULL);
        return err_set(e, -result, "out of memory");
    }
    drain_publish(s);
    note_base(s);
    d->recording = w;
    d->decoder->recording = w;
    drain_mark(s);
    result = recording_flush(w, e);
    if (result < 0)
        drain_end_recording(s, NULL);
    return result;
}

void drain_swap_recording(struct session *s) {
    struct err e = {0};
    session_lock(s);
    bool asked = s->record.asked;
    struct recording_writer *next = s->record.next;
    s->record.next = NULL;
    session_unlock(s);
    if (!asked)
        return;
    int result = next ? begin_recording(s, next, &e) : drain_end_recording(s, &e);
    session_lock(s);
    snprintf(s->status.recording, sizeof s->status.recording, "%s",
             s->drain.recording ? s->record.path : "");
    s->record.asked = false;
    s->record.result = result;
    s->record.outcome = e;
    pthread_cond_broadcast(&s->changed);
    session_unlock(s);
}

/* The caller's side. */

static int await_swap(struct session *s, struct recording_writer *next, const char *path,
                      struct err *e) {
    pthread_mutex_lock(&s->caller);
    session_lock(s);
    s->record.next = next;
    snprintf(s->record.path, sizeof s->record.path, "%s", path);
    s->record.asked = true;
    session_unlock(s);
    session_wake_drain(s);
    session_lock(s);
    while (s->record.asked)
        pthread_cond_wait(&s->changed, &s->lock);
    int result = s->record.result;
    if (result < 0 && e)
        *e = s->record.outcome;
    session_unlock(s);
    pthread_mutex_unlock(&s->caller);
    return result;
}

int session_record(struct session *s, const char *path, struct err *e) {
    struct session_status st;
    session_status(s, &st);
    if (!s->threaded)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "this is already a recording");
    if (!path)
        return st.recording[0] ? await_swap(s, NULL, "", e) : 0;
    if (st.recording[0])
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EBUSY, "it is already being recorded to %s",
                           st.recording);
    if (st.phase == SESSION_JVM_GONE)
        return err_exit_as(e, ERR_EXIT_PROFILER, ESRCH,
                           "nothing more can be recorded: JVM %d is gone", (int)s->jvm.pid);
    struct recording_writer *w = NULL;
    int result = recording_create_new(path, &w, e);
    if (result < 0)
        return result;
    return await_swap(s, w, path, e);
}

int session_record_anew(struct session *s, const char *path, struct err *e) {
    struct recording_writer *w = NULL;
    int result = recording_create(path, &w, e);
    return result < 0 ? result : await_swap(s, w, path, e);
}
