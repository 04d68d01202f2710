/*
 * How much a frame of a flame graph changed, and the colour that shows it: red for more, blue for
 * less, a stronger colour for a larger change; grey if the change may be chance.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_FRAME_CHANGE_H
#define JTOP_EXPORT_FRAME_CHANGE_H

#include "core/export/frame_walk.h"
#include "core/profile/snapshot/diff.h"

/* Returns the change of a frame. If several nodes form the frame, it is their sum. */
struct diff_change frame_change(const struct diff *d, const struct snapshot *s,
                                const struct walked_frame *f);

#define CHANGE_SHADES 9 /* from much less (0) over unchanged (4) to much more (8) */

unsigned frame_change_shade(struct diff_change c);
uint32_t frame_change_colour(unsigned shade);

#endif
