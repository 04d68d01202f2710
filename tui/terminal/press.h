/*
 * A press, independent of any terminal: a Unicode code point, or one of the values below. Values
 * above Unicode are keys without a character.
 */
#ifndef JTOP_TUI_TERMINAL_PRESS_H
#define JTOP_TUI_TERMINAL_PRESS_H

#include <stdint.h>

enum {
    PRESS_NONE = 0, /* a press without meaning */
    PRESS_TAB = 0x09,
    PRESS_ENTER = 0x0a,
    PRESS_ESCAPE = 0x1b,
    PRESS_BACKSPACE = 0x7f,
    PRESS_UP = 0x110000,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_DELETE,
    PRESS_BACK_TAB,
    PRESS_F1, /* F1 to F12 follow each other */
    PRESS_F12 = PRESS_F1 + 11,
    PRESS_MOUSE, /* struct mouse has the action and place */
    PRESS_LAST = PRESS_MOUSE,
    PRESS_PASTED = 0x1000000, /* bit set in a pasted character: text for an editor, not a command */
};

#define PRESS_F2 (PRESS_F1 + 1)
#define PRESS_F3 (PRESS_F1 + 2)
#define PRESS_F4 (PRESS_F1 + 3)
#define PRESS_F5 (PRESS_F1 + 4)
#define PRESS_F6 (PRESS_F1 + 5)
#define PRESS_F10 (PRESS_F1 + 9)

/* Returns a press as an editor takes it: pasted characters count as typed. */
static inline int32_t press_typed(int32_t press) {
    return press & PRESS_PASTED ? press & ~PRESS_PASTED : press;
}

enum mouse_action {
    MOUSE_PRESS, /* the left button */
    MOUSE_TWICE, /* a second time within 0.4 s, on the same cell */
    MOUSE_WHEEL_UP,
    MOUSE_WHEEL_DOWN,
    MOUSE_DRAG,    /* moved to another cell with the left button pressed */
    MOUSE_RELEASE, /* of the left button */
    MOUSE_MOVE,    /* no button pressed; only if terminal_use_mouse requested it */
};

struct mouse {
    enum mouse_action action;
    int row, col; /* from 0 */
};

/* Control and a letter: PRESS_CTRL('L'). */
#define PRESS_CTRL(letter) ((letter)&0x1f)

#endif
