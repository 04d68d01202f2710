/*
 * Files:
 *   agent_link     loading of the agent into a JVM, up to the shared memory
 *   control        requests, heartbeat and status through the agent's control block
 *   lent           engines that run for other processes' profiles
 *   mapping        the reader's side of the shared memory: found or made, and checked
 *   pauses         safepoint pauses, from the JVM's own performance counters
 *   replay         reading of a recording or imported file, into records or a session
 *   session        one profile being taken or replayed: engines, status, stop
 *   session_begin  the ways to begin one: attach, adopt, or go on with a stopped session's agent
 *   session_engines which engines run: own ones, and those that are lent
 *   session_state  internal struct of a session
 *
 * One profile that is being taken or replayed. The agent is attached to a JVM, a separate thread
 * drains the ring, and records are decoded and symbolized into a profile. Drawing and exporting
 * never delay sampling: they take snapshots between session_lock and session_unlock, and work
 * with those.
 *
 * Context: frontend only. Requests (engines, recording, stop) may come from any thread and are
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
    const char *library; /* path of the agent as the target sees it; NULL: found beside
                            this program */
    /* The engines to sample, as event_parse makes them; addresses are looked up at the start. 0
     * engines: CPU time. No two of the same event. */
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines;
    /* A profile of its own, for files: only samples of engine[] are counted and recorded, even if
     * other events are sampled for other processes. */
    bool apart;
    bool all_or_none;         /* if one engine cannot run, the start fails */
    uint32_t signal;          /* signal of the CPU engines; 0: SIGPROF */
    uint32_t wall_signal;     /* signal of the wall clock engine; 0: SIGVTALRM */
    uint32_t depth;           /* maximum number of frames of a stack; 0: WIRE_DEPTH_DEFAULT */
    uint32_t cut;             /* see struct wire_request: how many frames of a deeper stack
                                 are kept */
    uint32_t features;        /* set of enum wire_feature */
    enum wire_walk walk;      /* 0: WIRE_WALK_VM */
    bool precise;             /* force hot methods to be recompiled with debug information */
    uint64_t ring_bytes;      /* 0: WIRE_RING_BYTES_DEFAULT; rounded up to a power of two */
    uint32_t history_seconds; /* 0: PROFILE_HISTORY_SECONDS */
    uint64_t memory_limit;    /* maximum size of the profile in bytes; 0: only its own limits */
    const char *record;       /* also write the raw stream to this file; NULL: do not */
    /* Only these threads, by name or by number; both NULL: all threads. */
    const char *thread_pattern;   /* regular expression, matches anywhere in the name; virtual
                                     threads match by their own names */
    const struct tid_range *tids; /* as the JVM numbers them; owned by the caller */
    uint32_t tid_ranges;
    /* Only samples at least from_ms after the first one and before to_ms; to_ms 0: no end. */
    uint64_t from_ms, to_ms;
    bool events_given; /* for files: an event of engine[] that the file does not have is an error */
    /* Sample only between a call of native function `begin` and a call of `end`; NULL: no
     * such limit. */
    const char *begin, *end;
    bool window_marks; /* sample all the time, and only count the windows */
    bool tag_cpu;      /* each stack begins with the processor, "[CPU-3]" */
    bool tag_sched;    /* each stack also begins with the thread's scheduling policy,
                          "[SCHED_BATCH]" */
    bool fd_transfer;  /* it is an error if we cannot open perf_events for the JVM */
    /* This is one of many sessions that run all day. While the ring contains little it wakes up
     * less often, and it reads the JVM's figures and threads' names less often
     * (core/http/fleet). */
    bool frugal;
    struct symbol_store *symbols; /* symbol tables shared with other sessions; NULL: the session's
                                     own. Must live as long as the session */
    uint32_t max_overhead_ppm; /* share of one CPU that the agent may use: intervals grow until it
                                  stays below that (core/session/drain/budget.h); 0: no limit */
};

enum session_phase {
    SESSION_RUNNING,  /* samples are being taken */
    SESSION_STOPPED,  /* the engines were stopped by a request; the profile is complete */
    SESSION_JVM_GONE, /* the JVM ended or was killed; everything it had committed was read */
    SESSION_REPLAYED, /* a recording was read completely */
    SESSION_FAILED,   /* see `message` */
};

/* One event of the profile. An event kind that is not an event of the wire format has the data of
 * the event that it is derived from. */
