/*
 * Files:
 *   budget          limit on the agent's CPU use, kept by longer sampling intervals
 *   cpu_limit       CPU quota of the JVM's cgroup, and how often it was throttled
 *   drain           main loop of the thread that reads the ring and watches the JVM
 *   drain_feeds     the drain thread's work for viewers: names, past, live records
 *   drain_recording recordings that start and end while the session runs
 *   drain_requests  the drain thread's handling of start, stop and re-attach
 *   drain_status    publishing of counters and engine states, and recording marks
 *   java_states     states of Java threads, requested from the agent while wanted
 *   jvm_tids        mapping of thread ids in the JVM's pid namespace to ours
 *   perf_broker     thread that opens perf_events for a JVM that lacks the right
 *   sigtrap_proof   proof that this kernel's perf_events can send SIGTRAP safely
 *   unwind          thread that keeps the unwind tables of the JVM's native code current
 *   unwind_area     writing of unwind tables into the shared memory
 *
 * The drain thread of a session does all communication with the agent and all reading. In each turn
 * it sends a heartbeat, reads the ring into the decoder, carries out the caller's requests, and
 * publishes the results.
 *
 * Context: the drain thread, or the thread that starts it or has joined it, unless a function
 * states otherwise.
 */
#ifndef JTOP_SESSION_DRAIN_DRAIN_H
#define JTOP_SESSION_DRAIN_DRAIN_H

#include "attach/proc/thread_stat.h"
#include "core/decode/decoder.h"
#include "core/record/recording.h"
#include "core/session/control.h"
#include "core/session/drain/budget.h"
#include "core/session/drain/unwind.h"
#include "core/session/mapping.h"
#include "core/session/session.h"
#include "core/wire/ring_reader.h"
#include "symbols/symbols.h"

struct feed;
struct perf_broker;

/* A counter of the agent that restarts at 0 with each start of an engine. */
struct restarting {
    uint64_t before, last;
};

/* Used only by the drain thread, and by the thread that starts or has joined it. */
struct drain {
    struct decoder *decoder;
    struct symbols *symbols; /* NULL: not available */
    bool symbols_opened;     /* opening was done or tried */
    struct unwind *unwind;   /* NULL: the walker needs no tables, or they are not available */
    bool unwind_failed;      /* starting `unwind` failed; it is not tried again before the
                                next agent */
    struct recording_writer *recording;
    struct ring_reader ring;
    struct control control;
    struct perf_broker *broker; /* NULL: none */
    uint64_t *batch;            /* records that were read but not decoded yet */
    enum wire_command pending;  /* request sent to the agent and not answered yet */
    uint64_t deadline_ns;       /* for the answer to it */
    struct budget budget;
    bool budgeting;         /* the pending request is a START of our own with other intervals */
    uint32_t budget_before; /* the factor before that START */
    uint64_t answered_ns;   /* when STOP was answered; the rest of the ring is being read. 0: no
                               STOP was answered */
    uint64_t read_again_ns; /* the answer after which the ring was read again, without a wait */
    bool linked;            /* as far as we know, an agent is connected to the mapping */
    bool started;           /* engines ran, or a START without any engine was answered */
    bool failure_told;      /* the agent's failed state comes from a START whose failure was
                               already handled */
    bool silent;            /* the agent left a request unanswered */
    bool process_gone;
    bool kernel_trouble_told;
    bool unfollowed_told;
    uint64_t beat_ns;   /* time of the last heartbeat */
    uint64_t stall_ns;  /* length of the last time that this process did not run */
    uint64_t stall_end; /* when that time ended */
    uint64_t second_ns; /* when the once-a-second work is due */
    uint64_t seconds;   /* how many times it was done */
    bool viewed;        /* there are viewers, who see what is read from the ring */
    bool calm;          /* little comes through the ring */
    uint64_t judged_ns; /* when that was found out, and the ring's position then */
    uint64_t judged_tail;
    uint64_t names_ns;          /* when nameless threads are looked up next */
    uint64_t looks_ns;          /* when counting of `looks` began */
    uint32_t looks;             /* readings of the maps because the JVM reported changed
                                   libraries */
    bool look_due;              /* there were too many readings: one more is pending */
    uint64_t relink_ns;         /* when it last attached again */
    uint64_t resume_gap_ns;     /* length of the pause before the START in progress */
    struct agent_report report; /* the last report of the current agent */
    struct agent_report before; /* summed counters of the previous agents */
    struct wire_engine_status known[WIRE_EVENTS];   /* status when the engine last ran, or why it
                                                       does not run */
    struct wire_engine_status refused[WIRE_EVENTS]; /* why we could not request the engine */
    char why_refused[WIRE_EVENTS][400];             /* the whole text of that reason */
    struct restarting dropped[WIRE_EVENTS];
    uint64_t told_ns;              /* when the status was last sent to viewers */
    enum session_phase told_phase; /* the phase that was sent then */
    struct thread_numbers threads; /* of the threads listed last; used only if the JVM's tids differ
                                      from ours */
    struct id_map outer;           /* the JVM's tids → our tids; used only if they differ */
    uint64_t outer_ns;             /* when `outer` was last updated */
    uint32_t logs_seen;
    bool states_on;         /* Java states are wanted */
    uint32_t states_number; /* of the last request for all of them; 0: none yet */
    struct {
        uint64_t dropped, failed[WIRE_FAILURES], engine_dropped[WIRE_EVENTS];
    } base; /* counters at the start of the recording */
};

