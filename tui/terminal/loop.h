/*
 * The terminal's part of the poll loop. It waits for presses, signals and one more descriptor, and
 * shows canvases without ever waiting for the terminal. While the terminal does not accept a frame,
 * or has not processed the last one yet, newer frames replace older ones. The answer to a press is
 * sent as soon as the terminal has accepted the whole frame before it.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_TERMINAL_LOOP_H
#define JTOP_TUI_TERMINAL_LOOP_H

#include "tui/terminal/terminal.h"

#include <stdint.h>

enum {
    LOOP_PRESS = 1, /* read presses with loop_press until it returns -1 */
    LOOP_DRAW = 2,  /* the size changed, or the terminal accepts output again */
    LOOP_OTHER = 4, /* the other descriptor is readable */
    LOOP_QUIT = 8,  /* asked to end, or the terminal is gone */
};

#define LOOP_RATE_SECONDS 10
#define LOOP_STEADY_BYTES 1850 /* less than 2 KB, because steady frames vary in size */

struct loop {
    struct terminal *terminal;
    struct canvas canvas; /* has the terminal's size; draw into it, then call loop_show */
    bool held_back;       /* the last canvas could not be shown */
    bool answering;       /* a press was read after the last canvas was shown */
    int idle_reads;       /* how often poll reported input although there was none */
    /* the line to the terminal */
    unsigned frames;      /* number of frames whose delay was noted */
    bool frame_of_time;   /* the last frame was no answer to a press */
    uint64_t least_ns;    /* the shortest delay, which is the line's own */
    unsigned factor_log2; /* the period is longer than wanted by this power of two */
    unsigned fast_frames; /* number of fast frames in a row */
    uint64_t period_ns;   /* the period in force */
    uint64_t pending_ns;  /* since when output waits; 0: none waits */
    uint64_t frame_bytes; /* running mean of frames that were no answers; 0: none yet */
    /* total bytes sent, by second, for the last LOOP_RATE_SECONDS seconds */
    uint64_t sent[LOOP_RATE_SECONDS + 1], sent_second;
    unsigned sent_count;
};

/* Returns 0 or -ENOMEM. */
int loop_open(struct loop *l, struct terminal *t);
void loop_close(struct loop *l);

/* Waits until something happens or `until_ns` (CLOCK_MONOTONIC) is reached; fd -1: no other
 * descriptor. Returns a set of what happened, or 0 at the timeout. Handles suspending, resuming and
 * resizing itself. */
unsigned loop_wait(struct loop *l, int fd, uint64_t until_ns);

/* As terminal_press. */
int32_t loop_press(struct loop *l);

void loop_show(struct loop *l, const struct caret *at);

/* Returns the time from one refresh to the next: `wanted_ns`, or longer while the line is slow. It
 * is doubled again and again, up to 8 s, and gets shorter again as the line recovers. If a second
 * or more is wanted, it may be up to a quarter longer, so that a steady screen stays below
 * LOOP_STEADY_BYTES per second. */
uint64_t loop_period_ns(struct loop *l, uint64_t wanted_ns);
/* True if the period is longer than wanted, or output has waited for a second. */
bool loop_is_slow(const struct loop *l);
/* Returns the bytes sent to the terminal per second, the mean of the last ten seconds. */
uint64_t loop_bytes_per_second(const struct loop *l);

#endif
