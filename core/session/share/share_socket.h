/*
 * The socket through which a session is shared, and its protocol: frames, each a header followed by
 * the number of bytes it states, in this machine's byte order.
 *
 *      client   HELLO           ASK directory, arguments      JOIN what of      ENGINES set, LEND set
 *      reader                   OUT ERROR FILE … EXIT         RECORDS STATUS …  ANSWER
 *
 * Context: frontend, any thread; one at a time per descriptor.
 */
#ifndef JTOP_SESSION_SHARE_SHARE_SOCKET_H
#define JTOP_SESSION_SHARE_SHARE_SOCKET_H

#include "core/base/err.h"
#include "core/session/share/share.h"
#include "core/wire/share_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHARE_REQUEST_MAX (256u << 10) /* maximum size of a frame that a client sends */
#define SHARE_REPLY_MAX (1u << 30)     /* maximum size of a frame that the reader sends back */
#define SHARE_ARGUMENTS_MAX 4096
#define SHARE_STALL_MS 5000       /* a peer without progress for this long is disconnected */
#define SHARE_FILE_STALL_MS 30000 /* a client that writes a file may have to wait for its disk */

/* Program and layout: both sides must have the same. */
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
    uint64_t start_ticks; /* start time of the JVM, to notice another process with the same
                             number; 0: any */
    uint32_t past;        /* 0: only data from now on */
    uint32_t reserved;
};

/* What a viewer receives each second, and whenever it changes. */
struct share_status {
    struct session_status status;
    uint32_t engines;
    enum wire_walk walk;
    struct wire_engine_request engine[WIRE_EVENTS]; /* as requested */
    uint32_t depth, cut, features, signal, wall_signal;
    bool precise, tag_cpu, tag_sched;
    uint32_t lent;      /* set of events that are sampled only for profiles of other viewers */
    uint32_t viewers;   /* how many there are */
    uint32_t limit_ppm; /* --max-overhead; 0: none */
    bool restricted;    /* to some threads or times, which are not described here */
    uint64_t time_ns;   /* CLOCK_MONOTONIC, when this was sent; 0: not known */
};

struct share_reply {
    int fd;
    bool gone;            /* the client has disconnected */
    uint64_t accepted_ns; /* CLOCK_MONOTONIC */
};

struct share_hello share_hello(void);

/* -EADDRINUSE: a trusted process already shares the JVM, or both names that we could use
 * are taken. */
int share_listen(pid_t jvm, struct err *e);

/* Connects to the process that shares this JVM and can be trusted; returns the socket, and
 * the pid in *reader. -ESRCH: no process shares it; -EPERM: a process that cannot be trusted
 * does; -errno. */
int share_connect(pid_t jvm, pid_t *reader, struct err *e);

/* Whether the peer belongs to our user or to root. */
bool share_may_serve(int fd);

/* Send or receive all bytes. 0 or -errno; -ETIMEDOUT: no progress for timeout_ms; -EPIPE: the
 * connection has ended. The descriptor may be blocking or not; no signal is raised. */
int share_send(int fd, const void *data, size_t bytes, int timeout_ms);
int share_receive(int fd, void *out, size_t bytes, int timeout_ms);

int share_send_frame(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                     size_t b_bytes);
/* The same for a piece of a file. */
int share_send_piece(int fd, uint32_t kind, const void *a, size_t a_bytes, const void *b,
                     size_t b_bytes);

/* Receives the next frame, malloc'ed, with a NUL behind it. Memory is allocated as the bytes
 * arrive. -EPROTO: the frame is longer than SHARE_REPLY_MAX. -ETIMEDOUT: no progress for
 * timeout_ms, or more than a minute since the header. */
int share_receive_frame(int fd, uint32_t *kind, char **data, size_t *bytes, int timeout_ms);

/* Decides whether a frame of `bytes` bytes is wanted, from its first bytes, which are followed by a
 * NUL: 0 or -errno. */
#define SHARE_HEAD_MAX 4096
typedef int share_check(void *arg, uint32_t kind, const char *head, size_t head_bytes,
                        size_t bytes);

/* Does the same, but receives at most SHARE_HEAD_MAX bytes of a frame that is not wanted. */
int share_receive_wanted(int fd, share_check *check, void *arg, uint32_t *kind, char **data,
                         size_t *bytes, int timeout_ms);

/* Terminates the strings of a received message, and brings its numbers into range. */
void share_exit_to_err(struct share_exit *x, struct err *e);

#endif
