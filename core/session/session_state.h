/*
 * The internal struct of a session. Two threads use it: the caller's thread (session.c) makes
 * requests, and the drain thread (drain.c) does all communication with the agent and all reading.
 *
 * Context: as stated in the struct's comments.
 */
#ifndef JTOP_SESSION_SESSION_STATE_H
#define JTOP_SESSION_SESSION_STATE_H

#include "attach/proc/thread_stat.h"
#include "core/decode/thread_filter.h"
#include "core/session/drain/cpu_limit.h"
#include "core/session/drain/drain.h"
#include "core/session/lent.h"
#include "core/session/mapping.h"
#include "core/session/session.h"
#include "core/session/share/share.h"

#include <limits.h>
#include <pthread.h>

struct feed;
struct join;

/* An agent that does not answer within this time is considered unresponsive */
#define SESSION_ANSWER_MS 5000
#define SESSION_DETACH_MS 3000

struct session {
    /* `engine[]` is protected by `lock`. Its strings are used only while the session starts. */
    struct session_options options;
    char *begin, *end;             /* copies of the options; NULL: none */
    struct thread_filter filter;   /* used by the drain thread */
    char library[PATH_MAX];        /* "": unknown */
    bool adopted;                  /* the agent chose its engines itself */
    bool awaited;                  /* the JVM may wait for our files at its end */
    int phase_fd, wake_fd, pid_fd; /* eventfds; pidfd or -1 */
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* protected by `lock` */
    struct profile *profile;
    struct jvm jvm;
    struct session_status status;
    struct session_cpu cpu;
    struct mapping mapping;   /* only the drain thread changes it */
    uint64_t sampled_ns;      /* time with running engines, until they last stopped */
    uint64_t running_ns;      /* CLOCK_MONOTONIC: start of the current run of engines; 0:
                                 none runs */
    enum wire_command wanted; /* the caller's request; WIRE_COMMAND_NONE: no request */
    bool done;                /* `wanted` was carried out, with the result in `outcome` */
    struct wire_engine_request engine_before[WIRE_EVENTS]; /* the engines before session_set_engines
                                                              changed them */
    uint32_t engines_before;
    bool spare;       /* the next stop is to end only this profile, not what viewers see */
    uint64_t over_ns; /* that has happened: end of the profile's time; CLOCK_MONOTONIC */
    struct lent lent; /* engines that run in addition to those of `options` */
    /* Set by viewers without the lock: a long answer must not delay them. */
    _Atomic uint64_t states_until_ns; /* Java states are wanted until then; CLOCK_MONOTONIC */
    atomic_bool states_all;           /* all of them are wanted, not only what changes */
    uint64_t rounds;        /* how often the drain thread has sent viewers what was in the ring */
    uint32_t round_waiters; /* threads in drain_await_rounds or session_catch_up */
    int result;
    struct err outcome;
    struct {
        bool asked;                    /* session_record has requested a change, which the drain
                                          thread carries out */
        struct recording_writer *next; /* the writer to use from then on; NULL: none */
        char path[256];
        int result;
        struct err outcome;
    } record;
    bool quit;
    struct feed *arriving[DECODER_FEEDS]; /* feeds of viewers that have just joined */
    uint64_t kept_until_ns; /* what a process before us sampled goes on at least until then, and as
                               long as there are viewers; 0: there is nothing of that kind */
    uint32_t arrivals, lookers; /* number of these, and number of all viewers,
                                             including these */
    struct share *share;        /* NULL: not shared with other processes; set once */
    bool joined;                /* the session views that of another process (join.c) */
    bool share_later;           /* it is to be shared as soon as it is no longer joined */
    share_handler *share_handler;
    void *share_arg;
    struct join *join;                    /* drain thread; NULL: not joined */
    pthread_mutex_t caller;               /* serializes requests of all callers */
    struct thread_numbers caller_threads; /* of session_threads; used by the thread that calls it */
    /* used by the drain thread */
    struct cpu_limit cpu_limit;
    struct drain drain;
};

/* Makes a session without thread and mapping. -EINVAL: the pattern for threads is invalid;
 * -ENOMEM. */
int session_new(const struct session_options *o, struct session **out, struct err *e);
void session_free(struct session *s); /* frees what session_new made; NULL is fine */

/* The first function passes a request to the drain thread; the second waits until it is carried
 * out: 0, or its error. */
void session_begin_request(struct session *s, enum wire_command command);
int session_await_request(struct session *s, struct err *e);

/* Ends the drain thread and takes what is left in the ring, without a word to the agent. The session
 * is `threaded`. */
void session_end_thread(struct session *s);

/* Makes the drain thread check for requests. Any thread. */
void session_wake_drain(struct session *s);
/* Makes session_event_fd readable. Any thread. */
void session_wake_reader(struct session *s);
/* Changes the phase and notifies all waiting threads; `message` may be NULL. Takes the lock. */
void session_set_phase(struct session *s, enum session_phase phase, const char *message);
void session_set_message(struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* If the caller waits for this request, marks it as carried out. Takes the lock. */
void session_finish(struct session *s, enum wire_command command, int result, const struct err *e);

/* session_record to a file that may exist: it is replaced. */
int session_record_anew(struct session *s, const char *path, struct err *e);
/* Lists the engines that have to run: the session's own, and those that are only lent, whose set is
 * `*lent`. Returns their number. Call it with the lock held. */
uint32_t session_wanted(const struct session *s, struct wire_engine_request *out, uint32_t *lent);
/* session_status with the engines that are only lent, which a session with options.apart does not
 * show. */
void session_whole_status(struct session *s, struct session_status *out);
/* Removes a set of events from a status. */
void session_hide_engines(struct session_status *st, uint32_t events);
/* With options.apart: makes the decoder count only the session's own events. Called by the drain
 * thread, or before it exists. */
void session_count_own(struct session *s);
/* Lets these engines run for a viewer, until it leaves; in place of those it had before. Returns
 * when everything that was sampled so far is on its way to the viewer. No engines: ends that.
 * -EBUSY: the same event is sampled in another way; otherwise the error of an engine that cannot
 * run. To be called by a thread of the share. */
int session_lend(struct session *s, const void *to, const struct wire_engine_request *engine,
                 uint32_t engines, struct err *e);

/* Shows an engine in the status: as it ran last, or why it does not run. `name` is used if the
 * engine has no name. */
void session_show_engine(struct session_status *st, const struct wire_engine_status *engine,
                         const char *name, bool asked, bool runs);
/* Shows the decoder's counters, and those of LIVE and LEAK, which are derived from other events.
 * `flags`: the flags of all requested engines, or-ed. Call it with the lock held. */
void session_show_counts(struct session *s, uint32_t flags);
/* Sets the engine that the status describes where it describes only one. WIRE_EVENTS: none. */
void session_show_first(struct session_status *st, uint32_t event);

#endif
