/*
 * The linear mode, --plain, for screen readers, braille lines, and terminals that cannot move a
 * cursor. Lines are printed to stdout and never overwritten. A typed line is taken as keys, as on
 * the screen. No escape sequence is sent, and stdin and stdout may be pipes.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_LIVE_PLAIN_H
#define JTOP_TUI_SCREEN_LIVE_PLAIN_H

#include "tui/screen/live.h"

/* As live_run. Ends with the key q, or at the end of its input. */
int live_plain(const struct live_options *o, struct err *e);

#endif
