/*
 * Pieces of the charts of weight over time: scale, columns, pauses of the VM.
 *
 * Context: pure, frontend main thread.
 */
#ifndef JTOP_TUI_WIDGET_CHART_H
#define JTOP_TUI_WIDGET_CHART_H

#include "tui/terminal/canvas.h"

#include <stdbool.h>
#include <stdint.h>

#define CHART_LABEL_COLS 9 /* left of a chart: its scale and a blank */

/* Returns the next of 1, 2, 5, 10 and so on of the unit ("ns", "bytes" …) that is not below `most`:
 * the scale, and with it the whole chart, changes seldom. */
uint64_t chart_scale(uint64_t most, const char *unit);

/* Draws a column over all rows of the area, from its bottom. `a.cols` columns are equal. A weight
 * above 0 is always visible; `scale` fills the column. */
void chart_column(struct canvas *c, struct area a, enum role role, uint64_t weight, uint64_t scale);

/* Draws the scale, right-aligned before the last column of CHART_LABEL_COLS. CPU time is in percent
 * of one core; other weights are per second, in their unit. */
void chart_label(struct canvas *c, int row, int col, bool cpu, const char *unit, uint64_t scale);

/* Draws the pauses of a second or of several: g G collections, s S other safepoints; a capital letter
 * from 100 ms on. Nothing below 1 ms, which explains no dip. `most_ns` is the worst second. */
void chart_pause(struct canvas *c, int row, int col, const uint64_t paused_ns[2], uint64_t most_ns);

#endif
