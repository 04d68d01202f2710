/*
 * Files:
 *   agent_link     loading of the agent into a JVM, up to the shared memory
 *   control        requests, heartbeat and status through the agent's control block
 *   mapping        the reader's side of the shared memory: found or made, and checked
 *   pauses         safepoint pauses, from the JVM's own performance counters
 *   replay         reading of a recording or imported file, into records or a session
 *   session        one profile being taken or replayed: attach, engines, status, stop
 *   session_state  internal struct of a session
 *
 * One profile being taken (or replayed): the agent attached to a JVM, the ring drained by a thread
 * of its own, records decoded and symbolized into a profile. Drawing and exporting never hold up
 * sampling: they take snapshots between session_lock and session_unlock and work on those.
 *
 * Context: frontend only. Requests (engines, recording, stop) may come from any thread, and are
 * carried out one after another; the drain thread is internal.
 */
#ifndef JTOP_SESSION_SESSION_H
#define JTOP_SESSION_SESSION_H

#include "attach/find/jvm.h"
#include "core/base/err.h"
#include "core/event/event_kind.h"
#include "core/profile/profile.h"
#include "core/wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct decoder_tap;
struct tid_range;

struct session_options {
    const char *library; /* the agent as the target sees it; NULL: found beside us */
    /* What to sample, as event_parse makes it; addresses are looked up at the start. 0 engines:
     * CPU time. No two of the same event. */
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines;
    bool all_or_none;         /* an engine that cannot run is an error */
    uint32_t signal;          /* of the CPU engines; 0: SIGPROF */
    uint32_t wall_signal;     /* 0: SIGVTALRM */
    uint32_t depth;           /* frames kept of a stack; 0: WIRE_DEPTH_DEFAULT */
    uint32_t cut;             /* of struct wire_request: how many of one that is deeper */
    uint32_t features;        /* set of enum wire_feature */
    enum wire_walk walk;      /* WIRE_WALK_VM */
    bool precise;             /* make hot methods recompile with debug information */
    uint64_t ring_bytes;      /* 0: WIRE_RING_BYTES_DEFAULT; rounded up to a power of two */
    uint32_t history_seconds; /* 0: PROFILE_HISTORY_SECONDS */
    uint64_t memory_limit;    /* bytes of the profile; 0: none but its own */
    const char *record;       /* also write the raw stream to this file; NULL: do not */
    /* Only these threads, by name or by number; both NULL: all. */
    const char *thread_pattern;   /* regular expression, anywhere in the name; virtual
                                   threads by their own names */
    const struct tid_range *tids; /* as the JVM sees them; owned by the caller */
    uint32_t tid_ranges;
    /* Only samples from so long after the first one on, and before that; to_ms 0: all later ones */
    uint64_t from_ms, to_ms;
    bool events_given; /* of files: an event of engine[] that it does not have is an error */
    /* Only between a call of this native function and one of that; NULL: no such limit. */
    const char *begin, *end;
    bool window_marks; /* sample all the same, and count the windows */
    bool tag_cpu;      /* each stack begins with the processor, "[CPU-3]" */
    bool tag_sched;    /* and with the thread's scheduling policy, "[SCHED_BATCH]" */
    bool fd_transfer;  /* an error where we could not open perf_events for the JVM */
    /* One of many that go on all day: wakes up seldom while little is in the ring, and looks less
     * often at the JVM and for threads' names (core/http/fleet). */
    bool frugal;
    struct symbol_store *symbols; /* symbol tables shared with other sessions; NULL: its own. Must
                                     live as long as the session */
    uint32_t max_overhead_ppm; /* of one CPU, what the agent may use: intervals grow until it keeps
                                  to that (core/session/drain/budget.h); 0: no such limit */
};

enum session_phase {
    SESSION_RUNNING,  /* samples come in */
    SESSION_STOPPED,  /* engines stopped as asked; the profile is complete */
    SESSION_JVM_GONE, /* the JVM ended or was killed; everything committed was read */
    SESSION_REPLAYED, /* all of a recording was read */
    SESSION_FAILED,   /* see message */
};

