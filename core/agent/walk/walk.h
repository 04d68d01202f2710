/*
 * Files:
 *   frame_cache     frames found before at return addresses in compiled code
 *   last_stack      last stack of each thread, for the part that has not changed
 *   method_ids      names of methods known only by jmethodID, fetched later
 *   names           names of methods, stubs and classes, written to the ring once
 *   stub_names      the VM's names for its generated stub routines
 *   unwind          one step to the native caller by the unwind tables
 *   virtual_thread  ID and name of the virtual thread that a carrier is running
 *   walk            struct of a stack and of the walker; functions that walk
 *   walk_asgct      stack walk by the VM's AsyncGetCallTrace, as a fallback
 *   walk_caller     search for the caller of a Java frame
 *   walk_frames     internal state of a stack walk, shared by its files
 *   walk_java       adding a Java frame and stepping to its caller
 *   walk_native     walk over native frames, by unwind tables or frame pointers
 *   walk_seam       transition between native and Java frames on a stack
 *   walk_stage      how much of a compiled frame is set up at the interrupted instruction
 *   walk_vm         main stack walk over the VM's structures, with virtual threads
 *
 * Stack walks: from a thread's registers to its frames.
 *
 * Context: signal-safe; guarded reads, bounded loops.
 */
#ifndef JTOP_AGENT_WALK_WALK_H
#define JTOP_AGENT_WALK_WALK_H

#include "core/agent/precise/precise.h"
#include "core/agent/process/libraries.h"
#include "core/agent/process/registers.h"
#include "core/agent/walk/frame_cache.h"
#include "core/agent/walk/last_stack.h"
#include "core/agent/walk/names.h"
#include "core/wire/unwind.h"

struct stack {
    uint64_t *frame; /* leaf first */
    uint32_t n, max;
    uint32_t java, java_max; /* Java frames so far, and their maximum */
    enum wire_failure failure;
    uint64_t virtual_id; /* ID of the virtual thread that owns the frames; 0: none */
};

struct walker {
    const struct vm *vm;
    struct names *names;
    const struct libraries *libraries;
    const struct wire_unwind *unwind; /* NULL: no tables */
    struct precise *precise;
    struct frame_cache *cache; /* NULL: none */
    struct last_stack *last;   /* table of last_stacks_map; NULL: none */
    enum wire_walk walk;
    uint32_t features;        /* set of enum wire_feature */
    const uintptr_t *sleeper; /* JavaThread* (or 0) of the sleeping thread whose stack is walked;
                                 NULL: the calling thread is walked */
};

static inline bool stack_add(struct stack *s, uint64_t frame) {
    if (s->n == s->max)
        return false;
    s->frame[s->n++] = frame;
    return true;
}

/* Appends the frames of the calling thread (or of w->sleeper), interrupted at `r`, to `s`. w->walk
 * selects the method, any but WIRE_WALK_ASGCT. The walk ends at the thread's entry; at the first
 * Java frame called by the VM, unless native frames below it are wanted; at the limits of `s`; or
 * with an error frame and s->failure set. */
void walk_vm(const struct walker *w, const struct registers *r, struct stack *s);

/* Finds the nearest frame above `sp` that is linked by frame pointers, and returns its address: the
 * frame pointer of a thread that sleeps in code which does not change that register. 0: none. */
uintptr_t walk_find_link(const struct walker *w, uintptr_t sp, uintptr_t limit);

/* Adds native frames from `pc`, as long as sp is below `limit` and pc is in a loaded library. The
 * leaf's pc is always added. Returns the first pc in generated code, with *sp and *fp of its frame;
 * or 0. */
uintptr_t walk_native(const struct walker *w, uintptr_t pc, uintptr_t *sp, uintptr_t *fp,
                      uintptr_t limit, struct stack *s);

#endif
