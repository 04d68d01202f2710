/*
 * Virtual threads: the part of a mounted one's stack that is still frozen in the heap (source:
 * continuationFreezeThaw.cpp, continuationEntry.hpp, stackChunkOop.hpp, JDK 21-28).
 *
 *   carrier's stack, leaf up                      heap
 *   ┌ thawed frames of the virtual thread ┐       StackChunk: fields, then its stack
 *   │ return address: the return barrier  │──────▶ frames from `sp` on, return address below each;
 *   ├ ContinuationEntry (enterSpecial)    ┤        the rest in StackChunk.parent, and so on
 *   └ Continuation.run, the carrier       ┘
 *
 * Context: continuation_learn in a Java thread at attach; the rest is signal-safe.
 */
#ifndef JTOP_AGENT_VM_VM_CONTINUATION_H
#define JTOP_AGENT_VM_VM_CONTINUATION_H

#include "core/agent/vm/vm_oop.h"

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct continuation_layout {
    bool known;    /* this VM has virtual threads, and its oops can be followed */
    uint32_t tail; /* in Continuation */
    uint32_t chunk_parent, chunk_size, chunk_sp; /* in StackChunk */
    const struct oop_layout *oops;
    uint32_t chunk_data; /* bytes from a StackChunk to its stack */
};

/* The frames in one chunk, which form a stack. */
struct frozen_stack {
    uintptr_t chunk;
    uintptr_t begin, end; /* the chunk's stack */
    uintptr_t sp;         /* of the youngest frame; that frame's pc is in the word below */
};

/* Call it after oop_learn. `oops` must live as long as `c`. */
void continuation_learn(struct continuation_layout *c, const struct oop_layout *oops, JNIEnv *jni);

/* Finds the first chunk of a continuation. Its ContinuationEntry is at `sp`, the end of its oldest
 * thawed frame, or a few words above. False: none. */
bool continuation_frozen(const struct continuation_layout *c, uintptr_t sp,
                         struct frozen_stack *out);
/* Replaces *f by the next chunk. False: none. */
bool continuation_next(const struct continuation_layout *c, struct frozen_stack *f);

#endif
