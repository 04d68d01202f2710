/*
 * Bytes from a terminal become presses: characters, the keys of xterm, vt100 and the Linux console,
 * the mouse, pasted text, and answers to what we asked, which are nobody's press.
 *
 * An escape character may begin a sequence or be the key: what decides is whether more comes soon.
 * Time is given, so tests have no clock.
 *
 * Context: pure. Bytes are hostile: anybody can send them.
 */
#ifndef JTOP_TUI_TERMINAL_INPUT_H
#define JTOP_TUI_TERMINAL_INPUT_H

#include "tui/terminal/press.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_BYTES 4096

struct input {
    unsigned char bytes[INPUT_BYTES]; /* not yet understood */
    size_t length;
    uint64_t came_ns;   /* when the last of them came */
    uint64_t string_ns; /* when the string that is among them began to come; 0: there is none */
    bool pasting;
    /* the last press of a button, for the second one */
    uint64_t pressed_ns;
    int pressed_row, pressed_col;
    struct mouse mouse; /* of the last PRESS_MOUSE */
    /* answers so far */
    unsigned alive;    /* DSR 5: "here I am" */
    bool synchronizes; /* DECRQM 2026 */
};

/* Room for at least one byte is there once input_next said -1. Returns how many were taken. */
size_t input_feed(struct input *in, const void *bytes, size_t length, uint64_t now_ns);

/* The next press (PRESS_NONE: one without meaning), or -1: nothing, or not yet. */
int32_t input_next(struct input *in, uint64_t now_ns);

/* When to ask input_next again though no byte comes; 0: no need. */
uint64_t input_deadline(const struct input *in);

#endif
