/*
 * Saves what is on screen to a file.
 *
 * Context: frontend main thread; holds the profile's lock while it formats.
 */
#ifndef JTOP_TUI_SCREEN_SAVE_H
#define JTOP_TUI_SCREEN_SAVE_H

#include "core/base/err.h"
#include "tui/model/model.h"
#include "tui/screen/live.h"

#include <time.h>

/* Writes jtop-prof-NAME-PID-YYYYMMDD-hhmmss.EXT into the current directory, with the event before
 * the date unless it is CPU time. It contains the samples shown, in a format of exporters[] ("svg",
 * "html", "collapsed", "jfr", "pprof"): by thread if the threads view is shown, from the leaves if
 * the tree is bottom-up. With a baseline, it is coloured by the difference if the format supports
 * that. Sets `path`. 0 or -errno. */
int save_as(const struct model *m, enum live_view view, const char *format, time_t now, char *path,
            size_t size, struct err *e);

/* Writes the path that such a file would have, with this ending: ".jtop" for a recording. */
void save_path(const struct model *m, const char *ending, time_t now, char *path, size_t size);

/* Writes a text, such as a thread dump, into a file with such a name, but without an event. Sets
 * `path`. 0 or -errno. */
int save_text(const struct model *m, const char *ending, const char *text, size_t bytes, time_t now,
              char *path, size_t size, struct err *e);

#endif
