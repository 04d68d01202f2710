/*
 * Files:
 *   fold           merging of ended or idle threads into one row when rows run out
 *   profile        the profile in memory: its interface, memory limits and totals
 *   profile_state  internal struct of a profile, for this room and its tests only
 *   sample         adding of samples to the profile, repeating them, taking them back
 *
 * The model: the samples in memory, and nothing else. No I/O, no terminal, no clock: the time comes
 * with the samples. Every view and every export is a function of (profile, query): see snapshot.h.
 *
 *      sample ─▶ call_tree (stack → node)      ─┐
 *             ─▶ history (second → node,thread) ├─▶ snapshot(query) ─▶ screen, file
 *             ─▶ totals (node, thread → weight) ─┤
 *      wait for a lock ─▶ lock_table            ─┘
 *      sample, pause ─▶ timeline (second → sums) ─▶ a strip on the screen
 *
 * A sample of a virtual thread belongs to that thread and to its carrier; a query selects one
 * of the two.
 *
 * The size is limited, however long the profile runs and whatever a hostile JVM sends: a few
 * million call paths and (thread, stack) pairs, 65,536 threads and 32,768 virtual threads with a
 * row of their own, 64 MiB of history. Above these limits, detail is lost (callers' lines, "[stack
 * not kept]", "[other threads]", a shorter history), but sums stay correct.
 *
 * Context: pure; one thread at a time. A caller that shares the profile between threads must lock
 * around it. A snapshot is immutable and independent of the profile, except for the strings of
 * method and thread names, which live as long as the profile (names of virtual threads belong to
 * the snapshot).
 */
#ifndef JTOP_PROFILE_PROFILE_H
#define JTOP_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile/table/method_table.h"

#define PROFILE_EVENTS 12 /* events are numbers from 0; the caller defines their meaning */
/* States of a thread; the caller defines their meaning, except for the first two */
#define PROFILE_STATES 11
#define PROFILE_STATE_UNKNOWN 0
#define PROFILE_STATE_RUNNING 1
#define PROFILE_STACK_MAX 4096 /* deeper stacks are cut at the root */
#define PROFILE_HISTORY_SECONDS 600

/* How a frame was executed; counted per node so that a view can show or colour it. */
enum frame_tier {
    TIER_NONE = 0, /* not Java, or unknown */
    TIER_INTERPRETED,
    TIER_C1,
    TIER_C2,
    TIER_INLINED,
    TIERS
};

struct profile_frame {
    uint32_t method; /* id in the profile's method table */
    uint16_t line;   /* line in the source file; 0: not known */
    uint8_t tier;    /* enum frame_tier */
    uint8_t reserved;
};

struct profile_sample {
    uint64_t time_ns; /* monotonic; samples may come slightly out of order */
    uint64_t weight;  /* ns, bytes or counts */
    uint32_t count;   /* samples this one stands for, usually 1 */
    uint32_t tid;
    uint64_t virtual_id; /* id of the virtual thread that `tid` carried; 0: none */
    uint8_t event;       /* < PROFILE_EVENTS */
    uint8_t failed;      /* the stack is incomplete */
    uint16_t frames;
    uint8_t state;                     /* < PROFILE_STATES; larger values count as 0, unknown */
    const struct profile_frame *frame; /* leaf first; not kept */
};

struct profile;

/* `history_seconds` 0: PROFILE_HISTORY_SECONDS. Returns NULL if there is no memory. */
struct profile *profile_new(uint32_t history_seconds);
/* Lowers the limits, so that the whole profile takes about `bytes` bytes; 0: no change. Call it
 * before the first sample. */
void profile_limit_memory(struct profile *p, uint64_t bytes);
void profile_free(struct profile *p);

struct method_table *profile_methods(struct profile *p);
const struct method_table *profile_methods_const(const struct profile *p);

/* Where a sample was counted, used to count there again or to take the sample back. It contains
 * plain numbers and is valid as long as the profile. The profile itself handles rows that have
 * changed since then (threads folded into others, seconds dropped from the history). All zeroes:
 * nowhere. */
struct profile_place {
    uint64_t virtual_id;
    uint64_t second; /* second of the sample */
    uint32_t entry;  /* position in that second of the history */
    uint32_t node;
    uint32_t tid;
    uint32_t thread;  /* row of the thread */
    uint32_t born;    /* serial number of the thread that used the row, because a row may
                         be reused */
    uint32_t carrier; /* row of the thread that carried a virtual thread; otherwise equal to
                         `thread` */
    uint32_t carrier_born;
    uint8_t event, failed, state;
    uint8_t rest; /* bits: the stack was not kept for the thread, for the carrier */
};

/* 0. -EINVAL: event out of range. -ENOMEM: the sample is not counted, and the profile
 * stays valid. */
int profile_add(struct profile *p, const struct profile_sample *s);
/* Does the same, and stores where the sample was counted in `at`. */
int profile_add_at(struct profile *p, const struct profile_sample *s, struct profile_place *at);

