/*
 * One line on the terminal that says how far a long piece of work is, and is gone when it is done.
 *
 *      [=============>                 ]  18s left  12,345 samples  1,012/s
 *
 * Only on a terminal whose foreground we are; else, and with -q, nothing is written. What does not
 * fit is left out, from the right; the line is never wrapped.
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
    bool shown;           /* at all */
    int columns;          /* that the line takes now; 0: none there */
    uint64_t ms, samples; /* as last drawn: for the rate */
    double rate;          /* samples a second; < 0: not known yet */
};

/* Lines are shown while that process group is in the foreground, in place of our own: of a process
 * that works for another one. Before any line is opened. */
void progress_for_group(pid_t of);

/* `quiet`: never shown. */
void progress_open(struct progress *p, bool quiet);

/* Of a profile: so long of so long (0: no end is known), with so many samples so far. */
void progress_profile(struct progress *p, uint64_t ms, uint64_t of_ms, uint64_t samples);

/* Of work that cannot say how far it is, reading or writing files: a thread shows for how long it
 * goes on already, from the second second on, until progress_work_end (which NULL is fine for).
 * `what` must last as long. NULL: it is not shown. */
struct progress_work *progress_work_begin(bool quiet, const char *what);
void progress_work_end(struct progress_work *w);

/* Takes the line away, for other words or for good. */
void progress_clear(struct progress *p);

/* The line without its place, for `columns` columns: at most so many and a NUL are written. Pure. */
void progress_line(const struct progress *p, uint64_t ms, uint64_t of_ms, uint64_t samples,
                   int columns, char *out);

#define PROGRESS_COLUMNS 160 /* and never more than that */

#endif
