/*
 * What the parts of the walker share: the place a walk has come to, and how each part goes on.
 *
 * A HotSpot stack on x86_64 and aarch64, towards higher addresses (source: frame_x86.cpp,
 * frame_aarch64.cpp, JDK 8-28):
 *
 *   compiled frame                 interpreted frame          entry frame (call stub)
 *   sp  ─▶ spills, locals          …                          fp+entry_wrapper ─▶ JavaCallWrapper*
 *          …                       fp-3w  Method*                                 holds the anchor of
 *          saved fp                fp-1w  caller's sp         fp     saved fp     the last Java frame
 *          return address          fp     saved fp            fp+1w  return address  before it
 *   sp + frame_words               fp+1w  return address
 *
 * Context: signal-safe; guarded reads, bounded loops.
 */
#ifndef JTOP_AGENT_WALK_WALK_FRAMES_H
#define JTOP_AGENT_WALK_WALK_FRAMES_H

#include "core/agent/walk/unwind.h"
#include "core/agent/walk/walk.h"

#define WORD sizeof(uintptr_t)
#define STEPS_MAX 8192 /* frames visited in one walk */
#define SCANS_MAX 64   /* times a caller is searched for */

struct cursor {
    uintptr_t pc, sp, fp;
    bool leaf; /* pc was interrupted, it is no return address */
};

#define WALK_FIRST_METHODS 4

struct walk {
    const struct walker *w;
    const struct vm *vm;
    struct stack *s;
    struct registers r;   /* of the leaf; of the code that a signal handler below it interrupted */
    uintptr_t thread;     /* JavaThread*, 0: it runs no Java code */
    uintptr_t low, limit; /* of the stack being walked: the thread's live part, or a chunk's */
    bool frozen;          /* it is a chunk's */
    bool mounted;         /* the thread carries a virtual one */
    uintptr_t first_method[WALK_FIRST_METHODS]; /* the innermost ones */
    uintptr_t stub;                             /* blob of the last stub that was met */
    uint32_t before_java;                       /* frames in front of the first Java frame */
    uint32_t steps, scans;                      /* so far: a handler has to come to an end */
};

/* Ends the walk with an error frame; always false. */
bool walk_fail(struct walk *k, enum wire_failure why);
/* Adds a frame that is no Java frame; false, and the walk ends, when there is no room for more. */
bool walk_add(struct walk *k, uint64_t frame);

static inline bool walk_in_stack(const struct walk *k, uintptr_t address) {
    return address >= k->low && address < k->limit && address % WORD == 0;
}

/* A return address, or a frame's, in memory. */
static inline uintptr_t walk_load_pc(uintptr_t slot) {
    return registers_code_address(guarded_load64(slot));
}

/* Finding the caller (walk_caller.c). `next` is changed where true is returned. */

/* Whether a cursor's own caller can be found where it should be. */
bool caller_leads_on(const struct walk *k, const struct cursor *c);
/* Searches the live stack of `at`, below `limit`, for the return address of a Java caller. */
bool caller_scan(struct walk *k, const struct cursor *at, uintptr_t limit, struct cursor *next);
/* On aarch64 a C function keeps its return address, from->pc, at the lower end of its frame: the
 * frame of its caller begins somewhere above from->sp. False elsewhere. */
bool caller_above(const struct walk *k, const struct cursor *from, struct cursor *next);
/* The caller of a leaf that has no frame of its own yet, or none any more. */
bool caller_of_frameless(const struct walk *k, const struct cursor *at, struct cursor *next);
/* The caller of an interrupted frame, by what its code has done to the stack so far. */
bool caller_of_leaf(struct walk *k, const struct code *c, const struct cursor *at,
                    struct cursor *next);
/* The caller of a frame that called. */
bool caller_of_sized(const struct walk *k, const struct code *c, const struct cursor *at,
                     struct cursor *next);
/* A saved frame pointer. In a frozen stack the one of an interpreted frame counts words from where
 * it is saved, so that the stack can be moved. */
uintptr_t caller_load_fp(uintptr_t slot);

/* Adds the frames at `at`, in `c`, and steps to the caller (walk_java.c). False: failed. */
bool java_step(struct walk *k, struct code *c, struct cursor *at);

/* Virtual threads. */

/* The same, and the frame's end, `entry`, is a ContinuationEntry that has such frames. */
bool frozen_is_entered(const struct walk *k, const struct code *c, uintptr_t entry);
/* Whether this is the blob of the code that freezes and thaws. */
bool frozen_is_stub(const struct walk *k, uintptr_t blob);

#endif