struct session_engine {
    bool asked; /* currently requested */
    bool runs;
    bool biased;        /* sampled only at safepoints */
    int error;          /* errno why it does not run; 0: it runs, or was not requested */
    char name[64];      /* "cpu", "page-faults", "com.x.Y.z" */
    char mechanism[16]; /* "perf", "signal" …; "" if it does not run */
    char reason[400];   /* why this mechanism is used, or why none; empty: first choice */
    uint64_t interval;  /* current interval */
    uint64_t samples;   /* counted in the profile */
    uint64_t dropped;   /* lost because the ring was full */
    double coverage;    /* wall: share of thread-time covered by samples; < 0: not measured */
    uint32_t threads;   /* threads on which it is armed; 0 if it is not armed per thread */
};

/* Whether it runs in a way that is worse than the first choice, so that `reason` should
 * be shown. */
bool session_engine_is_poorer(const struct session_engine *engine);
/* False: it was read from a file that has only weights. */
bool session_engine_is_counted(const struct session_engine *engine);

/* How --max-overhead is kept. */
struct session_budget {
    uint32_t limit_ppm;    /* share of one CPU; 0: there is no budget */
    uint32_t measured_ppm; /* the agent's CPU time over the last few seconds */
    uint32_t factor;       /* intervals are this many times the requested ones; 1: as requested */
    uint32_t steps;        /* number of changes so far */
    bool exhausted;        /* over the limit even with the longest possible interval */
    char text[160];        /* "cpu every 40ms in place of 10ms keeps to 1%"; empty: as requested */
};

/* Everything needed to judge how good the profile is. */
struct session_status {
    enum session_phase phase;
    /* of the first requested engine: */
    char event[64];                            /* "cpu" */
    char mechanism[16];                        /* "perf", "ctimer", "itimer" … */
    char reason[160];                          /* why this mechanism is used; empty: first choice */
    uint64_t interval;                         /* current interval */
    struct session_engine engine[EVENT_KINDS]; /* by event */
    char walker[32];                           /* the walker in use: "vm" … */
    bool unrecorded;     /* the recording could not be written completely: see `message` */
    char message[256];   /* last warning or error for people, e.g. what was missed while this
                            process was paused; empty: none */
    int32_t reader;      /* pid of the process whose session this one views; 0: the session
                            is our own */
    char recording[256]; /* the file to which the stream is recorded; empty: none */
    char news[256];      /* last message of the agent about its work; empty: none yet */
    uint64_t elapsed_ns; /* sampling time so far */
    uint64_t samples;    /* counted in the profile, of all events */
    uint64_t dropped;    /* lost because the ring was full */
    uint64_t discarded;  /* left out, because they were of the profiler's own handlers */
    uint64_t failed[WIRE_FAILURES]; /* walks that ended early, by reason */
    uint64_t agent_ns;              /* CPU time of our code in the target: signal handlers and the
                                       agent's thread */
    uint64_t frontend_ns;           /* CPU time of this process */
    uint64_t missed_ns;             /* time without sampling because this process was stopped */
    uint64_t recompiled;   /* methods that were forced to recompile (session_options.precise) */
    uint64_t recompile_ns; /* time that the VM needed for that */
    uint64_t windows;      /* number of windows between session_options.begin and end, so far */
    uint64_t window_ns;    /* total duration of these windows */
    int64_t
        day_ns; /* of a file, and of the screen's sessions: added to the samples' clock it gives the time of day; 0:
                              not known */
    bool undated; /* of a file: the file states that it does not know when it was recorded */
    uint32_t armed_threads;
    struct session_budget budget;
    enum wire_java_report java_states; /* see session_ask_java_states */
};

/* The CPU limits that control groups set for the JVM (attach/proc/cgroup.h), read once a second. */
struct session_cpu {
    uint32_t processors;         /* on which it may run (its affinity); 0: not known */
    bool known;                  /* the quota and what follows were read */
    double quota;                /* CPUs it may use; 0: no limit */
    uint64_t periods, throttled; /* quota periods since the session began, and those in which the
                                    JVM was throttled */
    uint64_t throttled_ns;       /* time during which it was throttled, summed over CPUs */
    double share;                /* share of the last second's periods in which it was
                                    throttled, 0 to 1 */
    char group[256];             /* the group with the tightest quota; printable */
};

struct session;

/* Attaches to the JVM, and starts the engine and the drain thread. */
int session_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                   struct err *e);

/* Does the same for a mapping whose agent already runs and asked for a reader (the JVM was started
 * with -agentpath). From now on `memfd` belongs to the session. */
int session_adopt(int memfd, pid_t pid, const struct session_options *o, struct session **out,
                  struct err *e);

/* Begins a new profile with the agent of `before`, whose profile has stopped: no new attach, so it
 * takes a few milliseconds. Names that `before` knows are taken over. Whatever the result is, `before`
 * can then only be read and closed. -ENOTCONN, without a message: close it and attach; it has no agent
 * any more, or viewers, or one of the options needs an attach. No request of `before` may be going
 * on. */
