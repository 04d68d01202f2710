/*
 * Turns a canvas into the bytes that make a terminal show it. Only cells that differ from the last
 * canvas are sent, with the shortest sequences that the terminal knows. Cells are compared by look,
 * not by role; a blank has no foreground.
 *
 * Nothing is written to the terminal here: bytes are appended to a text, so tests read them without
 * a terminal.
 *
 * Context: frontend main thread; terminfo_open was called, and its entry is still loaded.
 */
#ifndef JTOP_TUI_TERMINAL_ESCAPES_H
#define JTOP_TUI_TERMINAL_ESCAPES_H

#include "tui/terminal/canvas.h"
#include "tui/terminal/terminfo.h"
#include "tui/terminal/theme.h"

#include <stdbool.h>

struct emit;

struct emit_options {
    bool mono; /* no colour */
    bool rgb;  /* the terminal supports 24-bit colours */
};

/* Keeps `ti`, but not the theme. NULL: no memory. */
struct emit *emit_new(const struct terminfo *ti, const struct theme *theme,
                      const struct emit_options *o);
void emit_free(struct emit *e);

/* Forgets what is on the screen: the next frame clears the screen and draws everything. */
void emit_forget(struct emit *e);

/* Appends the bytes that make the screen show `c` and the caret. If memory runs out (`out` is
 * failed then), the next frame draws everything. */
void emit_frame(struct emit *e, const struct canvas *c, const struct caret *caret,
                struct text *out);

#endif
