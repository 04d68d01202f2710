/*
 * The terminal's side of the one poll loop: waits for presses, signals and one more descriptor,
 * and shows canvases without ever blocking on a terminal that takes none.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_LOOP_H
#define JTOP_TUI_LOOP_H

#include "tui/terminal.h"

#include <stdint.h>

enum {
    LOOP_PRESS = 1, /* read them with loop_press until it says -1 */
    LOOP_DRAW = 2,  /* the size changed, or the terminal takes output again */
    LOOP_OTHER = 4, /* the other descriptor is readable */
    LOOP_QUIT = 8,  /* asked to end, or the terminal is gone */
};

struct loop {
    struct terminal *terminal;
    struct canvas canvas; /* of the terminal's size; draw into it, then loop_show */
    bool held_back;       /* the last canvas could not be shown */
    int idle_reads;       /* times input was announced and none was there */
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

uint64_t loop_now_ns(void);

#endif
