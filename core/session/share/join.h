/*
 * The inside of a session that looks on at another process's: frames come in, and are decoded as a
 * recording is.
 *
 *      socket ─▶ frame ─▶ records ─▶ decoder ─▶ profile
 *                      ─▶ status, answer to a change of events
 *
 * Context: the session's drain thread, which is join_main until it has the JVM for itself.
 */
#ifndef JTOP_SESSION_SHARE_JOIN_H
#define JTOP_SESSION_SHARE_JOIN_H

#include "core/session/session_state.h"
#include "core/session/share/share_socket.h"

#define JOIN_FRAME_MAX (256u << 10)

struct join {
    int fd;
    pid_t reader;
    bool told;            /* the first status came: everything before now is there */
    bool was_told;        /* by whoever it was that it looked on at first */
    uint32_t tries;       /* to look on at another one since it was told last */
    bool over;            /* the other side has ended, or makes no sense */
    bool asked;           /* for other events */
    uint64_t told_ns;     /* when the last status was said; 0: not known */
    uint64_t missed_ns;   /* between two whom, or two times that, it looked on */
    uint64_t deadline_ns; /* of that answer, or of the first status */
    uint64_t second_ns;   /* when the once-a-second work is due */
    struct share_status last;
    struct share_header header;
    bool has_header;
    size_t have; /* of the header, or of the frame */
    uint64_t frame[JOIN_FRAME_MAX / 8];
};

/* Takes in what has come, without waiting, up to a bound. */
void join_hear(struct session *s, struct join *j);

/* A whole frame; false: it makes no sense. */
bool join_take(struct session *s, struct join *j, uint32_t kind, const void *data, size_t bytes);

/* The other side has ended while it sampled: joins whoever reads the JVM now, or attaches. Waits
 * for what that takes. 0: joined again; 1: the JVM is ours; -ENOTSUP: what the other one took
 * is not to be mixed with what would be taken now; -ECANCELED: the session is to end; -errno. */
int join_succeed(struct session *s, struct join *j, struct err *e);

#endif
