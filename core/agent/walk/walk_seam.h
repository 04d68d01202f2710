/*
 * Where native and Java frames meet on a stack. The VM leaves a note of the last Java frame when it
 * goes from Java to native code, in the thread's JavaFrameAnchor; a call back into Java moves the
 * note to a JavaCallWrapper in the VM's own frame:
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
    struct cursor java;   /* the innermost Java frame by the VM's note; pc 0: there is none */
};

/* Reads a JavaFrameAnchor; false, and pc 0, when there is no Java frame in it. */
bool seam_read_anchor(const struct walk *k, uintptr_t anchor, struct cursor *out);

/* From an entry frame to the native code that called Java, and the Java frame that called that. */
bool seam_at_entry(struct walk *k, const struct cursor *at, struct seam *seam);

/* Generated code that the VM itself called, a stub: adds it and steps to its native caller. */
bool seam_leave_stub(struct walk *k, struct cursor *at);

/* Adds the native frames, up to the Java frame behind them. `innermost`: they are the stack's leaf.
 * False: the walk is over. */
bool seam_cross(struct walk *k, struct seam *seam, bool innermost, struct cursor *java);

#endif
