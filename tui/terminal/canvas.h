/*
 * A grid of cells that views draw into: text and roles, no terminal. It goes to the terminal
 * (emit.h) or to plain text (canvas_dump), so a screen can be tested without a terminal.
 *
 * Text is UTF-8 and hostile: a control or formatting character, an invalid byte and anything that
 * has no width comes out as '?'. Wide characters take two cells, combining marks join their base.
 * Drawing outside of the grid is cut, never an error.
 *
 * Context: frontend main thread. Widths come from wcwidth: LC_CTYPE must be a UTF-8 locale
 * unless `ascii_text` is set.
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
    wchar_t text[1 + CELL_MARKS]; /* base and marks, 0 fills up */
    uint8_t width;                /* 1 or 2; 0: right half of the wide one to the left */
    uint8_t role;                 /* enum role */
    uint16_t reserved;            /* 0: cells are compared with memcmp */
};

struct canvas {
    int rows, cols;
    bool ascii_lines; /* glyphs below in ASCII */
    bool ascii_text;  /* whatever is not ASCII becomes '?' */
    struct cell *cells;
};

/* A part of the grid. */
struct area {
    int row, col, rows, cols;
};

/* Where the hardware caret stands; a hidden one is still moved to the selected row, which is
 * where a screen reader looks. */
struct caret {
    int row, col;
    bool visible;
};

enum glyph {
    GLYPH_ELLIPSIS,
    GLYPH_PLUS_MINUS,
    GLYPH_OPEN,   /* a fold that is open */
    GLYPH_CLOSED, /* one that is closed */
    GLYPH_LEAF,   /* nothing to open */
    GLYPH_BRANCH, /* tree lines */
    GLYPH_LAST,
    GLYPH_PIPE,
    GLYPHS
};

/* Makes it rows × cols blank cells. -ENOMEM: it stays as it was. Start from a zeroed struct. */
int canvas_resize(struct canvas *c, int rows, int cols);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);

/* The glyph as text, by ascii_lines. One column wide. */
const char *canvas_glyph(const struct canvas *c, enum glyph g);

/* Columns the text takes. */
int canvas_width(const struct canvas *c, const char *s);

/* Draws at most `cols` columns of `s` from (row, col) on. Returns the columns drawn. */
int canvas_text(struct canvas *c, int row, int col, int cols, enum role role, const char *s);
int canvas_textf(struct canvas *c, int row, int col, int cols, enum role role, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Same, right-aligned in `cols`; what does not fit is cut at the end. */
void canvas_right(struct canvas *c, int row, int col, int cols, enum role role, const char *s);
/* Same as canvas_text; what does not fit is cut at the beginning, with an ellipsis: the end of a
 * method's name says more than its package. Returns the columns drawn. */
int canvas_tail(struct canvas *c, int row, int col, int cols, enum role role, const char *s);
/* Same; cut at the end, with an ellipsis. */
int canvas_head(struct canvas *c, int row, int col, int cols, enum role role, const char *s);

/* Same; cut in the middle: numbered names differ at the end. */
int canvas_middle(struct canvas *c, int row, int col, int cols, enum role role, const char *s);

/* Gives cells another role, text untouched. */
void canvas_role(struct canvas *c, int row, int col, int cols, enum role role);

/* The grid as UTF-8 lines without trailing blanks. */
void canvas_dump(const struct canvas *c, struct text *out);

#endif
