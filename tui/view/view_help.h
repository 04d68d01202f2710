/*
 * The help screen, made from the key table: first the keys of one place, then all.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_VIEW_VIEW_HELP_H
#define JTOP_TUI_VIEW_VIEW_HELP_H

#include "tui/key/keymap.h"
#include "tui/terminal/canvas.h"
#include "tui/widget/line_editor.h"

struct help_ask {
    const struct keymap *keys;        /* keys in force; NULL: the default keys */
    unsigned scope;                   /* the view whose own keys come first; 0: none */
    const char *place;                /* name of that view */
    const struct line_editor *search; /* only lines with this text; NULL: there is no search */
    int top;                          /* first line on screen */
};

/* Draws the help over the whole canvas. `caret` is where a search is typed. Returns the largest
 * useful `top`. */
int view_help_draw(struct canvas *c, const struct help_ask *ask, struct caret *caret);

#endif