/* Counts the same stack of the same thread again, at another time. Errors as profile_add. */
int profile_repeat(struct profile *p, const struct profile_place *at, uint64_t time_ns,
                   uint64_t weight, uint32_t count, uint8_t state);

/* Takes back a sample that was counted at `at`: from sums, from rows, and from the sample's second
 * if the history still has it (the seconds of repeats are not changed). No sum goes below 0,
 * whatever the caller passes. */
void profile_retract(struct profile *p, const struct profile_place *at, uint64_t weight,
                     uint32_t count);

/* Takes back everything that was counted for an event, because its number has another meaning from
 * now on. The event's call paths and threads stay, with nothing counted. */
void profile_forget(struct profile *p, uint32_t event);

/* One wait for a lock; the waiter's stack is a separate sample. */
struct profile_lock {
    uint64_t time_ns; /* time at which the wait ended */
    uint64_t waited_ns;
    uint64_t lock_id;    /* 0: not known */
    uint32_t class_id;   /* method table: METHOD_CLASS */
    uint32_t flags;      /* meaning defined by the caller */
    uint32_t tid;        /* tid of the waiter */
    uint64_t virtual_id; /* 0: none */
    uint32_t owner_tid;  /* 0: not known */
    uint64_t owner_virtual_id;
    const struct profile_place *at; /* where the sample with the waiter's stack was counted; NULL or
                                       another lock's: the stack is not known */
    uint16_t owner_frames;          /* the owner's stack at the start of the wait */
    const struct profile_frame *owner_frame;
};

/* The number of rows is limited: above some thousand (class, owner, stack), the owner's stack is
 * left out first, then the owner. 0 or -ENOMEM. */
int profile_lock_wait(struct profile *p, const struct profile_lock *l);

/* Counts a pause of the VM. `kind` < 2: 0 for a garbage collection, 1 for any other reason. */
void profile_pause(struct profile *p, uint64_t begin_ns, uint64_t end_ns, unsigned kind);

/* The event is or is not sampled at this time (on the clock of samples). Rates are over the times in
 * which it was. Call it again and again; without it, the event counts as sampled always. */
void profile_event_runs(struct profile *p, int event, uint64_t time_ns, bool runs);

/* One second of the timeline, for sparklines and strips. */
struct profile_second {
    uint64_t weight, samples; /* of the requested event */
    uint64_t paused_ns[2];    /* by kind; a pause is split over the seconds it lies in */
};

/* Fills out[i] for second from + i. Seconds outside the history are zero, and so are seconds more
 * than a day and a half back. */
void profile_timeline(const struct profile *p, int event, uint64_t from, uint32_t seconds,
                      struct profile_second *out);

/* Sets a thread's name and Java id from now on; the name is kept after the thread's end. If a new
 * thread reuses a tid after profile_thread_end, it is a separate thread. It is recognized when its
 * name is set (with another Java id), or by a sample more than a second after the end. -ENOMEM. */
int profile_thread_name(struct profile *p, uint32_t tid, uint64_t java_id, const char *name);
void profile_thread_end(struct profile *p, uint32_t tid);

/* The state of a living thread at this moment; the caller defines its meaning, 0: not known. No
 * history is kept. profile_forget_java_states sets it to 0 for all threads. */
void profile_java_state(struct profile *p, uint32_t tid, uint8_t state);
void profile_forget_java_states(struct profile *p);

/* A living platform thread that has a name, sampled or not. */
struct profile_living {
    uint32_t tid;
    uint8_t java_state;
    uint64_t java_id;
    const char *name; /* lives as long as the profile */
};

/* Lists these threads, sorted by tid. Sets a malloc'ed array (NULL: no thread). Returns their
 * number; -ENOMEM. */
int profile_living(const struct profile *p, struct profile_living **out);

/* Sets a virtual thread's name from now on. "": no name; the thread is then shown as
 * "VirtualThread[#ID]". The end of virtual threads is not reported: when there are too many, rows
 * of those that were not sampled for long are dropped, and the row of "[other virtual threads]"
 * takes over their sums. -ENOMEM; -EINVAL: the id is 0. */
int profile_virtual_name(struct profile *p, uint64_t virtual_id, const char *name);

/* Totals since the beginning, per event. */
uint64_t profile_weight(const struct profile *p, int event);
uint64_t profile_samples(const struct profile *p, int event);
uint64_t profile_failed(const struct profile *p, int event);

/* First and last second (time_ns / 1e9) of the whole profile, 0,0 if there is no sample, and the
 * first second that is still in the history. */
void profile_span(const struct profile *p, uint64_t *first, uint64_t *last, uint64_t *oldest_kept);

uint32_t profile_node_count(const struct profile *p);   /* distinct call paths */
uint32_t profile_thread_count(const struct profile *p); /* those with a row of their own */

#endif
