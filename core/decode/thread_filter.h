/*
 * Which threads are wanted: those whose name matches a pattern, and those whose number is in a
 * list. A virtual thread's samples are wanted for its own name, or for its carrier's number.
 *
 * thread_filter_verdict decides. The bits in the mapping, by which the agent leaves threads out,
 * only save time: a bit may be set for a thread that turns out not to be wanted. So with a pattern,
 * the bit of every thread that carries virtual threads, or may carry them, is set.
 *
 * The size is limited: the oldest decisions about virtual threads are forgotten. The agent
 * announces a virtual thread's name again when it has not done so lately.
 *
 * Context: one thread at a time per struct; the agent reads the bits at any time.
 */
#ifndef JTOP_DECODE_THREAD_FILTER_H
#define JTOP_DECODE_THREAD_FILTER_H

#include "core/base/err.h"
#include "core/base/expression.h"
#include "core/base/id_map.h"

#include <stdbool.h>
#include <stdint.h>

#define THREAD_FILTER_VIRTUALS_MAX (1u << 19) /* in each of two generations: `young` and `old` */

struct tid_range {
    uint32_t first, last;
};

enum thread_verdict {
    THREAD_UNDECIDED = 0, /* no name is known yet */
    THREAD_WANTED,
    THREAD_UNWANTED,
};

struct thread_filter {
    bool on; /* false: every thread is wanted; nothing else counts */
    bool has_pattern;
    struct expression pattern;
    struct tid_range *tids; /* owned */
    uint32_t tid_ranges;
    struct id_map decided;    /* by tid */
    struct id_map carriers;   /* tids that carried a virtual thread, or look like it */
    struct id_map young, old; /* by virtual id */
    _Atomic uint8_t *bits;    /* WIRE_THREADS_BYTES, not owned; NULL: none */
    bool changed;             /* bits have changed; the caller resets this */
    bool told;                /* see thread_filter_trouble */
};

/* Without a pattern and tids, the filter is off. -EINVAL: the pattern is no regular expression; the
 * message says why; exit code 100. */
int thread_filter_init(struct thread_filter *f, const char *pattern, const struct tid_range *tids,
                       uint32_t tid_ranges, struct err *e);
void thread_filter_free(struct thread_filter *f);

/* Uses the bits of another mapping from now on; they are all zero so far. NULL: none. */
void thread_filter_use_bits(struct thread_filter *f, _Atomic uint8_t *bits);

void thread_filter_name(struct thread_filter *f, uint32_t tid, const char *name);
/* `name` "": the thread has none, and is shown as "VirtualThread[#ID]". */
void thread_filter_virtual_name(struct thread_filter *f, uint64_t virtual_id, uint32_t carrier,
                                const char *name);
void thread_filter_end(struct thread_filter *f, uint32_t tid);
/* Takes the kernel's name of a thread that the agent has not named. The name decides nothing, but
 * may set the thread's bit. */
void thread_filter_guess(struct thread_filter *f, uint32_t tid, const char *comm);

/* `virtual_id` 0: the platform thread itself. */
enum thread_verdict thread_filter_verdict(const struct thread_filter *f, uint32_t tid,
                                          uint64_t virtual_id);

/* A message about the filter for people, returned only once; NULL: none. */
const char *thread_filter_trouble(struct thread_filter *f);

#endif
