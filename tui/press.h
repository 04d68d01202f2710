/*
 * What a person pressed, free of curses: a Unicode code point, or one of these. Values above
 * Unicode stand for keys that are no character.
 */
#ifndef JTOP_TUI_PRESS_H
#define JTOP_TUI_PRESS_H

#include <stdint.h>

enum {
    PRESS_NONE = 0, /* something that means nothing to us */
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
    PRESS_LAST = PRESS_BACK_TAB
};

/* Control and a letter: PRESS_CTRL('L'). */
#define PRESS_CTRL(letter) ((letter)&0x1f)

#endif