int session_next(struct session *before, const struct session_options *o, struct session **out,
                 struct err *e);

/* Reads a recording, or any other file that core/import/import.h can read; when the function
 * returns, everything has been read. A cut file gives its complete part, and the status reports the
 * cut. If a requested event is missing in the file (events_given): -ENOENT, exit code 100. */
int session_replay(const char *path, const struct session_options *o, struct session **out,
                   struct err *e);

/* Waits until the samples that were taken before this call are in the profile, but not longer than half
 * a second: a calm ring is read only now and then. Samples with names that are not known yet may still
 * be missing. Returns at once if the session does not run, or joined another. The caller does not hold
 * the session's lock. */
void session_catch_up(struct session *s);

/* Locks the profile against the drain thread and returns it. Hold the lock only for a
 * short time. */
struct profile *session_lock(struct session *s);
void session_unlock(struct session *s);

/* Observes samples as they are counted (core/decode/tap.h), from the next sample on; earlier
 * samples are in the profile. The caller has locked the profile, so that no sample is missed or
 * seen twice. `tap` must live until it is removed with NULL; after that it is not called any more.
 * One tap at a time. */
void session_tap(struct session *s, const struct decoder_tap *tap);

/* The JVM as it was found at attach; live figures are updated about once a second. For a recording:
 * pid, name and version as recorded. */
void session_jvm(struct session *s, struct jvm *out);
void session_status(struct session *s, struct session_status *out);
/* `known` is false for a recording, and if the groups cannot be read. */
void session_cpu(struct session *s, struct session_cpu *out);

/* Returns the kernel's data about the JVM's threads, by the numbers that the profile uses, sorted
 * by number. The array is malloc'ed; the caller frees it. Empty if the JVM is gone. Returns the
 * number of threads or -errno. It must always be called by the same thread. */
struct thread_stat;
int session_threads(struct session *s, struct thread_stat **out);

/* Requests the Java states of all threads for the next `ms`. The agent reads them only while they are
 * needed, so call it again and again. They come into the profile (profile_living): at first within
 * half a second, then once a second what has changed. `all`: all of them another time, for a viewer.
 * Any thread; no effect for a recording. */
void session_ask_java_states(struct session *s, uint32_t ms, bool all);

/* Returns the agent's messages about its work so far, e.g. which methods it forced to
 * recompile: one line each, oldest first. The result is the number of further lines that there
 * was no room for. */
uint32_t session_news(struct session *s, char *out, size_t size);

/* An eventfd for a poll loop. It becomes readable when the phase changes or the first samples
 * arrive after it was last read. */
int session_event_fd(const struct session *s);

/* Replaces the running engines, without a new attach; engines that do not change continue
 * undisturbed. The samples taken so far stay. No engine at all is fine: the session stays
 * SESSION_RUNNING, and its elapsed time stops. A stopped session starts again.
 *
 * The status of an engine that cannot run states the reason. If none of them can run, the function
 * returns an error, and the phase does not change. If the agent was not even asked (no such
 * function, or no agent any more: -ESRCH; two engines of the same event, or a recording: -EINVAL),
 * the previous engines keep running. */
int session_set_engines(struct session *s, const struct wire_engine_request *engine,
                        uint32_t engines, struct err *e);

/* Writes the currently requested engines to `out`; returns their number, at most WIRE_EVENTS. */
uint32_t session_engines(struct session *s, struct wire_engine_request *out);

/* Records the raw stream to this file from now on. The names known so far come first, so that the
 * file is complete by itself. NULL ends the recording and reports whether everything could be
 * written; it is fine if there is no recording. -EEXIST: the file exists; -EBUSY: the session is
 * already being recorded (also by session_options.record); -EINVAL: the session is a recording. */
int session_record(struct session *s, const char *path, struct err *e);

/* Stops the engines and reads what is left; the profile stays. Idempotent. */
int session_stop(struct session *s, struct err *e);

/* The same for a profile of its own (session_options.apart), which may share its session with
 * others. 1: other processes still sample, or view this session, and sampling goes on for them; at
 * session_close, one of the viewers continues. 0: nobody samples any more. -errno. */
int session_end(struct session *s, struct err *e);

/* Tells an agent that waits for it (the JVM was started with file=) that all files are written. */
void session_reader_done(struct session *s);

/* The first half of session_close, for callers that close many sessions: asks the agent to detach
 * and does not wait for it. session_close must still be called. */
void session_leave(struct session *s);

/* Stops, makes the agent release everything, frees the session. NULL is fine. */
void session_close(struct session *s);

#endif
