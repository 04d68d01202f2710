/*
 * Turns a canvas into the bytes that make a terminal show it: only what differs from the last one,
 * by the shortest sequences the terminal knows. Cells are compared by how they look, not by role,
 * and a blank has no foreground.
 *
 * Nothing is written here: bytes go to a text, so tests read them back without a terminal.
 *
 * Context: frontend main thread; terminfo_open was called and its entry is still there.
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
    bool rgb;  /* the terminal takes 24 bits of colour */
};

/* `ti` is kept, the theme is not. NULL: no memory. */
struct emit *emit_new(const struct terminfo *ti, const struct theme *theme,
                      const struct emit_options *o);
void emit_free(struct emit *e);

/* Nothing is known of the screen any more: the next frame clears it and is whole. */
void emit_forget(struct emit *e);

/* Appends what makes the screen show `c`, with the caret there. Where memory runs out (out is
 * failed then), the next frame is whole. */
void emit_frame(struct emit *e, const struct canvas *c, const struct caret *caret,
                struct text *out);

#endif
