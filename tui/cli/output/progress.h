/*
 * One line on the terminal that shows the progress of long work. It disappears at the end.
 *
 *      [=============>                 ]  18s left  12,345 samples  1,012/s
 *
 * It is drawn only on a terminal where we are in the foreground; otherwise, and with -q, nothing is
 * written. Parts that do not fit are left out, from the right; the line is never wrapped.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_PROGRESS_H
#define JTOP_TUI_CLI_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROGRESS_EVERY_MS 500

struct progress {
    bool shown;           /* false: never drawn */
    int columns;          /* columns of the line now on screen; 0: none */
    uint64_t ms, samples; /* as last drawn; needed for the rate */
    double rate;          /* samples per second; < 0: not known yet */
};

/* Shows lines while that process group is in the foreground, instead of our own group. For a
 * process that works for another one. Call it before any line is opened. */
void progress_for_group(pid_t of);

/* `quiet`: the line is never shown. */
void progress_open(struct progress *p, bool quiet);

/* Draws the progress of a profile: `ms` of `of_ms` (0: no end is known), with this many samples so
 * far. */
void progress_profile(struct progress *p, uint64_t ms, uint64_t of_ms, uint64_t samples);

/* Shows work whose progress is not known, such as reading or writing files: a thread shows its
 * duration from the second second on, until progress_work_end (which accepts NULL). `what` must
 * live as long. Returns NULL if nothing is shown. */
struct progress_work *progress_work_begin(bool quiet, const char *what);
void progress_work_end(struct progress_work *w);

/* Removes the line, for other output or at the end. */
void progress_clear(struct progress *p);

/* Writes the line's text for `columns` columns: at most that many bytes, and a NUL. Pure. */
void progress_line(const struct progress *p, uint64_t ms, uint64_t of_ms, uint64_t samples,
                   int columns, char *out);

#define PROGRESS_COLUMNS 160 /* upper limit of `columns` */

#endif
