/*
 * The terminal's side of the one poll loop: waits for presses, signals and one more descriptor,
 * and shows canvases without ever waiting for the terminal. While it does not take a frame, or has
 * not come to the last one yet, newer frames replace each other; the answer to a press goes out
 * as soon as the frame before it was taken whole.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_TERMINAL_LOOP_H
#define JTOP_TUI_TERMINAL_LOOP_H

#include "tui/terminal/terminal.h"

#include <stdint.h>

enum {
    LOOP_PRESS = 1, /* read them with loop_press until it says -1 */
    LOOP_DRAW = 2,  /* the size changed, or the terminal takes output again */
    LOOP_OTHER = 4, /* the other descriptor is readable */
    LOOP_QUIT = 8,  /* asked to end, or the terminal is gone */
};

#define LOOP_RATE_SECONDS 10
#define LOOP_STEADY_BYTES 1850 /* of 2 KB: what is steady varies */

struct loop {
    struct terminal *terminal;
    struct canvas canvas; /* of the terminal's size; draw into it, then loop_show */
    bool held_back;       /* the last canvas could not be shown */
    bool answering;       /* a press was read since the last one was */
    int idle_reads;       /* times input was announced and none was there */
    /* the line */
    unsigned frames;      /* whose delay was looked at */
    bool frame_of_time;   /* the last frame was no answer to a press */
    uint64_t least_ns;    /* the shortest delay: the line's own */
    unsigned factor_log2; /* how much slower frames are to come than asked for */
    unsigned fast_frames; /* in a row */
    uint64_t period_ns;   /* in force */
    uint64_t pending_ns;  /* since when output waits; 0: it does not */
    uint64_t frame_bytes; /* of frames that were no answers, a running mean; 0: none yet */
    /* bytes sent, by second, the last LOOP_RATE_SECONDS of them */
    uint64_t sent[LOOP_RATE_SECONDS + 1], sent_second;
    unsigned sent_count;
};

/* 0 or -ENOMEM. */
int loop_open(struct loop *l, struct terminal *t);
void loop_close(struct loop *l);

/* Waits until something happens or `until_ns` (CLOCK_MONOTONIC) has come; fd -1: no other
 * descriptor. Returns a set of what happened, 0 at the time's end. Suspends, resumes and resizes
 * on its own. */
unsigned loop_wait(struct loop *l, int fd, uint64_t until_ns);

/* As terminal_press. */
int32_t loop_press(struct loop *l);

void loop_show(struct loop *l, const struct caret *at);

/* The time from one refresh to the next: `wanted_ns`, or longer while the line is slow: twice, up
 * to 8 s, and back again as it recovers. Where a second or more is wanted, up to a quarter longer,
 * so that a steady screen stays below LOOP_STEADY_BYTES a second. */
uint64_t loop_period_ns(struct loop *l, uint64_t wanted_ns);
/* Whether it is longer than wanted, or output has waited for a second. */
bool loop_is_slow(const struct loop *l);
/* Bytes sent to the terminal, the mean of the last ten seconds. */
uint64_t loop_bytes_per_second(const struct loop *l);

#endif
