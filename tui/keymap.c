#include "tui/keymap.h"

#include <stddef.h>

/* A row per meaning. Where a press means two things, the scopes keep them apart: Space expands in
 * the tree and pauses elsewhere. */
const struct key_binding key_bindings[] = {
    {{'1'}, COMMAND_METHODS, SCOPE_VIEWS, "1", NULL, "methods: which code takes the time"},
    {{'2'}, COMMAND_THREADS, SCOPE_VIEWS, "2", NULL, "threads: who runs it"},
    {{'3'}, COMMAND_TREE, SCOPE_VIEWS, "3", NULL, "call tree: how it is reached"},
    {{PRESS_TAB}, COMMAND_NEXT_VIEW, SCOPE_VIEWS, "Tab", NULL, "next view"},
    {{'t'}, COMMAND_TOGGLE_THREADS, SCOPE_VIEWS, "t", NULL, "to the threads and back"},

    {{PRESS_UP, 'k'}, COMMAND_UP, SCOPE_ALL, "Up k", NULL, "one row up"},
    {{PRESS_DOWN, 'j'}, COMMAND_DOWN, SCOPE_ALL, "Down j", NULL, "one row down"},
    {{PRESS_PAGE_UP, PRESS_CTRL('B')}, COMMAND_PAGE_UP, SCOPE_ALL, "PgUp ^B", NULL, "a page up"},
    {{PRESS_PAGE_DOWN, PRESS_CTRL('F')},
     COMMAND_PAGE_DOWN,
     SCOPE_ALL,
     "PgDn ^F",
     NULL,
     "a page down"},
    {{PRESS_HOME, 'g'},
     COMMAND_HOME,
     SCOPE_ALL,
     "Home g",
     NULL,
     "first row; stay on the hottest until moved"},
    {{PRESS_END, 'G'}, COMMAND_END, SCOPE_ALL, "End G", NULL, "last row"},

    {{PRESS_ENTER}, COMMAND_ENTER, SCOPE_PICKER, "Enter", "attach", "attach to this JVM"},
    {{PRESS_ENTER},
     COMMAND_ENTER,
     SCOPE_THREADS,
     "Enter",
     "zoom",
     "this thread only, in every view; Esc leaves"},
    {{'v'},
     COMMAND_CARRIERS,
     SCOPE_THREADS,
     "v",
     "carriers",
     "virtual threads, or the threads that carry them"},
    {{PRESS_ENTER, ' '}, COMMAND_ENTER, SCOPE_TREE, "Enter Space", "fold", "open or close"},
    {{PRESS_RIGHT, 'l', '+'},
     COMMAND_EXPAND,
     SCOPE_TREE,
     "Right l +",
     NULL,
     "open, down to the next fork; again: first callee"},
    {{PRESS_LEFT, 'h', '-'},
     COMMAND_COLLAPSE,
     SCOPE_TREE,
     "Left h -",
     NULL,
     "close; again: to the caller"},
    {{'e', '*'}, COMMAND_HOTTEST, SCOPE_TREE, "e *", "hottest", "open the hottest path from here"},
    {{'i'}, COMMAND_INVERT, SCOPE_TREE, "i", "invert", "top-down or bottom-up (callers of leaves)"},
    {{'T'}, COMMAND_BY_THREAD, SCOPE_TREE, "T", NULL, "each thread's tree, or one of all"},
    {{'v'}, COMMAND_CARRIERS, SCOPE_TREE, "v", NULL, "those threads: virtual ones or carriers"},

    {{'/'},
     COMMAND_FILTER,
     SCOPE_VIEWS,
     "/",
     "filter",
     "stacks with this text in a name; !text: "
     "without"},
    {{'/'}, COMMAND_FILTER, SCOPE_PICKER, "/", "filter", "rows with this text"},
    {{PRESS_ESCAPE}, COMMAND_BACK, SCOPE_VIEWS, "Esc", NULL, "clear the filter; leave the thread"},
    {{'p'}, COMMAND_PAUSE, SCOPE_VIEWS, "p", "pause", "hold the picture; sampling goes on"},
    {{' '},
     COMMAND_PAUSE,
     SCOPE_METHODS | SCOPE_THREADS,
     "Space",
     NULL,
     "hold the picture, like p"},
    {{'s'}, COMMAND_SAVE, SCOPE_VIEWS, "s", "SVG", "write the flame graph of what is shown"},
    {{PRESS_CTRL('L')}, COMMAND_REDRAW, SCOPE_ALL, "^L", NULL, "draw everything again"},
    {{'?'}, COMMAND_HELP, SCOPE_ALL, "?", "help", "this help, and out of it"},
    {{PRESS_ESCAPE}, COMMAND_BACK, SCOPE_HELP, "Esc", "back", "out of the help"},
    {{PRESS_ESCAPE}, COMMAND_QUIT, SCOPE_PICKER, "Esc", NULL, "clear the filter; leave"},
    {{'q', PRESS_CTRL('C')},
     COMMAND_QUIT,
     SCOPE_VIEWS | SCOPE_PICKER,
     "q",
     "quit",
     "leave; the JVM stays as it was"},
    {{'q'}, COMMAND_BACK, SCOPE_HELP, "q", NULL, "out of the help"},
    {.help = NULL},
};

enum command keymap_command(int32_t press, unsigned scope) {
    if (press == PRESS_NONE)
        return COMMAND_NONE;
    for (const struct key_binding *b = key_bindings; b->help; b++) {
        if (!(b->scope & scope))
            continue;
        for (int i = 0; i < KEY_PRESSES; i++)
            if (b->press[i] == press)
                return b->command;
    }
    return COMMAND_NONE;
}
