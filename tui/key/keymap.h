/*
 * Files:
 *   keymap       table of keys: press, command, where it applies, help text
 *   keymap_bind  keys in force: lookup, and bindings from the config file
 *   keymap_help  sections of the help, and the views where a key works
 *
 * The table of keys: which press gives which command, in which places, and its help text. The help
 * screen and the footer are made from this table, so every key that works is also shown.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_KEY_KEYMAP_H
#define JTOP_TUI_KEY_KEYMAP_H

#include "core/base/err.h"
#include "tui/terminal/press.h"

#include <stdbool.h>

#define KEY_PRESSES 4
#define KEY_TEXT 48 /* bytes for a row's keys in print */

enum command {
    COMMAND_NONE = 0,
    COMMAND_UP,
    COMMAND_DOWN,
    COMMAND_PAGE_UP,
    COMMAND_PAGE_DOWN,
    COMMAND_HALF_UP,
    COMMAND_HALF_DOWN,
    COMMAND_HOME,
    COMMAND_END,
    COMMAND_ENTER,
    COMMAND_BACK,
    COMMAND_EXPAND,
    COMMAND_COLLAPSE,
    COMMAND_EXPAND_ALL, /* the subtree */
    COMMAND_UNFOLD,     /* the whole tree */
    COMMAND_FOLD,
    COMMAND_HOTTEST,
    COMMAND_INVERT,
    COMMAND_BY_THREAD,
    COMMAND_CARRIERS,
    COMMAND_IDLE, /* shows or hides idle threads of the wall clock */
    COMMAND_FOLD_NATIVE,
    COMMAND_POOLS,
    COMMAND_TAG,
    COMMAND_SORT,      /* by the next column */
    COMMAND_SORT_MENU, /* choose the column */
    COMMAND_REVERSE,
    /* views, in the order of enum live_view */
    COMMAND_METHODS,
    COMMAND_THREADS,
    COMMAND_TREE,
    COMMAND_LOCKS,
    COMMAND_FLAME,
    COMMAND_ALLOC,
    COMMAND_LINES,
    COMMAND_STATUS,
    COMMAND_OVERVIEW,
    COMMAND_NEXT_VIEW,
    COMMAND_PREVIOUS_VIEW,
    COMMAND_TOGGLE_THREADS,
    /* from a row to views of the same code or thread */
    COMMAND_TO_TREE,
    COMMAND_TO_FLAME,
    COMMAND_TO_LINES,
    COMMAND_TO_THREADS,
    COMMAND_ZOOM,         /* narrows every view to the row's method */
    COMMAND_ZOOM_PACKAGE, /* narrows every view to its package */
    COMMAND_STACKS,       /* the JVM's stacks this moment */
    COMMAND_STACKS_LOCKS, /* with owners of locks of java.util.concurrent */
    COMMAND_SAVE_STACKS,
    COMMAND_NEXT_EVENT,
    COMMAND_PREVIOUS_EVENT,
    COMMAND_EVENTS,
    COMMAND_LOOK,
    COMMAND_LONGER,
    COMMAND_SHORTER,
    COMMAND_ADD,
    COMMAND_STRIP,
    COMMAND_PANE, /* the detail pane */
    COMMAND_PAUSE,
    COMMAND_SECOND_BACK,
    COMMAND_SECOND_ON,
    COMMAND_MINUTE_BACK,
    COMMAND_MINUTE_ON,
    COMMAND_WINDOW,
    COMMAND_MARK, /* count from now on */
    COMMAND_BASELINE,
    COMMAND_NO_BASELINE,
    COMMAND_SEARCH,
    COMMAND_NEXT_MATCH,
    COMMAND_PREVIOUS_MATCH,
    COMMAND_FILTER,
    COMMAND_RESET, /* undoes every restriction */
    COMMAND_SAVE_SVG,
    COMMAND_SAVE_HTML,
    COMMAND_SAVE_COLLAPSED,
    COMMAND_SAVE_JFR,
    COMMAND_SAVE_PPROF,
    COMMAND_SAVE_MENU, /* choose the format */
    COMMAND_RECORD,
    COMMAND_COPY,
    COMMAND_PIPE,
    COMMAND_MOUSE,
    COMMAND_NEW_TAB, /* opens another JVM */
    COMMAND_NEXT_TAB,
    COMMAND_PREVIOUS_TAB,
    COMMAND_CLOSE_TAB,
    COMMAND_PALETTE, /* a command by its name */
    COMMAND_HELP,
    COMMAND_REDRAW,
    COMMAND_QUIT
};

