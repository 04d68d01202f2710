/*
 * Files:
 *   budget          limit on the agent's CPU use, kept by longer sampling intervals
 *   cpu_limit       CPU quota of the JVM's cgroup, and how often it was throttled
 *   drain           main loop of the thread that reads the ring and watches the JVM
 *   drain_feeds     the drain thread's work for viewers: names, past, live records
 *   drain_requests  the drain thread's handling of start, stop, record and re-attach
 *   drain_status    publishing of counters and engine states, and recording marks
 *   jvm_tids        mapping of thread ids in the JVM's pid namespace to ours
 *   perf_broker     thread that opens perf_events for a JVM that lacks the right
 *   unwind          thread that keeps the unwind tables of the JVM's native code current
 *   unwind_area     writing of unwind tables into the shared memory
 *
 * The drain thread of a session: it does all talking with the agent and all reading. Once a moment it
 * beats, reads the ring into the decoder, carries out what the caller asked for, and publishes what
 * became of it.
 *
 * Context: the drain thread, or whoever starts it or has joined it, unless a function says otherwise.
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

/* A counter of the agent's that begins anew with each start of an engine. */
struct restarting {
    uint64_t before, last;
};

/* Only the drain thread uses it (and whoever starts or has joined that thread). */
struct drain {
    struct decoder *decoder;
    struct symbols *symbols; /* NULL: not to be had */
    bool symbols_opened;     /* or tried to */
    struct unwind *unwind;   /* NULL: the walker needs none, or not to be had */
    bool unwind_failed;      /* to be had: not tried again before the next agent */
    struct recording_writer *recording;
    struct ring_reader ring;
    struct control control;
    struct perf_broker *broker; /* NULL: none */
    uint64_t *batch;            /* records read, before they are decoded */
    enum wire_command pending;  /* asked of the agent, not answered yet */
    uint64_t deadline_ns;       /* for the answer */
    struct budget budget;
    bool budgeting;         /* what is pending is a START of our own, for other intervals … */
    uint32_t budget_before; /* … than with this factor */
    uint64_t answered_ns;   /* STOP was answered then: what is in the ring is being read */
    bool linked;            /* an agent listens to the mapping, as far as known */
    bool started;           /* engines ran, or were asked to and none was named */
    bool failure_told;      /* the agent's state is that of a START whose failure is known */
    bool silent;            /* it left a request without answer */
    bool process_gone;
    bool kernel_trouble_told;
    bool unfollowed_told;
    uint64_t beat_ns;           /* time of the last heartbeat */
    uint64_t stall_ns;          /* how long this process did not run, the last time it did not */
    uint64_t stall_end;         /* when that was over */
    uint64_t second_ns;         /* when the once-a-second work is due */
    uint64_t seconds;           /* how often it was done */
    bool calm;                  /* little was in the ring when it was read last */
    uint64_t names_ns;          /* when the next look for nameless threads is */
    uint64_t looks_ns;          /* when counting `looks` began */
    uint32_t looks;             /* at the maps, as the JVM says that libraries changed */
    bool look_due;              /* there were too many: one is owed */
    uint64_t relink_ns;         /* when it attached again, the last time it did */
    uint64_t resume_gap_ns;     /* a START in progress comes after a pause of this length */
    struct agent_report report; /* the last one, of the present agent */
    struct agent_report before; /* counters of the agents before it, summed up */
    struct wire_engine_status known[WIRE_EVENTS];   /* as it ran last, or why it does not */
    struct wire_engine_status refused[WIRE_EVENTS]; /* what kept us from asking for it, and … */
    char why_refused[WIRE_EVENTS][400];             /* … all of the reason */
    struct restarting dropped[WIRE_EVENTS];
    uint64_t told_ns;              /* when those who look on were told the status last … */
    enum session_phase told_phase; /* … and what the phase was then */
    struct thread_numbers threads; /* of those listed last; only where they differ */
    struct id_map outer; /* tids as the JVM sees them → as we do; only where they differ */
    uint64_t outer_ns;   /* when it was looked up */
    uint32_t logs_seen;
    struct {
        uint64_t dropped, failed[WIRE_FAILURES], engine_dropped[WIRE_EVENTS];
    } base; /* counters when the recording began */
};

/* The drain thread's main function; `arg` is the session. */
void *drain_main(void *arg);
/* Says that we live, and notes when that was; notices when we did not run for long. */
void drain_beat(struct drain *d, uint64_t now);
/* Looks at the JVM's figures once more: those of the process, and of its control groups. */
void drain_look_at_jvm(struct session *s, uint64_t now);
/* Opens the symbols, if that was not done yet. */
void drain_open_symbols(struct session *s);

/* Requests: what the caller wants is asked of the agent, and its answers are awaited. */
void drain_serve_requests(struct session *s, uint64_t now, bool empty);
void drain_take_request(struct session *s);
/* Asks the agent to sample what is wanted by now; what cannot be asked for is a failed start. */
void drain_ask_start(struct session *s);
void drain_start_failed(struct session *s, const struct err *e);
/* The agent is not asked; what session_set_engines changed is as it was. */
void drain_refuse_start(struct session *s, const struct err *e);
enum wire_command drain_wanted(struct session *s);
enum session_phase drain_phase(struct session *s);

/* The clock of elapsed time goes, or stands still. Takes the lock. */
void drain_run_clock(struct session *s, bool runs);

/* Attaches again to a JVM whose agent has let go: the profile goes on with a new mapping and a
 * new agent, which still has to be told to start. */
int drain_relink(struct session *s, uint64_t now, struct err *e);

/* Takes a mapping into use; without the lock, from the thread that owns `drain`. */
void drain_use_mapping(struct session *s, struct mapping m);

/* Whether the agent is to be offered perf_events that we open. An error only where the user insists
 * on it and we have no right to. */
int drain_offer_broker(const struct session *s, bool *offer, struct err *e);
/* Serves the agent at this socket, in place of any before; -1: none, which is an error only where
 * the user insists. */
int drain_use_broker(struct session *s, int fd, struct err *e);

/* Reads up to one ring full of records into the profile. True: the ring is empty now. */
bool drain_read(struct session *s, bool writers_gone);

/* Gives them a moment to be complete: what is sampled before that is walked without. */
void drain_await_unwind(struct session *s);
/* Lets go of the mapping that they are written into. */
void drain_end_unwind(struct drain *d);

/* Names of threads that the agent has not named, from the kernel; and which of them the filter may
 * want. */
void drain_name_threads(struct session *s);
/* Tells the agent of threads' bits that were changed. */
void drain_tell_filters(struct session *s);
/* A thread's scheduling policy, or -errno; `session`: a struct session. For struct decoder. */
int drain_policy(void *session, uint32_t tid);

/* A START of that has been answered, or could not be asked for. */
void drain_end_budgeting(struct session *s, bool succeeded);

/* Copies the agent's report and the decoder's counters into the status. Takes the lock. */
void drain_publish(struct session *s);
/* Writes WIRE_MARKs, if there is a recording. */
void drain_mark(struct session *s);
/* Those who look on: takes in who has come, sends what was read, tells the status. */
void drain_feed(struct session *s, uint64_t now);
/* The last of it, and lets go of them. */
void drain_end_feeds(struct session *s);
/* Sharing thread: takes over one of two references. -EUSERS: there are too many; nothing was
 * taken. */
int drain_add_feed(struct session *s, struct feed *f);

/* Begins or ends the recording that session_record asks for. */
void drain_swap_recording(struct session *s);

#endif
