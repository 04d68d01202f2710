/*
 * The terminal through curses: a canvas goes out, presses come in. Only what changed is sent.
 * However the process ends, the terminal is put back (signals.h); needs signals_open before.
 *
 * Context: frontend main thread. One at a time.
 */
#ifndef JTOP_TUI_TERMINAL_H
#define JTOP_TUI_TERMINAL_H

#include "core/base/err.h"
#include "tui/canvas.h"
#include "tui/theme.h"

#include <stdbool.h>

struct terminal;

/* Fails where stdin or stdout is no terminal or TERM is not known; the message says what to try. */
int terminal_open(struct terminal **out, const struct theme *theme, bool mono, struct err *e);
void terminal_close(struct terminal *t);

/* The size as the terminal has it now; curses is told. */
void terminal_size(struct terminal *t, int *rows, int *cols);

/* False while the terminal does not take output (^S, a slow link): drawing would block. */
bool terminal_writable(const struct terminal *t);
void terminal_show(struct terminal *t, const struct canvas *c, const struct caret *at);
/* The next terminal_show sends everything: somebody else may have written to the screen. */
void terminal_redraw(struct terminal *t);

/* After somebody else had the terminal: its modes are set again, and everything is sent. */
void terminal_resume(struct terminal *t);

/* The next press (press.h), PRESS_NONE for one without meaning, or -1 when there is none now. */
int32_t terminal_press(struct terminal *t);
int terminal_fd(const struct terminal *t);

/* Gives the terminal back, stops the process, and takes it again when continued. */
void terminal_suspend(struct terminal *t);

#endif
