/*
 * Wall clock sampling: which threads are sampled, and how.
 *
 *      jtop-wall, a thread of the agent, checks each thread about once per interval:
 *        has it used CPU time since its last sample?
 *          no    it has not moved: that sample stands for this time too (WIRE_REPEAT, about
 *                one per second)                                  1 system call, no signal
 *          yes   it sleeps now: jtop-wall reads its stack         7 system calls, no signal
 *                it runs now: it gets a signal and takes its own sample
 *
 * A signal would end a sleep in poll or nanosleep early, so only running threads get one. The time
 * until the next check of a thread is random, between 0.5 and 1.5 intervals, so that events in step
 * with our clock are seen as often as others. If a thread has not moved for long, this time is four
 * times as long. The weight of a sample is the time between the check that requested it and the
 * previous such check. This time ends at the check, not when the handler runs: otherwise the weight
 * of running threads would include the time for which they wait for a processor.
 *
 * Coverage: a check covers the time since the previous one, at most two intervals; more only if the
 * thread has not moved. The covered share of all threads' time is status.covered_ns / expected_ns.
 *
 * Context: see each function.
 */
#ifndef JTOP_AGENT_ENGINE_ENGINE_WALL_H
#define JTOP_AGENT_ENGINE_ENGINE_WALL_H

#include "core/agent/threads.h"
#include "core/agent/vm/thread_state.h"

#define WALL_INTERVAL 50000000u    /* ns */
#define WALL_INTERVAL_MIN 1000000u /* ns */

enum wall_turn {
    WALL_OURS = 0, /* jtop-wall may change the entry */
    /* A signal was sent. jtop-wall or the thread's handler ends this state; the one that does so
     * may then change the entry. */
    WALL_SENT,
    WALL_ITS, /* the thread's own handler is running, and may change the entry */
};

struct wall_thread {
    uint32_t tid;  /* 0: free */
    uint32_t seen; /* number of the last list that contained it */
    _Atomic uint32_t turn;
    uint32_t calm;     /* checks in a row in which it had not moved */
    uint32_t window;   /* enum sampler_window at its last sample */
    uint8_t state;     /* enum wire_thread_state of its last sample */
    bool sampled;      /* its last sample is in the ring */
    bool handled;      /* the thread's handler has run since the last check */
    uint64_t cpu_ns;   /* CPU time used at the last sample, or when the signal was sent */
    uint64_t since_ns; /* samples in the ring stand for the time before this */
    uint64_t same_ns;  /* the thread was last seen unmoved at this time; the time from since_ns to
                          this is not in the ring yet */
    int64_t rest_ns; /* weight of the samples, minus the intervals that they count as; may be < 0 */
    uint64_t looked_ns, sent_ns; /* when the last check was; when the last signal was sent */
    /* For the sample that the signal requests. until_ns: the end of the time for which the sample
     * stands, which is the last check that found the thread's CPU time unchanged since the signal
     * was sent, or the check that sent it. covers_ns: how much of this time counts as covered. */
    _Atomic uint64_t until_ns, covers_ns;
};

struct wall {
    struct engine_run *run;
    pthread_t thread;
    _Atomic uint32_t own_tid; /* futex word; 0: not started yet */
    _Atomic uint32_t quit;    /* futex word */
    struct thread_states states;
    /* Four arrays; only their address space is reserved. */
    struct wall_thread *entry; /* THREADS_MAX */
    uint64_t *due_ns;          /* THREADS_MAX: when to check an entry */
    uint32_t *tids;            /* THREADS_MAX */
    uint32_t *index_of_tid;    /* WIRE_TID_MAX: index + 1 of a thread's entry; 0: none */
    uint32_t count;            /* entries ever used lie below this */
    uint32_t free_hint;        /* no free entry lies below this */
    uint32_t lists;
    int32_t pid;
    uint64_t next_list_ns;
    uint64_t random;
    uint64_t expected_ns;
    _Atomic uint64_t covered_ns;
    _Atomic uint64_t cpu_ns; /* jtop-wall's own */
};

/* Entries. jtop-wall only. */

/* 0 or -ENOMEM. */
int wall_threads_map(struct wall *w);
void wall_threads_unmap(struct wall *w);
/* Updates the entries to the threads that are to be sampled now. */
void wall_threads_list(struct wall *w, uint64_t now_ns);
/* Returns a random time, `ns` on average. */
uint64_t wall_pause(struct wall *w, uint64_t ns);

/* Checks. */

/* Checks a thread. Returns the time until its next check, on average. */
uint64_t wall_look(struct wall *w, struct wall_thread *t, uint64_t now_ns);
/* A last check after sampling has ended. Takes no new samples. */
void wall_close(struct wall *w, struct wall_thread *t, uint64_t now_ns);
/* Returns the CPU time of all jtop-wall threads since wall_forget_cpu. Agent's thread. */
uint64_t wall_own_cpu_ns(void);
void wall_forget_cpu(void);

#endif
