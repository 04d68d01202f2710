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
 *   screen_ask    what the view on screen needs of the model, and its answer
 *   screen_detail detail pane beside a list: when it is open, and when it asks
 *   screen_draw   drawing of the whole screen
 *   screen_jump   jump from a row of one view to the same item in another
 *   screen_menu   menus in the status line: file formats, columns to sort by
 *   screen_palette  commands typed by their names
 *   screen_place  places the user came through, and the way back
 *   screen_stacks page of the stacks of this moment, as jstack prints them
 *   screen_state  internal state of the screen, shared by its files
 *   screen_tags   tagging of rows, and what is done with all tagged rows
 *   screen_time   commands for time range, pause and comparison
 *   screen_type   input line for filter, search and pipe command
 *   stack_page    a thread dump as lines to read
 *   stack_request request to the JVM for a thread dump, in a thread of its own
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

/* On a smaller screen, only a notice is drawn. */
#define SCREEN_ROWS_MIN 10
#define SCREEN_COLS_MIN 40

/* What a press requests from the caller. */
enum screen_wish {
    SCREEN_NOTHING, /* only draw again */
    SCREEN_QUIT,
    SCREEN_SAVE,   /* write the format screen_format(), and report it with screen_say */
    SCREEN_RECORD, /* start or end the recording of the stream */
    SCREEN_COPY,   /* copy screen_text() to the clipboard */
    SCREEN_PIPE,   /* pipe screen_table() to the command screen_text() */
    SCREEN_MOUSE,  /* switch the mouse on or off */
    SCREEN_NEW_TAB,
    SCREEN_NEXT_TAB,
    SCREEN_PREVIOUS_TAB,
    SCREEN_CLOSE_TAB,
    SCREEN_REDRAW,      /* send the whole screen */
    SCREEN_SAVE_STACKS, /* write screen_stacks_dump(), and report it with screen_say */
};

struct screen;

/* The caller owns the model, which outlives the screen. NULL: no memory. */
struct screen *screen_new(struct model *m, enum live_view view);
void screen_free(struct screen *s);

enum live_view screen_view(const struct screen *s);

/* True if the user changed what is sampled. The caller then draws, calls screen_switch, which
 * passes that to the session, and refreshes. */
bool screen_wants_switch(const struct screen *s);
void screen_switch(struct screen *s);

enum screen_wish screen_press(struct screen *s, int32_t press);
enum screen_wish screen_mouse(struct screen *s, const struct mouse *at);
/* True if the view on screen needs the mouse's movements. */
bool screen_hovers(const struct screen *s);

/* The data of the last wish: a format of exporters[] ("svg"); a text. */
const char *screen_format(const struct screen *s);
const char *screen_text(const struct screen *s);
/* Appends the rows of the view, as on a screen of 10,000 rows. */
void screen_table(struct screen *s, struct text *out);

/* screen_line_rate sets the bytes sent to the terminal per second, for the status line.
 * screen_set_tabs sets the open JVMs, for a line above everything; NULL, 0: no line. Strings are
 * copied. */
void screen_line_rate(struct screen *s, uint64_t bytes_per_second, bool slow);
struct screen_tab {
    const char *name; /* "shop.Demo 28055" */
    bool on, ended;
};
void screen_set_tabs(struct screen *s, const struct screen_tab *tab, int count);

/* Call this after the model was refreshed. */
void screen_update(struct screen *s);

/* Asks the profile for what the detail pane shows, if that is due. Call this before screen_draw, and
 * again at the time that it returns (of `clock`); UINT64_MAX: not needed. */
uint64_t screen_rest(struct screen *s, uint64_t (*clock)(void));

/* Puts a line into the status row. It stays until the next line, or until the session has a new
 * notice. */
void screen_say(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True while an answer of the JVM with its stacks is due: draw again soon, it is then shown. */
bool screen_waits(const struct screen *s);
/* The JVM's own text of the stacks on screen. */
const char *screen_stacks_dump(const struct screen *s, size_t *bytes);
/* Appends what screen_draw has drawn of the page of stacks, as lines. False: another page is on
 * screen. */
bool screen_stacks_page(struct screen *s, struct text *out);

/* Draws everything; the caret may be NULL. */
void screen_draw(struct screen *s, struct canvas *c, struct caret *caret);

/* Draws header and view without status and footer: a frame of --batch. */
void screen_draw_batch(struct screen *s, struct canvas *c);

/* If the terminal is too small, draws a notice and returns true. */
bool screen_too_small(struct canvas *c);

#endif
