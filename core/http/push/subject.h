/*
 * One JVM that is profiled all the time: its session, its labels, and its open window.
 *
 * Context: frontend. One thread at a time; the session takes care of its own threads.
 */
#ifndef JTOP_HTTP_PUSH_SUBJECT_H
#define JTOP_HTTP_PUSH_SUBJECT_H

#include "core/http/fleet/roster.h"
#include "core/http/push/push_window.h"
#include "core/http/push/sender.h"

struct subject {
    struct roster_jvm held;
    struct push_labels labels;
    struct window window;
    uint64_t since; /* from this second on, the samples are this user's; 0: all are */
    uint64_t dropped[EVENT_KINDS]; /* drops reported so far */
    bool begun; /* `window` has begun; a new session of the same JVM continues it */
};

/* How its messages are made and sent. */
struct subject_out {
    const struct push_protocol *protocol;
    int (*put)(void *arg, struct push_message *m); /* takes over the body */
    void *arg;
    uint32_t nodes_max; /* a profile with more call paths is restarted */
};

/* A session was entered: opens the first window, or the next one if the JVM has a new session. */
void subject_begin(struct subject *s, uint32_t every);

/* Sends the windows that are over. Cheap if none is. ROSTER_ENDED, ROSTER_FAILED: everything was
 * sent. ROSTER_ANEW: the profile has become too large, and is not another process's: call
 * subject_finish and begin a new session, which continues at the open window. */
enum roster_end subject_step(struct subject *s, const struct subject_out *out);

/* Ends sampling in this session and sends everything. Until the next session has begun, some
 * milliseconds of the JVM's time are in no window. */
void subject_finish(struct subject *s, const struct subject_out *out);

/* Sends everything up to and including the second of `now_ns` (CLOCK_MONOTONIC). */
void subject_cut(struct subject *s, const struct subject_out *out, uint64_t now_ns);

#endif
