/*
 * Shared by the parts of the walker: the current position of a walk, and the functions that find
 * callers.
 *
 * A HotSpot stack on x86_64 and aarch64, towards higher addresses (source: frame_x86.cpp,
 * frame_aarch64.cpp, JDK 8-28):
 *
 *   compiled frame              interpreted frame        entry frame (call stub)
 *   sp  ─▶ spills, locals       …                        fp+entry_wrapper ─▶ JavaCallWrapper*, with
 *          …                    fp-3w  Method*                               the anchor of the last
 *          saved fp             fp-1w  caller's sp       fp     saved fp     Java frame before it
 *          return address       fp     saved fp          fp+1w  return address
 *   sp + frame_words            fp+1w  return address
 *
 * Context: signal-safe; guarded reads, bounded loops.
 */
#ifndef JTOP_AGENT_WALK_WALK_FRAMES_H
#define JTOP_AGENT_WALK_WALK_FRAMES_H

#include "core/agent/walk/last_stack.h"
#include "core/agent/walk/unwind.h"
#include "core/agent/walk/walk.h"

#define WORD sizeof(uintptr_t)
#define STEPS_MAX 8192 /* frames visited in one walk */
#define SCANS_MAX 64   /* searches for a caller in one walk */

struct cursor {
    uintptr_t pc, sp, fp;
    bool leaf;         /* pc was interrupted; it is not a return address */
    uintptr_t fp_slot; /* where fp was read on the stack; 0: elsewhere */
};

#define WALK_FIRST_METHODS 4

struct walk {
    const struct walker *w;
    const struct vm *vm;
    struct stack *s;
    struct registers r;   /* of the leaf, or of the code that a signal handler interrupted */
    uintptr_t thread;     /* JavaThread*; 0: not a Java thread */
    uintptr_t low, limit; /* of the stack being walked: the thread's live part, or a chunk's */
    bool frozen;          /* the stack is a chunk's */
    bool mounted;         /* the thread carries a virtual thread */
    uintptr_t first_method[WALK_FIRST_METHODS]; /* the innermost methods */
    uintptr_t stub;                             /* blob of the last stub on the way */
    uint32_t before_java;                       /* number of frames before the first Java frame */
    uint32_t steps, scans;                      /* so far; their limits bound a handler's time */
    struct last_stack *last; /* of this thread; NULL: none, or this walk can't use it */
    uint32_t last_from;      /* the place of `last` where the walk has ended; LAST_NONE: none */
    uint32_t last_frames;    /* frame words added before that */
    bool complete;           /* the walk has come to the thread's entry */
};

/* Ends the walk with an error frame; always false. */
bool walk_fail(struct walk *k, enum wire_failure why);
/* Adds a frame that is not a Java frame. False: there is no room left, and the walk ends. */
bool walk_add(struct walk *k, uint64_t frame);

static inline bool walk_in_stack(const struct walk *k, uintptr_t address) {
    return address >= k->low && address < k->limit && address % WORD == 0;
}

/* Reads a return address, or another code address, from memory. */
static inline uintptr_t walk_load_pc(uintptr_t slot) {
    return registers_code_address(guarded_load64(slot));
}

/* Finding the caller (walk_caller.c). *next is changed only if true is returned. */

/* Whether the cursor's caller can be found where the frame's layout puts it. */
bool caller_leads_on(const struct walk *k, const struct cursor *c);
/* Searches the live stack of `at`, below `limit`, for the return address of a Java caller. */
bool caller_scan(struct walk *k, const struct cursor *at, uintptr_t limit, struct cursor *next);
/* On aarch64 a C function keeps its return address, from->pc, at the lower end of its frame: the
 * frame of its caller begins somewhere above from->sp. False elsewhere. */
bool caller_above(const struct walk *k, const struct cursor *from, struct cursor *next);
/* The caller of a leaf whose frame is not set up yet, or was already removed. */
bool caller_of_frameless(const struct walk *k, const struct cursor *at, struct cursor *next);
/* The caller of an interrupted frame, which may be only partly set up. */
bool caller_of_leaf(struct walk *k, const struct code *c, const struct cursor *at,
                    struct cursor *next);
/* The caller of a frame that has made a call. */
bool caller_of_sized(const struct walk *k, const struct code *c, const struct cursor *at,
                     struct cursor *next);
/* Reads a saved frame pointer. In a frozen stack, that of an interpreted frame is a number of words
 * relative to its slot, so that the stack can be moved. */
uintptr_t caller_load_fp(uintptr_t slot);

/* Adds the frames at `at`, whose code is `c`, and steps to the caller (walk_java.c). False: the
 * walk has failed. */
bool java_step(struct walk *k, struct code *c, struct cursor *at);

/* The same for a compiled frame that has made a call, if the cache has it: adds its frames and steps
 * to the caller. False: nothing was done. */
bool java_step_cached(struct walk *k, struct cursor *at);

/* With k->last, before each step: adds all frames from `at` on if the last stack has them; the walk
 * is then over. */
bool walk_rest_is_known(struct walk *k, const struct cursor *at);

/* Virtual threads. */

/* Whether a return address in `c` is the return barrier of a mounted virtual thread, and there is a
 * ContinuationEntry with frozen frames at `entry`, the end of the frame. */
bool frozen_is_entered(const struct walk *k, const struct code *c, uintptr_t entry);
/* Whether this blob contains the code that freezes and thaws frames. */
bool frozen_is_stub(const struct walk *k, uintptr_t blob);

#endif
