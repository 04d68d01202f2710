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
 * The terminal: a canvas is sent, presses are received. Only changes are sent (escapes.h), and
 * nothing here waits for the terminal to accept them: output that it does not accept yet stays in a
 * buffer. The terminal is restored however the process ends (terminal_signals.h); call signals_open
 * first.
 *
 * To find out how far the terminal is behind, we send it a status request (DSR 5) after a frame.
 * The terminal answers when it has processed the frame. Buffers on the way (ssh's hold megabytes)
 * hide a slow line from write(2), but not from this request.
 *
 * Why this is not drawn with curses: the terminal's description comes from curses (terminfo.h), but
 * cells and keys are our own. For the same frames, curses sends 1.1 to 1.9 times the bytes, and takes
 * twice the time (make bench ONLY=frame). It waits for the terminal in write(2). It knows a key only
 * if all of its bytes come within the time for Esc, and gives the bytes of any other sequence as typed
 * characters, which are commands here (make bench ONLY=keys).
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

/* Fails if stdin or stdout is no terminal, or TERM is not known; the message suggests what to
 * try. */
int terminal_open(struct terminal **out, const struct theme *theme, bool mono, struct err *e);
void terminal_close(struct terminal *t);

/* Gets the terminal's current size. */
void terminal_size(struct terminal *t, int *rows, int *cols);

/* Adds the bytes that show the canvas to the output, and sends what the terminal accepts now.
 * Before the next call, wait until !terminal_pending. */
void terminal_show(struct terminal *t, const struct canvas *c, const struct caret *at);
/* The next terminal_show sends everything, because another program may have written to the
 * screen. */
void terminal_redraw(struct terminal *t);

/* terminal_pending: true if output waits for the terminal. terminal_flush sends what the terminal
 * accepts now (poll terminal_out_fd for POLLOUT). */
bool terminal_pending(const struct terminal *t);
void terminal_flush(struct terminal *t);
/* True if the terminal has not processed the last frame yet. False if it never answers. */
bool terminal_behind(struct terminal *t);
/* terminal_delay_ns returns the time in ns from sending the last frame to the terminal's answer,
 * and sets the number of frames answered so far. terminal_behind_ns returns the time since a frame
 * was sent that has no answer yet; 0: there is none. */
uint64_t terminal_delay_ns(const struct terminal *t, unsigned *frames);
uint64_t terminal_behind_ns(const struct terminal *t);

/* Gives the terminal to another program, such as a pager, as it was before terminal_open. */
void terminal_leave(struct terminal *t);
/* Takes the terminal back from another program: sets its modes again, and sends everything. */
void terminal_resume(struct terminal *t);

/* Returns the number of bytes sent so far. */
uint64_t terminal_bytes(const struct terminal *t);
/* Puts text into the terminal's own clipboard (OSC 52), wherever the terminal runs. Most terminals
 * accept up to 100,000 bytes in base 64. False if the terminal has no clipboard (TERM=linux,
 * vt100), or the text is longer. */
#define TERMINAL_COPY_MOST ((size_t)75000) /* bytes */
bool terminal_copy(struct terminal *t, const char *text, size_t length);
/* Switches mouse presses on, which come as PRESS_MOUSE. They are off at first, and while the
 * terminal is given back. `hover`: movements without a button come too. */
void terminal_use_mouse(struct terminal *t, bool on, bool hover);
/* Returns the data of the last PRESS_MOUSE. */
struct mouse terminal_mouse(const struct terminal *t);

/* Reads the available bytes. False if there are none. */
bool terminal_read(struct terminal *t);
/* Returns the next press (press.h), PRESS_NONE for a press without meaning, or -1 if there is none
 * now. */
int32_t terminal_press(struct terminal *t);
/* terminal_pressed: true if terminal_press has a press. terminal_press_due returns when it will
 * have one even if no byte comes (an escape without a sequence); 0: only after a byte. */
bool terminal_pressed(struct terminal *t);
uint64_t terminal_press_due(const struct terminal *t);
int terminal_fd(const struct terminal *t);
int terminal_out_fd(const struct terminal *t);

/* Gives the terminal back and stops the process. Returns when the process is continued; then call
 * terminal_resume. */
void terminal_suspend(struct terminal *t);

#endif
