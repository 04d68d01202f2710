/*
 * Files:
 *   fold           merging of ended or idle threads into one row when rows run out
 *   profile        the profile in memory: its interface, memory limits and totals
 *   profile_state  internal struct of a profile, for this room and its tests only
 *   sample         adding of samples to the profile, repeating them, taking them back
 *
 * The model: what was sampled, in memory, and nothing else. No I/O, no terminal, no clock: time
 * comes with the samples. Every view and every export is a function of (profile, query): see
 * snapshot.h.
 *
 *      sample ─▶ call_tree (stack → node)      ─┐
 *             ─▶ history (second → node,thread) ├─▶ snapshot(query) ─▶ screen, file
 *             ─▶ totals (node, thread → weight) ─┤
 *      wait for a lock ─▶ lock_table            ─┘
 *      sample, pause ─▶ timeline (second → sums) ─▶ a strip on the screen
 *
 * A sample of a virtual thread belongs to it and to its carrier; a query says which is asked for.
 *
 * It is bounded, however long it runs and whatever a hostile JVM sends: a few million call paths
 * and (thread, stack) pairs, 65,536 threads and 32,768 virtual threads with a row of their own,
 * 64 MiB of history. Beyond, detail goes (callers' lines, "[stack not kept]", "[other threads]", a
 * shorter history) and sums stay right.
 *
 * Context: pure; one thread at a time. A caller who shares it between threads locks around it;
 * a snapshot, once taken, is immutable and independent of the profile but for the strings of
 * method and thread names, which live as long as the profile (virtual threads' names are the
 * snapshot's own).
 */
#ifndef JTOP_PROFILE_PROFILE_H
#define JTOP_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile/table/method_table.h"

#define PROFILE_EVENTS 12 /* events are numbers from 0 on; the caller gives them meaning */
#define PROFILE_STATES 11 /* and so are the states a thread is in, but for the first two */
#define PROFILE_STATE_UNKNOWN 0
#define PROFILE_STATE_RUNNING 1
#define PROFILE_STACK_MAX 4096 /* deeper stacks are cut at the root's end */
#define PROFILE_HISTORY_SECONDS 600

/* How a frame was executed; counted per node so that a view can show or colour it. */
enum frame_tier {
    TIER_NONE = 0, /* not Java, or not known */
    TIER_INTERPRETED,
    TIER_C1,
    TIER_C2,
    TIER_INLINED,
    TIERS
};

struct profile_frame {
    uint32_t method; /* id of the profile's method table */
    uint16_t line;   /* of the source file; 0: not known */
    uint8_t tier;    /* enum frame_tier */
    uint8_t reserved;
};

struct profile_sample {
    uint64_t time_ns; /* monotonic; samples may come slightly out of order */
    uint64_t weight;  /* ns, bytes or counts */
    uint32_t count;   /* samples this one stands for, usually 1 */
    uint32_t tid;
    uint64_t virtual_id; /* of the virtual thread that `tid` carried; 0: none */
    uint8_t event;       /* < PROFILE_EVENTS */
    uint8_t failed;      /* the stack is incomplete */
    uint16_t frames;
    uint8_t state;                     /* < PROFILE_STATES, else as 0: not known */
    const struct profile_frame *frame; /* leaf first; not kept */
};

struct profile;

/* `history_seconds` 0: PROFILE_HISTORY_SECONDS. NULL: no memory. */
struct profile *profile_new(uint32_t history_seconds);
/* Keeps less, so that the whole takes about so many bytes; 0: as it is. Before the first sample. */
void profile_limit_memory(struct profile *p, uint64_t bytes);
void profile_free(struct profile *p);

struct method_table *profile_methods(struct profile *p);
const struct method_table *profile_methods_const(const struct profile *p);

/* Where a sample was counted, to count there again or to take it back. Plain numbers, valid as long
 * as the profile; what happened to the rows since (threads folded into others, seconds out of the
 * history) is the profile's business. All zero: nowhere. */