/* The places where a key works; a set of bits. */
enum key_scope {
    SCOPE_METHODS = 1,
    SCOPE_THREADS = 2,
    SCOPE_TREE = 4,
    SCOPE_HELP = 8,
    SCOPE_PICKER = 16,
    SCOPE_LOCKS = 32,
    SCOPE_EVENTS = 64,
    SCOPE_FLAME = 128,
    SCOPE_ALLOC = 256,
    SCOPE_LINES = 512,
    SCOPE_STATUS = 1024,
    SCOPE_OVERVIEW = 2048,
    SCOPE_STACKS = 4096,
    SCOPE_VIEWS = SCOPE_METHODS | SCOPE_THREADS | SCOPE_TREE | SCOPE_LOCKS | SCOPE_FLAME |
                  SCOPE_ALLOC | SCOPE_LINES | SCOPE_STATUS | SCOPE_OVERVIEW,
    SCOPE_TABLES = SCOPE_METHODS | SCOPE_THREADS, /* these are sorted by a column */
    SCOPE_FOLDS = SCOPE_TREE | SCOPE_ALLOC | SCOPE_LOCKS,
    SCOPE_TAGS = SCOPE_TABLES | SCOPE_FOLDS, /* their rows can be tagged */
    SCOPE_ROWS = SCOPE_METHODS | SCOPE_THREADS | SCOPE_TREE | SCOPE_FLAME | SCOPE_ALLOC |
                 SCOPE_LINES | SCOPE_OVERVIEW | SCOPE_LOCKS, /* their rows are code or threads */
    /* a detail pane has room beside their rows */
    SCOPE_DETAIL = SCOPE_METHODS | SCOPE_THREADS | SCOPE_TREE | SCOPE_ALLOC,
    SCOPE_ALL = SCOPE_VIEWS | SCOPE_HELP | SCOPE_PICKER | SCOPE_EVENTS | SCOPE_STACKS
};

struct key_binding {
    int32_t press[KEY_PRESSES]; /* any of these; unused entries are PRESS_NONE. A command without
                                   keys can be given one in the config file */
    enum command command;
    unsigned scope;     /* enum key_scope */
    const char *keys;   /* the keys in print: "Up k" */
    const char *name;   /* name of the command in a config file: "page-up" */
    const char *footer; /* word in the footer, after the first of `keys`; NULL: not there */
    const char *help;
};

/* The default keys, in the order of the help screen. The last entry has help NULL. */
extern const struct key_binding key_bindings[];

/* The names of the help's sections, NULL at the end. keymap_section returns the section of a row
 * (-1: none). */
extern const char *const keymap_sections[];
int keymap_section(const struct key_binding *b);

/* The help of a row, with the views where the row applies: "tree, flame: follow the hottest path",
 * "show the row's lines (not in lines, status)". A row that applies in all views or none has only
 * its help. */
#define KEY_WHERE 64
struct key_help {
    char text[KEY_WHERE + 192];
    int from, to; /* bytes of the text that name views */
};
void keymap_help(const struct key_binding *b, struct key_help *out);

/* The keys in force: the default keys, except for rows that a config file binds again. All zero:
 * the default keys. NULL means the same for every function below. Filled once, before the screen
 * opens. */
#define KEY_ROWS_MAX 128
struct keymap {
    bool bound[KEY_ROWS_MAX]; /* by row of key_bindings: not the default */
    int32_t press[KEY_ROWS_MAX][KEY_PRESSES];
    char keys[KEY_ROWS_MAX][KEY_TEXT];
};

/* Returns the command of a press; COMMAND_NONE if it has no meaning in this scope. */
enum command keymap_command(const struct keymap *k, int32_t press, unsigned scope);

/* Returns a row's keys in print; "" if it has none left. The result lives as long as the keymap. */
const char *keymap_keys(const struct keymap *k, const struct key_binding *b);

/* Binds every row with this name, in all its scopes, to these keys only. Keys are written as
 * printed ("Up", "^F", "F5", "Space", "a"), with spaces between them; no key at all is allowed.
 * -EINVAL with a message: no such name, no such key, or too many keys. */
int keymap_bind(struct keymap *k, const char *name, const char *keys, struct err *e);

/* Call this after all keys are bound: other rows lose the keys that were bound, so that a key which
 * becomes a default in a later release does not make a config file wrong. */
void keymap_yield(struct keymap *k);

/* Call this after keymap_yield. Finds the first two rows with different commands for one
 * press in the same place, and that press. False: there are none. */
bool keymap_clash(const struct keymap *k, const struct key_binding **a,
                  const struct key_binding **b, int32_t *press);

/* Writes the first key in print for the command in one of the scopes; "" if no key gives it.
 * Returns out, KEY_TEXT bytes. */
const char *keymap_key(const struct keymap *k, enum command command, unsigned scope, char *out);

#endif
