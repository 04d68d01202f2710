/*
 * The internal struct of a session that views the session of another process: frames arrive, and
 * are decoded like a recording.
 *
 *      socket ─▶ frame ─▶ records ─▶ decoder ─▶ profile
 *                      ─▶ status, answer to a change of events
 *
 * Context: the session's drain thread. It runs join_main until it has the JVM for itself.
 */
#ifndef JTOP_SESSION_SHARE_JOIN_H
#define JTOP_SESSION_SHARE_JOIN_H

#include "core/session/session_state.h"
#include "core/session/share/share_socket.h"

#define JOIN_FRAME_MAX (256u << 10)

struct join {
    int fd;
    pid_t reader;
    bool told;                  /* the first status has arrived, and so has everything before it */
    bool was_told;              /* at least one status has arrived since the session began */
    uint32_t tries;             /* attempts to join another process since the last status */
    bool over;                  /* the other side has ended or sent invalid data */
    bool asked;                 /* a change of events was requested */
    uint64_t told_ns;           /* time of the last status; 0: not known */
    uint64_t missed_ns;         /* missed between two processes that it viewed, or between two
                             connections */
    uint64_t deadline_ns;       /* for that answer, or for the first status */
    uint64_t second_ns;         /* when the once-a-second work is due */
    uint64_t states_ns;         /* when the next request for Java states is due */
    bool states_all;            /* the request for all of them was not sent yet */
    bool begun;                 /* a profile apart: its time has begun */
    bool ending;                /* its time is over; the last samples are awaited */
    struct session_status base; /* counters of the other process when it began */
    struct share_status last;
    struct share_header header;
    bool has_header;
    size_t have; /* bytes received of the header or of the frame */
    uint64_t frame[JOIN_FRAME_MAX / 8];
};

/* Receives what has arrived, without waiting, up to a limit. */
void join_hear(struct session *s, struct join *j);

/* Processes a complete frame; false: it is invalid. */
bool join_take(struct session *s, struct join *j, uint32_t kind, const void *data, size_t bytes);

/* Connects, checks the peer, and asks to join as viewer. `past` as in struct share_join. */
int join_connect(struct join *j, const struct jvm *jvm, bool past, struct err *e);

/* Call it when the other side has ended while it sampled. Joins the process that reads the JVM now,
 * or attaches. Blocks as long as that takes. 0: joined again; 1: the JVM is ours; -ENOTSUP: the
 * other side's samples must not be mixed with those that would be taken now; -ECANCELED: the
 * session must end; -errno. */
int join_succeed(struct session *s, struct join *j, struct err *e);

/* A profile apart (session_options.apart): the other process samples its events for it, and the
 * profile has only samples of these, from its own time. The drain thread; where a function ends in
 * "the lock is held", the caller holds the session's lock. */

/* A first status has arrived: compares the options, and asks for the events. */
void join_apart_ask(struct session *s, struct join *j);
/* The answer to that, or to join_apart_stop. */
void join_apart_answered(struct session *s, struct join *j, int result, const struct err *e);
/* Makes the counters of j->last begin with this profile. The lock is held. */
void join_apart_rebase(struct session *s, struct join *j);
/* Shows in the session's status only what belongs to this profile. The lock is held. */
void join_apart_show(struct session *s, struct join *j);
/* The caller wants to stop: the time ends now. To be called in each turn until it is done. */
void join_apart_stop(struct session *s, struct join *j, uint64_t now);
/* Everything has arrived that will: the profile is complete. */
void join_apart_end(struct session *s, struct join *j);

#endif
