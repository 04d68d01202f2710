/*
 * Transitions between native and Java frames on a stack. When Java code calls native code, the VM
 * records the last Java frame in the thread's JavaFrameAnchor. When native code calls Java, the VM
 * moves this record to a JavaCallWrapper in a frame of its own:
 *
 *      Java … │ JNI function, the VM │ call stub, Java … │ JNI function, the VM   ◀ leaf
 *        ▲ wrapper's anchor ┘ ▲ wrapper    └ entry frame ▲ thread's anchor ┘
 *
 * Context: signal-safe; guarded reads, bounded loops.
 */
#ifndef JTOP_AGENT_WALK_WALK_SEAM_H
#define JTOP_AGENT_WALK_WALK_SEAM_H

#include "core/agent/walk/walk_frames.h"

/* Native frames, and the Java frames that called them. */
struct seam {
    struct cursor native; /* the innermost native frame */
    struct cursor java;   /* the innermost Java frame, as the VM recorded it; pc 0: none */
};

/* Reads a JavaFrameAnchor. False, with pc 0: it has no Java frame. */
bool seam_read_anchor(const struct walk *k, uintptr_t anchor, struct cursor *out);

/* From an entry frame, finds the native code that called Java, and the Java frame that called this
 * native code. False: the walk has failed. */
bool seam_at_entry(struct walk *k, const struct cursor *at, struct seam *seam);

/* For a stub that the VM called directly: adds its frame and steps to its native caller. False:
 * `at` is not in such a stub, or the walk has failed. */
bool seam_leave_stub(struct walk *k, struct cursor *at);

/* Adds the native frames up to the Java frame that called them, which goes to `java`. `innermost`:
 * they include the stack's leaf. False: the walk is over. */
bool seam_cross(struct walk *k, struct seam *seam, bool innermost, struct cursor *java);

#endif
