/*
 * The keys as a table: which press is which command, where, and what the help says of it. The
 * help screen and the footer are made from it, so a key that works is a key that is shown.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_KEYMAP_H
#define JTOP_TUI_KEYMAP_H

#include "tui/press.h"

#define KEY_PRESSES 4

enum command {
    COMMAND_NONE = 0,
    COMMAND_UP,
    COMMAND_DOWN,
    COMMAND_PAGE_UP,
    COMMAND_PAGE_DOWN,
    COMMAND_HOME,
    COMMAND_END,
    COMMAND_ENTER,
    COMMAND_BACK,
    COMMAND_EXPAND,
    COMMAND_COLLAPSE,
    COMMAND_HOTTEST,
    COMMAND_INVERT,
    COMMAND_BY_THREAD,
    COMMAND_CARRIERS,
    COMMAND_METHODS,
    COMMAND_THREADS,
    COMMAND_TREE,
    COMMAND_NEXT_VIEW,
    COMMAND_TOGGLE_THREADS,
    COMMAND_PAUSE,
    COMMAND_FILTER,
    COMMAND_SAVE,
    COMMAND_HELP,
    COMMAND_REDRAW,
    COMMAND_QUIT
};

/* Where a key is heard; a set. */
enum key_scope {
    SCOPE_METHODS = 1,
    SCOPE_THREADS = 2,
    SCOPE_TREE = 4,
    SCOPE_HELP = 8,
    SCOPE_PICKER = 16,
    SCOPE_VIEWS = SCOPE_METHODS | SCOPE_THREADS | SCOPE_TREE,
    SCOPE_ALL = SCOPE_VIEWS | SCOPE_HELP | SCOPE_PICKER
};

struct key_binding {
    int32_t press[KEY_PRESSES]; /* any of them; PRESS_NONE fills up */
    enum command command;
    unsigned scope;     /* enum key_scope */
    const char *keys;   /* the keys in print: "Up k" */
    const char *footer; /* a word for the footer, after the first of `keys`; NULL: not there */
    const char *help;
};

/* In the order of the help screen; ends with help NULL. */
extern const struct key_binding key_bindings[];

/* COMMAND_NONE where the press means nothing there. */
enum command keymap_command(int32_t press, unsigned scope);

#endif
