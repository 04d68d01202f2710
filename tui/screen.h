/*
 * The whole live screen without a terminal: presses go in, a canvas comes out.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_H
#define JTOP_TUI_SCREEN_H

#include "tui/canvas.h"
#include "tui/live.h"
#include "tui/model.h"

/* Smaller than this, only a notice is drawn. */
#define SCREEN_ROWS_MIN 10
#define SCREEN_COLS_MIN 40

/* What a press asks of the caller. */
enum screen_wish {
    SCREEN_NOTHING, /* draw again, that is all */
    SCREEN_QUIT,
    SCREEN_SAVE,   /* write the picture, and say so with screen_say */
    SCREEN_REDRAW, /* send the whole screen */
};

struct screen;

/* The model is the caller's and outlives the screen. NULL: no memory. */
struct screen *screen_new(struct model *m, enum live_view view);
void screen_free(struct screen *s);

enum live_view screen_view(const struct screen *s);
enum screen_wish screen_press(struct screen *s, int32_t press);

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