/* The drain thread's main function; `arg` is the session. */
void *drain_main(void *arg);
/* Sends a heartbeat and stores its time; detects when this process did not run for long. */
void drain_beat(struct drain *d, uint64_t now);
/* Reads the JVM's figures again: those of the process and of its control groups. */
void drain_look_at_jvm(struct session *s, uint64_t now);
/* Opens the symbols if that was not done yet. */
void drain_open_symbols(struct session *s);

/* Requests: sends the caller's requests to the agent and waits for its answers. */
void drain_serve_requests(struct session *s, uint64_t now, bool empty);
void drain_take_request(struct session *s);
/* Takes the answer to the first START, if it is there and good: before the ring is read, so that the caller need not wait
 * for the names of the first samples. */
void drain_take_answer(struct session *s, uint64_t now);
/* Asks the agent to sample the currently requested engines. If none of them can be requested, the
 * start fails. */
void drain_ask_start(struct session *s);
void drain_start_failed(struct session *s, const struct err *e);
/* Rejects a start without asking the agent; restores what session_set_engines changed. */
void drain_refuse_start(struct session *s, const struct err *e);
enum wire_command drain_wanted(struct session *s);
enum session_phase drain_phase(struct session *s);

/* Starts or stops the clock of elapsed time. Takes the lock. */
void drain_run_clock(struct session *s, bool runs);

/* Attaches again to a JVM whose agent has detached. The profile continues with a new mapping and a
 * new agent, which must still be told to start. */
int drain_relink(struct session *s, uint64_t now, struct err *e);

/* Starts using a mapping. The caller must not hold the lock and must be the thread that owns
 * `drain`. */
void drain_use_mapping(struct session *s, struct mapping m);

/* Decides whether to offer the agent that we open perf_events for it. It is an error only if the
 * user insists on it and we lack the right. */
int drain_offer_broker(const struct session *s, bool *offer, struct err *e);
/* Serves the agent at this socket, and stops serving the previous one. -1: none, which is an error
 * only if the user insists. */
int drain_use_broker(struct session *s, int fd, struct err *e);

/* Reads at most one full ring of records into the profile. True: the ring is empty now. */
bool drain_read(struct session *s, bool writers_gone);

/* Gives the agent unwind tables if its walker needs them, and reports what is left out. Context: drain
 * thread, or before there is one. */
void drain_unwind(struct session *s);
/* Waits a moment for the unwind tables to become complete. Samples taken before that are walked
 * without them. */
void drain_await_unwind(struct session *s, const struct control_start *start);
/* Stops the unwind thread and so releases the mapping that it writes to. */
void drain_end_unwind(struct drain *d);

/* Gets the names of threads that the agent has not named from the kernel, and finds out which of
 * these threads the filter may select. */
void drain_name_threads(struct session *s);
/* Tells the agent which bits of threads were changed. */
void drain_tell_filters(struct session *s);
/* Returns a thread's scheduling policy, or -errno. `session` is a struct session. Used by struct
 * decoder. */
int drain_policy(void *session, uint32_t tid);

/* A START with changed intervals was answered, or could not be sent. */
void drain_end_budgeting(struct session *s, bool succeeded);

/* Whether Java states are wanted now; *all: all of them, because they were not wanted before, or a
 * viewer lacks them. If they are no longer wanted, forgets them: they would grow old. Takes the
 * lock. */
bool drain_wants_java_states(struct session *s, uint64_t now, bool *all);
/* Asks the agent for Java states as long as they are wanted. */
void drain_ask_java_states(struct session *s, uint64_t now);

/* Copies the agent's report and the decoder's counters into the status. Takes the lock. */
void drain_publish(struct session *s);
/* Writes WIRE_MARKs if there is a recording. */
void drain_mark(struct session *s);
/* Serves the viewers: accepts new ones, sends what was read, sends the status. */
void drain_feed(struct session *s, uint64_t now);
/* Sends the last data to viewers, and releases them. */
void drain_end_feeds(struct session *s);
/* Sharing thread. Takes over one of two references. -EUSERS: there are too many viewers;
 * -EAGAIN: the session ends. The reference was not taken then. */
int drain_add_feed(struct session *s, struct feed *f);

/* Waits until what is in the ring now is on its way to the viewers, with a status behind it. Not
 * for the drain thread. */
void drain_await_rounds(struct session *s);

/* Starts or ends the recording that session_record has requested. */
void drain_swap_recording(struct session *s);
/* Ends the recording, if there is one: 0, or why it could not be written. */
int drain_end_recording(struct session *s, struct err *e);

#endif
