/*
 * How a frame of a flame graph changed, and the colour that says so: red for more, blue for less,
 * stronger the larger the change; grey where chance would do.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_WEB_FRAME_CHANGE_H
#define JTOP_EXPORT_WEB_FRAME_CHANGE_H

#include "core/export/frame_walk.h"
#include "core/profile/snapshot/diff.h"

/* Of a frame made of several nodes: the sum. */
struct diff_change frame_change(const struct diff *d, const struct snapshot *s,
                                const struct walked_frame *f);

#define CHANGE_SHADES 9 /* from much less (0) over none (4) to much more (8) */

unsigned frame_change_shade(struct diff_change c);
uint32_t frame_change_colour(unsigned shade);

#endif
