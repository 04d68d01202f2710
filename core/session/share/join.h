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
    bool told;            /* the first status has arrived, and so has everything before it */
    bool was_told;        /* at least one status has arrived since the session began */
    uint32_t tries;       /* attempts to join another process since the last status */
    bool over;            /* the other side has ended or sent invalid data */
    bool asked;           /* a change of events was requested */
    uint64_t told_ns;     /* time of the last status; 0: not known */
    uint64_t missed_ns;   /* missed between two processes that it viewed, or between two
                             connections */
    uint64_t deadline_ns; /* for that answer, or for the first status */
    uint64_t second_ns;   /* when the once-a-second work is due */
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

/* Call it when the other side has ended while it sampled. Joins the process that reads the JVM now,
 * or attaches. Blocks as long as that takes. 0: joined again; 1: the JVM is ours; -ENOTSUP: the
 * other side's samples must not be mixed with those that would be taken now; -ECANCELED: the
 * session must end; -errno. */
int join_succeed(struct session *s, struct join *j, struct err *e);

#endif
