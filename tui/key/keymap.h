/*
 * Files:
 *   keymap       table of keys: press, command, where it applies, help text
 *   keymap_bind  keys in force: lookup, and bindings from the config file
 *
 * The keys as a table: which press is which command, where, and what the help says of it. The
 * help screen and the footer are made from it, so a key that works is a key that is shown.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_KEY_KEYMAP_H
#define JTOP_TUI_KEY_KEYMAP_H

#include "core/base/err.h"
#include "tui/terminal/press.h"

#include <stdbool.h>

#define KEY_PRESSES 4
#define KEY_TEXT 48 /* of a row's keys in print */

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
    COMMAND_POOLS,
    COMMAND_SORT, /* by the next column */
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
    /* from a row to what belongs to it */
    COMMAND_TO_TREE,
    COMMAND_TO_FLAME,
    COMMAND_TO_LINES,
    COMMAND_TO_THREADS,
    COMMAND_ZOOM,         /* its method, in every view */
    COMMAND_ZOOM_PACKAGE, /* its package */
    COMMAND_NEXT_EVENT,
    COMMAND_PREVIOUS_EVENT,
    COMMAND_EVENTS,
    COMMAND_LOOK,
    COMMAND_LONGER,
    COMMAND_SHORTER,
    COMMAND_ADD,
    COMMAND_STRIP,
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
    COMMAND_SAVE_SVG,
    COMMAND_SAVE_HTML,
    COMMAND_SAVE_COLLAPSED,
    COMMAND_SAVE_JFR,
    COMMAND_SAVE_PPROF,
    COMMAND_RECORD,
    COMMAND_COPY,
    COMMAND_PIPE,
    COMMAND_MOUSE,
    COMMAND_NEW_TAB, /* another JVM */
    COMMAND_NEXT_TAB,
    COMMAND_PREVIOUS_TAB,
    COMMAND_CLOSE_TAB,
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
    SCOPE_LOCKS = 32,
    SCOPE_EVENTS = 64,
    SCOPE_FLAME = 128,
    SCOPE_ALLOC = 256,
    SCOPE_LINES = 512,
    SCOPE_STATUS = 1024,
    SCOPE_OVERVIEW = 2048,
    SCOPE_VIEWS = SCOPE_METHODS | SCOPE_THREADS | SCOPE_TREE | SCOPE_LOCKS | SCOPE_FLAME |
                  SCOPE_ALLOC | SCOPE_LINES | SCOPE_STATUS | SCOPE_OVERVIEW,
    SCOPE_TABLES = SCOPE_METHODS | SCOPE_THREADS, /* sorted by a column */
    SCOPE_FOLDS = SCOPE_TREE | SCOPE_ALLOC | SCOPE_LOCKS,
    SCOPE_ROWS = SCOPE_METHODS | SCOPE_THREADS | SCOPE_TREE | SCOPE_FLAME | SCOPE_ALLOC |
                 SCOPE_LINES | SCOPE_OVERVIEW | SCOPE_LOCKS, /* whose rows are code or threads */
    SCOPE_ALL = SCOPE_VIEWS | SCOPE_HELP | SCOPE_PICKER | SCOPE_EVENTS
};

struct key_binding {
    int32_t press[KEY_PRESSES]; /* any of them; PRESS_NONE fills up */
    enum command command;
    unsigned scope;     /* enum key_scope */
    const char *keys;   /* the keys in print: "Up k" */
    const char *name;   /* as a config file calls what it does: "page-up" */
    const char *footer; /* a word for the footer, after the first of `keys`; NULL: not there */
    const char *help;
};

/* As shipped, in the order of the help screen; ends with help NULL. */
extern const struct key_binding key_bindings[];

/* The help's sections, ends with NULL; which one a row is in (-1: none); and the views where it is
 * heard, "tree, flame", "not in locks": "" where it is all of them or none. `where` returns out,
 * KEY_WHERE bytes. */
#define KEY_WHERE 64
extern const char *const keymap_sections[];
int keymap_section(const struct key_binding *b);
const char *keymap_where(const struct key_binding *b, char *out);

/* The keys in force: those of the table, but for the rows that a config file binds anew. All zero:
 * as shipped; so is NULL, for every function below. Filled once, before the screen comes up. */
#define KEY_ROWS_MAX 128
struct keymap {
    bool bound[KEY_ROWS_MAX]; /* by row of key_bindings: not as shipped */
    int32_t press[KEY_ROWS_MAX][KEY_PRESSES];
    char keys[KEY_ROWS_MAX][KEY_TEXT];
};

/* COMMAND_NONE where the press means nothing there. */
enum command keymap_command(const struct keymap *k, int32_t press, unsigned scope);

/* A row's keys in print; "" where it has none any more. Lives as long as the keymap. */
const char *keymap_keys(const struct keymap *k, const struct key_binding *b);

/* Binds every row of this name, in all its scopes, to these keys and no others: as printed ("Up",
 * "^F", "F5", "Space", "a"), with spaces between them; none is fine. -EINVAL with a message: no
 * such name, no such key, too many. */
int keymap_bind(struct keymap *k, const char *name, const char *keys, struct err *e);

/* Once all are bound: the first two rows that a key in one place would mean at once, and that
 * press. False: there are none. */
bool keymap_clash(const struct keymap *k, const struct key_binding **a,
                  const struct key_binding **b, int32_t *press);

/* The first key in print of what brings this about in one of the scopes; "" where nothing does.
 * Returns out, KEY_TEXT bytes. */
const char *keymap_key(const struct keymap *k, enum command command, unsigned scope, char *out);

#endif
