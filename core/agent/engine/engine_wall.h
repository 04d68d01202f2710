/*
 * Wall clock sampling: which threads are checked, and how.
 *
 *      jtop-wall, our own thread, about once an interval for each thread:
 *        has it used CPU time since its last sample?
 *          no    it has not moved: that sample stands for this time too (WIRE_REPEAT, about
 *                one a second)                                    1 system call, no signal
 *          yes   it sleeps now: its stack is read from here       7 system calls, no signal
 *                it runs now: it is signalled and takes its own sample
 *
 * A signal would end a sleep in poll or nanosleep early: only threads that run get one. A thread is
 * checked after a random time between half an interval and one and a half, so that what happens in
 * step with our clock is seen as often as the rest; after four times that if it has not moved for
 * long. A sample weighs the time between the check that requested it and the previous such check.
 * If it were the time of the handler, threads that run would also get the time that they wait for a
 * processor.
 *
 * Coverage: a check covers the time since the previous check, two intervals at most; more only if
 * the thread has not moved. The share of all threads' time that this makes is
 * status.covered_ns / expected_ns.
 *
 * Context: each function says.
 */
#ifndef JTOP_AGENT_ENGINE_ENGINE_WALL_H
#define JTOP_AGENT_ENGINE_ENGINE_WALL_H

#include "core/agent/threads.h"
#include "core/agent/vm/thread_state.h"

#define WALL_INTERVAL 50000000u    /* ns */
#define WALL_INTERVAL_MIN 1000000u /* ns */

enum wall_turn {
    WALL_OURS = 0, /* jtop-wall's to change */
    WALL_SENT,     /* a signal is pending: the thread that exchanges this owns the entry */
    WALL_ITS,      /* the thread's own handler runs */
};

struct wall_thread {
    uint32_t tid;  /* 0: free */
    uint32_t seen; /* number of the last list that had it */
    _Atomic uint32_t turn;
    uint32_t calm;     /* looks in a row that found it where it was */
    uint32_t window;   /* enum sampler_window at its last sample */
    uint8_t state;     /* enum wire_thread_state of its last sample */
    bool sampled;      /* its last sample is in the ring */
    bool handled;      /* by the thread itself, since the last check */
    uint64_t cpu_ns;   /* it had used at the last sample, or when it was signalled */
    uint64_t since_ns; /* what is in the ring ends here */
    uint64_t same_ns;  /* until then it was seen to stay there: not in the ring yet */
    int64_t rest_ns;   /* what was sampled beyond whole intervals, or short of them */
    uint64_t looked_ns, sent_ns;
    /* What the signal's sample is to stand for: the last check that found the thread as it was when
     * the signal was sent, and how much of the time up to there it covers. */
    _Atomic uint64_t until_ns, covers_ns;
};

struct wall {
    struct engine_run *run;
    pthread_t thread;
    _Atomic uint32_t own_tid; /* futex word; 0: not there yet */
    _Atomic uint32_t quit;    /* futex word */
    struct thread_states states;
    struct wall_thread *entry; /* THREADS_MAX, address space only, as are these three */
    uint64_t *due_ns;          /* when to check an entry */
    uint32_t *tids;
    uint32_t *index_of_tid; /* index + 1; WIRE_TID_MAX */
    uint32_t count;         /* entries ever used lie below this */
    uint32_t free_hint;     /* no free entry lies below this */
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
/* Makes the entries those of the threads that are to be sampled now. */
void wall_threads_list(struct wall *w, uint64_t now_ns);
/* A random time, `ns` on average. */
uint64_t wall_pause(struct wall *w, uint64_t ns);

/* Checking them. */

/* Checks the thread. Returns after how many ns to check it again, on average. */
uint64_t wall_look(struct wall *w, struct wall_thread *t, uint64_t now_ns);
/* The last check, when sampling has ended: takes no new samples. */
void wall_close(struct wall *w, struct wall_thread *t, uint64_t now_ns);
/* CPU time of all jtop-walls so far, since wall_forget_cpu. Agent's thread. */
uint64_t wall_own_cpu_ns(void);
void wall_forget_cpu(void);

#endif
