/*
 * The lines above the views: which JVM, how it is, how good the profile is, which events there are
 * where there are several; and the line that says which view is up and what part of the samples it
 * shows.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_HEADER_H
#define JTOP_TUI_VIEW_HEADER_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

/* Draws from row 0 on; returns how many rows. Figures that do not fit are left out, least important
 * first. */
int header_draw(struct canvas *c, const struct model *m);

/* The tabs, the question, and the state, in this row. */
void header_draw_tabs(struct canvas *c, int row, const struct model *m, enum live_view view);

/* The view whose tab is at this column of the tabs' row as drawn; -1: none. */
int header_tab_at(const struct canvas *c, const struct model *m, enum live_view view, int col);

/* What there is to say of the session without being asked: JVM gone, a warning, an event that
 * cannot be sampled, another walker, what --precise does, why this mechanism. "" for nothing.
 * Returns out. */
const char *header_notice(const struct model *m, char *out, size_t size);

#endif
