/*
 * What is on screen, as a file.
 *
 * Context: frontend main thread; holds the profile's lock while it formats.
 */
#ifndef JTOP_TUI_SAVE_H
#define JTOP_TUI_SAVE_H

#include "core/base/err.h"
#include "tui/live.h"
#include "tui/model.h"

#include <time.h>

/* Writes jtop-prof-NAME-PID-YYYYMMDD-hhmmss.svg into the current directory: the flame graph of the
 * samples shown, by thread from the threads view, from the leaves from a bottom-up tree. The path
 * is in `path`. 0 or -errno. */
int save_svg(const struct model *m, enum live_view view, time_t now, char *path, size_t size,
             struct err *e);

#endif
