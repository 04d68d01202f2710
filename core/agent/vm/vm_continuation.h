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
    bool known;    /* this VM has virtual threads and oops we can follow */
    uint32_t tail; /* in Continuation */
    uint32_t chunk_parent, chunk_size, chunk_sp; /* in StackChunk */
    const struct oop_layout *oops;
    uint32_t chunk_data; /* bytes from a StackChunk to its stack */
};

/* One chunk's frames, as a stack of their own. */
struct frozen_stack {
    uintptr_t chunk;
    uintptr_t begin, end; /* the chunk's stack */
    uintptr_t sp;         /* of its youngest frame; its pc is the word below */
};

/* After oop_learn; `oops` must live as long as `c`. */
void continuation_learn(struct continuation_layout *c, const struct oop_layout *oops, JNIEnv *jni);

/* The first chunk of the continuation whose ContinuationEntry lies at `sp`, the end of its oldest
 * thawed frame, or a few words above. False: none. */
bool continuation_frozen(const struct continuation_layout *c, uintptr_t sp,
                         struct frozen_stack *out);
/* The chunk after it. */
bool continuation_next(const struct continuation_layout *c, struct frozen_stack *f);

#endif
