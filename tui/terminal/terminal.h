/*
 * Files:
 *   canvas            grid of character cells that views draw into
 *   colour            colour arithmetic: nearest colour, contrast, colour blindness
 *   escapes           shortest byte sequence that updates the terminal to a canvas
 *   input             decoder of terminal input: keys, mouse, pasted text
 *   look              colours and attributes of a cell, and sequences that change them
 *   loop              poll loop for keys, signals and output; slower refresh on slow lines
 *   pipe              running a shell command with a table as its input (less, grep)
 *   press             codes of keys and mouse actions
 *   press_name        names of keys, parsed and printed
 *   terminal          the terminal: open, show a canvas, read keys, restore
 *   terminal_signals  signals as poll events, and terminal reset on fatal signals
 *   terminfo          terminal capabilities from the terminfo database
 *   theme             roles of screen elements, and themes that give them colours
 *   theme_check       check of a theme for contrast and distinguishable colours
 *
 * The terminal: a canvas goes out, presses come in. Only what changed is sent (emit.h), and
 * nothing here waits for the terminal to take it: what it does not take stays in a buffer.
 * However the process ends, the terminal is put back (signals.h); needs signals_open before.
 *
 * How far the other end is behind is asked of it: after a frame it is told to say "here I am"
 * (DSR 5), which it does when it has come to that. Buffers on the way (ssh's hold megabytes) hide a
 * slow line from write(2), but not from this.
 *
 * Context: frontend main thread. One at a time.
 */
#ifndef JTOP_TUI_TERMINAL_TERMINAL_H
#define JTOP_TUI_TERMINAL_TERMINAL_H

#include "core/base/err.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/press.h"
#include "tui/terminal/theme.h"

#include <stdbool.h>

struct terminal;

/* Fails where stdin or stdout is no terminal or TERM is not known; the message says what to try. */
int terminal_open(struct terminal **out, const struct theme *theme, bool mono, struct err *e);
void terminal_close(struct terminal *t);

/* The size as the terminal has it now. */
void terminal_size(struct terminal *t, int *rows, int *cols);

/* Adds what shows the canvas to what is to be sent, and sends what the terminal takes now. Wait
 * until !terminal_pending before the next one. */
void terminal_show(struct terminal *t, const struct canvas *c, const struct caret *at);
/* The next terminal_show sends everything: somebody else may have written to the screen. */
void terminal_redraw(struct terminal *t);

/* Whether bytes wait for the terminal; terminal_flush sends what it takes now (poll
 * terminal_out_fd for POLLOUT). */
bool terminal_pending(const struct terminal *t);
void terminal_flush(struct terminal *t);
/* Whether it has not come to the last frame yet. False where it never says. */
bool terminal_behind(struct terminal *t);
/* How long the last frame took to the terminal and its answer back, ns, and how many frames that
 * is known of; while one is under way, terminal_behind_ns is the time so far (else 0). */
uint64_t terminal_delay_ns(const struct terminal *t, unsigned *frames);
uint64_t terminal_behind_ns(const struct terminal *t);

/* Gives the terminal to somebody else, a pager for one: as it was before terminal_open. */
void terminal_leave(struct terminal *t);
/* After somebody else had the terminal: its modes are set again, and everything is sent. */
void terminal_resume(struct terminal *t);

/* Bytes sent so far. */
uint64_t terminal_bytes(const struct terminal *t);
/* Puts text into the clipboard of the terminal itself (OSC 52), wherever it runs; most take up to
 * 100,000 bytes in base 64. False where the terminal has no such thing (TERM=linux, vt100), or
 * there is more. */
bool terminal_copy(struct terminal *t, const char *text, size_t length);
/* Mouse presses come as PRESS_MOUSE; off at first, and off again whenever the terminal is given
 * back. `hover`: movements without a button too. */
void terminal_use_mouse(struct terminal *t, bool on, bool hover);
/* What the last PRESS_MOUSE was. */
struct mouse terminal_mouse(const struct terminal *t);

/* Takes the bytes that are there; false where there is none. */
bool terminal_read(struct terminal *t);
/* The next press (press.h), PRESS_NONE for one without meaning, or -1 when there is none now. */
int32_t terminal_press(struct terminal *t);
/* Whether terminal_press has one; and when it will, though no byte comes (an escape that stays
 * alone); 0: not before. */
bool terminal_pressed(struct terminal *t);
uint64_t terminal_press_due(const struct terminal *t);
int terminal_fd(const struct terminal *t);
int terminal_out_fd(const struct terminal *t);

/* Gives the terminal back, stops the process, and returns when it is continued: then
 * terminal_resume. */
void terminal_suspend(struct terminal *t);

#endif