struct profile_place {
    uint64_t virtual_id;
    uint64_t second; /* of the sample */
    uint32_t entry;  /* in the history's second */
    uint32_t node;
    uint32_t tid;
    uint32_t thread;  /* row, and … */
    uint32_t born;    /* … which of those that used it one after another */
    uint32_t carrier; /* the same of the thread that carried a virtual one; else as `thread` */
    uint32_t carrier_born;
    uint8_t event, failed, state;
    uint8_t rest; /* bits: the stack was not kept for the thread, for the carrier */
};

/* 0. -EINVAL: event out of range; -ENOMEM: the sample is not counted, the profile stays sound. */
int profile_add(struct profile *p, const struct profile_sample *s);
/* The same, and where that was. */
int profile_add_at(struct profile *p, const struct profile_sample *s, struct profile_place *at);

/* The same stack of the same thread once more, at another time. As profile_add. */
int profile_repeat(struct profile *p, const struct profile_place *at, uint64_t time_ns,
                   uint64_t weight, uint32_t count, uint8_t state);

/* Takes back what was counted there: sums, rows and the sample's second, where it is still in the
 * history (the seconds of its repeats are left as they are). No sum goes below 0, whatever is asked
 * for. */
void profile_retract(struct profile *p, const struct profile_place *at, uint64_t weight,
                     uint32_t count);

/* Takes back everything counted of an event, because its number means another one from now on. Its
 * call paths and threads stay, with nothing counted. */
void profile_forget(struct profile *p, uint32_t event);

/* One wait for a lock; its stack is a sample of its own. */
struct profile_lock {
    uint64_t time_ns; /* of its end */
    uint64_t waited_ns;
    uint64_t lock_id;    /* 0: not known */
    uint32_t class_id;   /* method table: METHOD_CLASS */
    uint32_t flags;      /* the caller's */
    uint32_t tid;        /* of the waiter */
    uint64_t virtual_id; /* 0: none */
    uint32_t owner_tid;  /* 0: not known */
    uint64_t owner_virtual_id;
    uint16_t owner_frames; /* the owner's stack when the wait began */
    const struct profile_frame *owner_frame;
};

/* Bounded: beyond some thousand (class, owner, stack) the owner's stack, then the owner, is left
 * out. 0 or -ENOMEM. */
int profile_lock_wait(struct profile *p, const struct profile_lock *l);

/* The VM stood still. `kind` < 2: 0 for a collection, 1 for any other reason. */
void profile_pause(struct profile *p, uint64_t begin_ns, uint64_t end_ns, unsigned kind);

/* A second of the timeline, for sparklines and strips. */
struct profile_second {
    uint64_t weight, samples; /* of the event asked for */
    uint64_t paused_ns[2];    /* by kind; a pause is counted in the seconds it lies in */
};

/* Fills out[i] for second from + i. Seconds out of the history are zero, and those more than a day
 * and a half back. */
void profile_timeline(const struct profile *p, int event, uint64_t from, uint32_t seconds,
                      struct profile_second *out);

/* A thread's name and Java id from now on; names are kept after the thread's end. A tid used
 * again by a new thread after profile_thread_end becomes a thread of its own: known by its name
 * being given (with another Java id), or by a sample more than a second after the end. -ENOMEM. */
int profile_thread_name(struct profile *p, uint32_t tid, uint64_t java_id, const char *name);
void profile_thread_end(struct profile *p, uint32_t tid);

/* A virtual thread's name from now on, "" for none: then it is shown as "VirtualThread[#ID]". Its
 * end is not announced: rows of virtual threads that were not sampled for long give way when there
 * are too many, and the row of "[other virtual threads]" takes their sums. -ENOMEM; -EINVAL: 0 is
 * no id. */
int profile_virtual_name(struct profile *p, uint64_t virtual_id, const char *name);

/* Totals since the beginning, per event. */
uint64_t profile_weight(const struct profile *p, int event);
uint64_t profile_samples(const struct profile *p, int event);
uint64_t profile_failed(const struct profile *p, int event);

/* First and last second (time_ns / 1e9) of the whole profile, 0,0 when there is no sample; and
 * the first second still in the history. */
void profile_span(const struct profile *p, uint64_t *first, uint64_t *last, uint64_t *oldest_kept);

uint32_t profile_node_count(const struct profile *p);   /* distinct call paths */
uint32_t profile_thread_count(const struct profile *p); /* with a row of their own */

#endif
