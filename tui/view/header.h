/*
 * The lines above the views: the JVM and its state, the quality of the profile, and its events if
 * there are several. The last line shows which view is on screen, and what part of the samples it
 * shows.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_HEADER_H
#define JTOP_TUI_VIEW_HEADER_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

/* Draws from row 0 on, and returns the number of rows. Figures that do not fit are left out, least
 * important first. */
int header_draw(struct canvas *c, const struct model *m);

/* Writes the most important notice about the session: JVM gone, a warning, an event that cannot be
 * sampled, another walker, what --precise does, why this mechanism. "" if there is none. *minor:
 * it is only the last of these, and other things may be shown in its place. Returns out. */
const char *header_notice(const struct model *m, bool *minor, char *out, size_t size);

#endif
