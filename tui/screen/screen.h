/*
 * Files:
 *   jvm_tabs      open JVMs as tabs, each with session, model and screen
 *   live          event loop of the live screen, from JVM picker to views
 *   live_batch    --batch: the live screen's frames printed as text
 *   live_plain    --plain: line-based mode for screen readers
 *   live_setup    setup shared by the live modes: locale, settings, session
 *   picker        list of JVMs to choose from
 *   picker_table  columns, sort order and rows of the JVM picker
 *   plain_page    a screen converted to lines that can be read aloud
 *   save          saving what is on screen to a file
 *   screen        whole live screen without a terminal: keys in, picture out
 *   screen_draw   drawing of the whole screen
 *   screen_jump   jump from a row of one view to the same item in another
 *   screen_state  internal state of the screen, shared by its files
 *   screen_time   commands for time range, pause and comparison
 *   screen_type   input line for filter, search and pipe command
 *
 * The whole live screen without a terminal: presses go in, a canvas comes out.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_SCREEN_H
#define JTOP_TUI_SCREEN_SCREEN_H

#include "tui/model/model.h"
#include "tui/screen/live.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/press.h"

/* Smaller than this, only a notice is drawn. */
#define SCREEN_ROWS_MIN 10
#define SCREEN_COLS_MIN 40

/* What a press asks of the caller. */
enum screen_wish {
    SCREEN_NOTHING, /* draw again, that is all */
    SCREEN_QUIT,
    SCREEN_SAVE,   /* write screen_format(), and say so with screen_say */
    SCREEN_RECORD, /* begin or end recording the stream */
    SCREEN_COPY,   /* screen_text() to the clipboard */
    SCREEN_PIPE,   /* screen_table() to the command screen_text() */
    SCREEN_MOUSE,  /* mouse on or off */
    SCREEN_NEW_TAB,
    SCREEN_NEXT_TAB,
    SCREEN_PREVIOUS_TAB,
    SCREEN_CLOSE_TAB,
    SCREEN_REDRAW, /* send the whole screen */
};

struct screen;

/* The model is the caller's and outlives the screen. NULL: no memory. */
struct screen *screen_new(struct model *m, enum live_view view);
void screen_free(struct screen *s);

enum live_view screen_view(const struct screen *s);

/* The person changed what is to be sampled: draw, then have the session told, then refresh. */
bool screen_wants_switch(const struct screen *s);
void screen_switch(struct screen *s);

enum screen_wish screen_press(struct screen *s, int32_t press);
enum screen_wish screen_mouse(struct screen *s, const struct mouse *at);
/* The view up wants to hear where the mouse moves. */
bool screen_hovers(const struct screen *s);

/* What the last wish is about: a format of exporters[] ("svg"); text. */
const char *screen_format(const struct screen *s);
const char *screen_text(const struct screen *s);
/* The rows of the view, as on a screen of any height. */
void screen_table(struct screen *s, struct text *out);

/* Bytes a second that went to the terminal, for the status line; and the other JVMs that are
 * open: a line above everything. NULL, 0: none. Strings are not kept. */
void screen_line_rate(struct screen *s, uint64_t bytes_per_second, bool slow);
struct screen_tab {
    const char *name; /* "shop.Demo 28055" */
    bool on, ended;
};
void screen_set_tabs(struct screen *s, const struct screen_tab *tab, int count);

/* The model was refreshed. */
void screen_update(struct screen *s);

/* A line for the status row; it stays until the next one, or until the session has something new
 * to say. */
void screen_say(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Draws everything; the caret may be NULL. */
void screen_draw(struct screen *s, struct canvas *c, struct caret *caret);

/* Draws header and view without status and footer: a frame of --batch. */
void screen_draw_batch(struct screen *s, struct canvas *c);

/* Draws, on a terminal that is too small, that it is. False where it is not. */
bool screen_too_small(struct canvas *c);

#endif
