/*
 * The linear mode, --plain, for screen readers, braille lines, and terminals that cannot move a
 * cursor: lines go to stdout, none of which is ever written over; a line typed is keys as on the
 * screen. No escape sequence is sent, and stdin and stdout may be pipes.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_LIVE_PLAIN_H
#define JTOP_TUI_SCREEN_LIVE_PLAIN_H

#include "tui/screen/live.h"

/* As live_run. Ends with q, or with its input. */
int live_plain(const struct live_options *o, struct err *e);

#endif