/* One event of the profile. Those of enum event_kind beyond the wire's have what they are made
 * from. */
struct session_engine {
    bool asked; /* for it, at this moment */
    bool runs;
    bool biased;        /* at safepoints only */
    int error;          /* errno why it does not run; 0: it does, or was not asked for */
    char name[64];      /* "cpu", "page-faults", "com.x.Y.z" */
    char mechanism[16]; /* "perf", "signal" …; "" where it does not run */
    char reason[400];   /* why this mechanism, or why none; empty: first choice */
    uint64_t interval;  /* in force */
    uint64_t samples;   /* delivered into the profile */
    uint64_t dropped;   /* ring was full */
    double coverage;    /* wall: share of thread-time that is in samples; < 0: not measured */
    uint32_t threads;   /* with it armed; 0 where that is not done a thread */
};

/* It runs in a way that is worse than the first choice: `reason` is worth a line. */
bool session_engine_is_poorer(const struct session_engine *engine);
/* False: it was read from a file that has weights only. */
bool session_engine_is_counted(const struct session_engine *engine);

/* How --max-overhead is kept. */
struct session_budget {
    uint32_t limit_ppm;    /* of one CPU; 0: there is no budget */
    uint32_t measured_ppm; /* the agent's CPU time, over the last some seconds */
    uint32_t factor;       /* intervals are so many times what was asked for; 1: as asked */
    uint32_t steps;        /* so often they were changed */
    bool exhausted;        /* over the limit at the longest interval there is */
    char text[160];        /* "cpu every 40ms in place of 10ms keeps to 1%"; empty: as asked */
};

/* All one needs to say how good the profile is. */
struct session_status {
    enum session_phase phase;
    /* of the first engine asked for: */
    char event[64];                            /* "cpu" */
    char mechanism[16];                        /* "perf", "ctimer", "itimer" … */
    char reason[160];                          /* why this mechanism; empty: first choice */
    uint64_t interval;                         /* in force */
    struct session_engine engine[EVENT_KINDS]; /* by event */
    char walker[32];                           /* the one in use: "vm" … */
    bool unrecorded;     /* the recording could not be written to its end: see message */
    char message[256];   /* last warning or error for people, e.g. what a pause of ours missed;
                             empty: none */
    int32_t reader;      /* looking on at the session of this process; 0: it is our own */
    char recording[256]; /* the file the stream is kept in; empty: none */
    char news[256];      /* last thing the agent told about its work; empty: nothing yet */
    uint64_t elapsed_ns; /* sampling time so far */
    uint64_t samples;    /* delivered into the profile, of all events */
    uint64_t dropped;    /* ring was full */
    uint64_t failed[WIRE_FAILURES]; /* walks that ended early, by reason */
    uint64_t agent_ns;     /* CPU time of our code in the target: handlers and the agent's thread */
    uint64_t frontend_ns;  /* CPU time of this process */
    uint64_t missed_ns;    /* time without sampling because this process was stopped */
    uint64_t recompiled;   /* methods made to recompile (session_options.precise) */
    uint64_t recompile_ns; /* time that took the VM */
    uint64_t windows;      /* between session_options.begin and end, so far */
    uint64_t window_ns;    /* their time */
    int64_t day_ns; /* of a file: added to the samples' clock it is the time of day; 0: not known */
    bool undated;   /* of a file: it says that it does not know when it was */
    uint32_t armed_threads;
    struct session_budget budget;
};

/* What control groups let the JVM have of the CPUs (attach/proc/cgroup.h), read once a second. */
struct session_cpu {
    bool known;
    double quota;                /* CPUs it may use; 0: no limit */
    uint64_t periods, throttled; /* since the session began: of them, those in which it ran out … */
    uint64_t throttled_ns;       /* … and the time it stood still for that, summed over CPUs */
    double share;                /* of the last second's periods that it ran out in, 0 to 1 */
    char group[256];             /* the one with the tightest quota; printable */
};

