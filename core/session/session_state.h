/*
 * The inside of a session. Two threads know it: the caller's (session.c) asks for things, the
 * drain thread (drain.c) does all talking with the agent and all reading.
 *
 * Context: as the comments in the struct say.
 */
#ifndef JTOP_SESSION_SESSION_STATE_H
#define JTOP_SESSION_SESSION_STATE_H

#include "attach/proc/thread_stat.h"
#include "core/decode/thread_filter.h"
#include "core/session/drain/cpu_limit.h"
#include "core/session/drain/drain.h"
#include "core/session/mapping.h"
#include "core/session/session.h"
#include "core/session/share/share.h"

#include <limits.h>
#include <pthread.h>

struct feed;
struct join;

#define SESSION_ANSWER_MS 5000 /* an agent that does not answer in this time does not */
#define SESSION_DETACH_MS 3000

struct session {
    /* Its engines: under the lock; its strings are not used after the start */
    struct session_options options;
    char *begin, *end;             /* own copies; NULL: none */
    struct thread_filter filter;   /* drain thread */
    char library[PATH_MAX];        /* "": not known */
    bool adopted;                  /* the agent chose its engines itself */
    int phase_fd, wake_fd, pid_fd; /* eventfds; pidfd or -1 */
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    struct profile *profile;
    struct jvm jvm;
    struct session_status status;
    struct session_cpu cpu;
    struct mapping mapping;   /* changed by the drain thread only */
    uint64_t sampled_ns;      /* time with engines running, until they stopped last */
    uint64_t running_ns;      /* CLOCK_MONOTONIC: engines run since; 0: none runs */
    enum wire_command wanted; /* by the caller; WIRE_COMMAND_NONE: nothing */
    bool done;                /* `wanted` was carried out, with `outcome` */
    struct wire_engine_request engine_before[WIRE_EVENTS]; /* what session_set_engines changed */
    uint32_t engines_before;
    int result;
    struct err outcome;
    struct {
        bool asked;                    /* by session_record: the drain thread takes … */
        struct recording_writer *next; /* … this one into use; NULL: none */
        char path[256];
        int result;
        struct err outcome;
    } record;
    bool quit;
    struct feed *arriving[DECODER_FEEDS]; /* of those who begin to look on */
    uint32_t arrivals, lookers;           /* and how many do, these included */
    struct share *share;                  /* NULL: nobody else may know of it; set once */
    bool joined;                          /* it is another process's (join.c) … */
    bool share_later;                     /* … and is to be shared as soon as it is not */
    share_handler *share_handler;
    void *share_arg;
    struct join *join;                    /* drain thread; NULL: not joined */
    pthread_mutex_t caller;               /* of requests: one at a time, whoever asks */
    struct thread_numbers caller_threads; /* of session_threads; the thread that calls it */
    /* drain thread */
    struct cpu_limit cpu_limit;
    struct drain drain;
};

/* A session without thread and mapping. -EINVAL: the pattern for threads is none; -ENOMEM. */
int session_new(const struct session_options *o, struct session **out, struct err *e);
void session_free(struct session *s); /* what session_new made; NULL is fine */

/* Hands the drain thread a request, and waits until it is carried out: 0, or what became of it. */
void session_begin_request(struct session *s, enum wire_command command);
int session_await_request(struct session *s, struct err *e);

/* Has the drain thread look at what it is asked for. Any thread. */
void session_wake_drain(struct session *s);
/* Makes session_event_fd readable. Any thread. */
void session_wake_reader(struct session *s);
/* Changes the phase and tells everybody; `message` may be NULL. Takes the lock. */
void session_set_phase(struct session *s, enum session_phase phase, const char *message);
void session_set_message(struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* If this is what the caller waits for, it is carried out. Takes the lock. */
void session_finish(struct session *s, enum wire_command command, int result, const struct err *e);

/* Shows an engine: as it ran last, or why it does not. `name` is used where it has none. */
void session_show_engine(struct session_status *st, const struct wire_engine_status *engine,
                         const char *name, bool asked, bool runs);
/* What the decoder has counted, and LIVE and LEAK from what they are made of; `flags` of all
 * engines asked for, or-ed. With the lock. */
void session_show_counts(struct session *s, uint32_t flags);
/* The engine that the status is about where it is about one. WIRE_EVENTS: none. */
void session_show_first(struct session_status *st, uint32_t event);

#endif
