/*
 * The socket by which a session is shared, and what is said over it: frames, each a header and so
 * many bytes, in this machine's byte order.
 *
 *      client   HELLO           ASK directory, arguments      JOIN what of      ENGINES set
 *      reader                   OUT ERROR FILE … EXIT         RECORDS STATUS …  ANSWER
 *
 * Context: frontend, any thread; one at a time per descriptor.
 */
#ifndef JTOP_SESSION_SHARE_SHARE_SOCKET_H
#define JTOP_SESSION_SHARE_SHARE_SOCKET_H

#include "core/base/err.h"
#include "core/session/share/share.h"
#include "core/wire/share_frame.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHARE_REQUEST_MAX (256u << 10) /* bytes of a frame that a client sends */
#define SHARE_REPLY_MAX (1u << 30)     /* and of one that comes back */
#define SHARE_ARGUMENTS_MAX 4096
#define SHARE_STALL_MS 5000 /* whoever does not move on for so long is given up */

/* Program and layout: both sides must be the same. */
struct share_hello {
    char program[32];
    uint32_t abi_major, abi_minor, status_bytes, exit_bytes;
};

struct share_exit {
    int32_t result; /* 0 or -errno */
    int32_t exit_code;
    char message[512];
};

struct share_join {
    uint64_t start_ticks; /* of the JVM, so that another of its number is noticed; 0: any */
    uint32_t past;        /* 0: from now on only */
    uint32_t reserved;
};

/* What one who looks on is told each second, and when it changes. */
struct share_status {
    struct session_status status;
    uint32_t engines;
    enum wire_walk walk;
    struct wire_engine_request engine[WIRE_EVENTS]; /* as asked for */
    uint32_t depth, cut, features, signal, wall_signal;
    bool precise, tag_cpu, tag_sched;
    bool restricted;  /* to threads, or to times: by what is not said here */
    uint64_t time_ns; /* CLOCK_MONOTONIC, when this was said; 0: not known */
};

struct share_hello share_hello(void);

/* -EADDRINUSE: somebody does who is believed, or has both names that we could have. */
int share_listen(pid_t jvm, struct err *e);

/* A connection to whoever shares this JVM and may be believed, and its pid. -ESRCH: nobody does;
 * -EPERM: somebody who may not be believed; -errno. */
int share_connect(pid_t jvm, pid_t *reader, struct err *e);

/* Whether it is ours or root's who has connected. */
bool share_may_serve(int fd);

/* All of it, or -errno; -ETIMEDOUT: nothing moved for that long. -EPIPE: at the end. The
 * descriptor may be blocking or not; no signal is raised. */
int share_send(int fd, const void *data, size_t bytes, int timeout_ms);
int share_receive(int fd, void *out, size_t bytes, int timeout_ms);

int share_send_frame(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                     size_t b_bytes);

/* The next frame, malloc'ed with a NUL behind it. Memory is taken as the bytes come. -EPROTO: longer
 * than SHARE_REPLY_MAX; -ETIMEDOUT: also where it takes a minute from the header on. */
int share_receive_frame(int fd, uint32_t *kind, char **data, size_t *bytes, int timeout_ms);

/* Whether a frame of so many bytes is wanted, by the first of them, behind which there is a NUL: 0
 * or -errno. */
#define SHARE_HEAD_MAX 4096
typedef int share_check(void *arg, uint32_t kind, const char *head, size_t head_bytes,
                        size_t bytes);

/* The same; no more than SHARE_HEAD_MAX bytes are taken of what is not wanted. */
int share_receive_wanted(int fd, share_check *check, void *arg, uint32_t *kind, char **data,
                         size_t *bytes, int timeout_ms);

/* Strings of what came are terminated, numbers in range. */
void share_exit_to_err(struct share_exit *x, struct err *e);

#endif
