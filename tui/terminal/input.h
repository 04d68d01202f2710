/*
 * Turns bytes from a terminal into presses: characters, the keys of xterm, vt100 and the Linux
 * console, the mouse, and pasted text. Answers of the terminal to our requests give no press.
 *
 * An escape character is a key, or begins a sequence: that depends on whether more bytes follow
 * soon. The caller passes the time, so tests need no clock.
 *
 * Context: pure. Bytes may be hostile: any program can send them.
 */
#ifndef JTOP_TUI_TERMINAL_INPUT_H
#define JTOP_TUI_TERMINAL_INPUT_H

#include "tui/terminal/press.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_BYTES 4096
#define INPUT_KEYS 32

/* A key of this type of terminal, and the bytes that it sends. */
struct input_key {
    char bytes[12]; /* NUL-terminated */
    int32_t press;
};

struct input {
    const struct input_key *key; /* these come before the keys that are known anyway */
    size_t keys;
    unsigned char bytes[INPUT_BYTES]; /* not yet decoded */
    size_t length;
    uint64_t came_ns;   /* when the last of these bytes came */
    uint64_t string_ns; /* when an incomplete string sequence began to come; 0: there is none */
    bool pasting;
    /* the last press of a button, to recognize a second one */
    uint64_t pressed_ns;
    int pressed_row, pressed_col;
    struct mouse mouse; /* of the last PRESS_MOUSE */
    /* answers received so far */
    unsigned alive;    /* number of answers to DSR 5 (status requests) */
    bool synchronizes; /* answer to DECRQM 2026: the terminal knows synchronized output */
};

/* Takes bytes, and returns how many. After input_next returned -1, there is room for at least one
 * byte. */
size_t input_feed(struct input *in, const void *bytes, size_t length, uint64_t now_ns);

/* Returns the next press (PRESS_NONE: one without meaning), or -1 if there is none yet. */
int32_t input_next(struct input *in, uint64_t now_ns);

/* Returns when to call input_next again even if no byte comes; 0: no need. */
uint64_t input_deadline(const struct input *in);

#endif
