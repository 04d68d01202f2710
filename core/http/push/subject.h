/*
 * One JVM that is profiled all the time: its session, its labels, and the window that is open.
 *
 * Context: frontend. One thread at a time; the session's own threads are its business.
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
    uint64_t since; /* the session's samples are this user's from there on; 0: all of them */
    uint64_t dropped[EVENT_KINDS]; /* said so far */
    bool begun; /* `window` is of an earlier session of the same JVM, and goes on */
};

/* What its messages go through. */
struct subject_out {
    const struct push_protocol *protocol;
    int (*put)(void *arg, struct push_message *m); /* takes over the body */
    void *arg;
    uint32_t nodes_max; /* call paths after which a profile begins anew */
};

/* A session was entered: opens the first window, or the next one of a JVM that has a new session. */
void subject_begin(struct subject *s, uint32_t every);

/* Sends what windows are over. Cheap where none is. ROSTER_ENDED, ROSTER_FAILED: all of it was sent.
 * ROSTER_ANEW: the profile, which is not another process's, has grown too large: subject_finish, and
 * begin with a new session, which goes on where the window is. */
enum roster_end subject_step(struct subject *s, const struct subject_out *out);

/* Ends sampling in this session and sends all there is. Some milliseconds of the JVM's time are in
 * no window, until the next session has begun. */
void subject_finish(struct subject *s, const struct subject_out *out);

/* Sends what there is up to and with the second that `now_ns` (monotonic) is in. */
void subject_cut(struct subject *s, const struct subject_out *out, uint64_t now_ns);

#endif
