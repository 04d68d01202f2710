/*
 * A grid of cells that views draw into: text and roles, without a terminal. The grid is then sent
 * to the terminal (escapes.h) or written as plain text (canvas_dump), so a screen can be tested
 * without a terminal.
 *
 * Text is UTF-8 and may be hostile. A control or formatting character, an invalid byte and a
 * character without a width are drawn as '?'. Wide characters take two cells; combining marks join
 * their base character. Drawing outside of the grid is cut, and never an error.
 *
 * Context: frontend main thread. Widths come from wcwidth: LC_CTYPE must be a UTF-8 locale unless
 * `ascii_text` is set.
 */
#ifndef JTOP_TUI_TERMINAL_CANVAS_H
#define JTOP_TUI_TERMINAL_CANVAS_H

#include "core/base/text.h"
#include "tui/terminal/theme.h"

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#define CELL_MARKS 2 /* combining marks kept on a base character */

struct cell {
    wchar_t text[1 + CELL_MARKS]; /* base and marks; unused entries are 0 */
    uint8_t width;                /* 1 or 2; 0: right half of the wide character to the left */
    uint8_t role;                 /* enum role */
    uint16_t reserved;            /* 0, because cells are compared with memcmp */
};

struct canvas {
    int rows, cols;
    bool ascii_lines; /* the glyphs below are drawn in ASCII */
    bool ascii_text;  /* every character that is not ASCII becomes '?' */
    struct cell *cells;
};

/* A part of the grid. */
struct area {
    int row, col, rows, cols;
};

/* Position of the hardware caret. A hidden caret is still moved to the selected row, because screen
 * readers read there. */
struct caret {
    int row, col;
    bool visible;
};

enum glyph {
    GLYPH_ELLIPSIS,
    GLYPH_PLUS_MINUS,
    GLYPH_OPEN,   /* an open fold */
    GLYPH_CLOSED, /* a closed fold */
    GLYPH_LEAF,   /* nothing to open */
    GLYPH_BRANCH, /* tree lines */
    GLYPH_LAST,
    GLYPH_PIPE,
    GLYPHS
};

/* Resizes the grid to rows × cols blank cells, at least 1 × 1. -ENOMEM: the grid is unchanged.
 * Start from a zeroed struct. */
int canvas_resize(struct canvas *c, int rows, int cols);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);

/* Returns the glyph as text, one column wide; `ascii_lines` selects ASCII. */
const char *canvas_glyph(const struct canvas *c, enum glyph g);

/* Returns the number of columns that the text takes. */
int canvas_width(const struct canvas *c, const char *s);

/* Draws at most `cols` columns of `s` from (row, col) on. Returns the number of columns drawn. */
int canvas_text(struct canvas *c, int row, int col, int cols, enum role role, const char *s);
int canvas_textf(struct canvas *c, int row, int col, int cols, enum role role, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* The same, right-aligned in `cols`. Text that does not fit is cut at the end. */
void canvas_right(struct canvas *c, int row, int col, int cols, enum role role, const char *s);
/* The same as canvas_text, but text that does not fit is cut at the beginning, with an ellipsis:
 * the end of a method's name is more useful than its package. Returns the number of columns
 * drawn. */
int canvas_tail(struct canvas *c, int row, int col, int cols, enum role role, const char *s);
/* The same, cut at the end with an ellipsis. */
int canvas_head(struct canvas *c, int row, int col, int cols, enum role role, const char *s);

/* The same, cut in the middle: numbered names differ at the end. */
int canvas_middle(struct canvas *c, int row, int col, int cols, enum role role, const char *s);

/* Gives cells another role, without changing their text. */
void canvas_role(struct canvas *c, int row, int col, int cols, enum role role);

/* Appends the grid as UTF-8 lines without trailing blanks. */
void canvas_dump(const struct canvas *c, struct text *out);

#endif