struct session;

/* Attaches to the JVM, starts the engine and the drain thread. */
int session_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                   struct err *e);

/* Same for a mapping whose agent already runs and asked for a reader (the JVM was started with
 * -agentpath): `memfd` is owned by the session from here on. */
int session_adopt(int memfd, pid_t pid, const struct session_options *o, struct session **out,
                  struct err *e);

/* Reads a recording, or whatever else core/import/import.h knows; everything is there when it
 * returns. A file cut short yields what is whole, and the status says so. An event asked for that it
 * does not have (events_given): -ENOENT, exit code 100. */
int session_replay(const char *path, const struct session_options *o, struct session **out,
                   struct err *e);

/* The profile, locked against the drain thread. Keep it short. */
struct profile *session_lock(struct session *s);
void session_unlock(struct session *s);

/* Looking on as samples are counted (core/decode/tap.h): from the next sample on; what was counted
 * before is in the profile. The caller has locked that, so that nothing is missed and nothing met
 * twice. `tap` must live until it is taken away again with NULL, after which it is called no more.
 * One at a time. */
void session_tap(struct session *s, const struct decoder_tap *tap);

/* The JVM as it was found at attach; live figures refreshed about once a second. For a recording:
 * pid, name and version as recorded. */
void session_jvm(struct session *s, struct jvm *out);
void session_status(struct session *s, struct session_status *out);
/* Not known: of a recording, and where the groups cannot be read. */
void session_cpu(struct session *s, struct session_cpu *out);

/* What the kernel says of the JVM's threads, by the numbers that the profile knows them by, sorted by
 * those; malloc'ed, the caller frees it. None where the JVM is gone. Returns their number or -errno.
 * Always the same thread may call it. */
struct thread_stat;
int session_threads(struct session *s, struct thread_stat **out);

/* What the agent told about its work so far, e.g. which methods it made recompile: a line each,
 * oldest first. Returns how many more lines there were no room for. */
uint32_t session_news(struct session *s, char *out, size_t size);

/* An eventfd for a poll loop, readable when since it was read last the phase changed or the first
 * samples came. */
int session_event_fd(const struct session *s);

/* Makes the running engines be these, without a new attach: engines that stay as they are go on
 * undisturbed. What was sampled stays. None at all is fine: the session goes on being
 * SESSION_RUNNING, its elapsed time stands still. A stopped session starts again.
 *
 * An engine that cannot run says so in its status; an error is returned where none of them can, and
 * the phase stays as it was. Where the agent was not even asked (no such function, no agent any
 * more: -ESRCH; two of the same event, a recording: -EINVAL) those that ran before still do. */
int session_set_engines(struct session *s, const struct wire_engine_request *engine,
                        uint32_t engines, struct err *e);

/* The engines asked for at this moment; returns how many of WIRE_EVENTS. */
uint32_t session_engines(struct session *s, struct wire_engine_request *out);

/* Keeps the raw stream in this file too, from now on; the names known so far come first, so that
 * the file stands by itself. NULL ends that, and tells whether all could be written; fine where
 * there is none. -EEXIST: there is such a file; -EBUSY: it is recorded already (session_options.record
 * included); -EINVAL: a recording. */
int session_record(struct session *s, const char *path, struct err *e);

/* Stops the engines and reads what is left; the profile stays. Idempotent. */
int session_stop(struct session *s, struct err *e);

/* Tells an agent that waits for it (JVM started with file=) that all files are written. */
void session_reader_done(struct session *s);

/* The first half of session_close, for who closes many: asks the agent to let go and does not wait
 * for that. session_close is still due. */
void session_leave(struct session *s);

/* Stops, makes the agent let go of everything, frees all. NULL is fine. */
void session_close(struct session *s);

#endif
