/*
 * Files:
 *   event_list     list of events over a view, to start, stop and change them
 *   flame_picture  drawing of a flame graph into cells
 *   footer         bottom line with the most useful keys
 *   header         lines above the views: JVM, quality, events, tabs
 *   name_order     methods sorted by name, updated as new ones come
 *   strip          two-row chart of the last seconds, with VM pauses
 *   table          sortable table with columns, heads, cursor, mouse and search
 *   threads_table  columns and cells of the threads view's table
 *   tree_list      list of tree rows with folding, search, mouse and connecting lines
 *   tree_nodes     helpers for call tree views: node identity, copying, search matches
 *   view           interface of a view, table of all views, drawing helpers
 *   view_alloc     allocation view: classes, live bytes, allocating code
 *   view_flame     flame graph view
 *   view_help      help page made from the key table
 *   view_lines     lines view: time by source line of one method
 *   view_locks     locks view: lock classes, wait times, owners
 *   view_methods   methods view: table of methods, hottest first
 *   view_overview  overview view: findings, graph, top methods and threads
 *   view_status    status view: quality and cost of the profile
 *   view_threads   threads view: threads and pools with their figures
 *   view_tree      call tree view, top-down or bottom-up
 *
 * The contract of every view: one struct of function pointers, found in the table `views`. A view
 * draws from the model and keeps its own state (cursor, folds) across answers.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_VIEW_H
#define JTOP_TUI_VIEW_VIEW_H

#include "tui/key/keymap.h"
#include "tui/model/model.h"
#include "tui/terminal/canvas.h"
#include "tui/widget/cursor.h"

#include <stdbool.h>

/* What became of a command. */
enum view_outcome {
    VIEW_IGNORED, /* not one of this view's */
    VIEW_DONE,    /* draw again */
    VIEW_ASK,     /* the view changed model->question: ask, then draw */
    VIEW_GO,      /* same, and go to another view: view_go() */
};

/* VIEW_GO to that view: all from VIEW_GO on are such. */
static inline enum view_outcome view_go(enum live_view view) {
    return (enum view_outcome)(VIEW_GO + (int)view);
}

/* What the cursor is on, for jumps and zooms. */
struct view_subject {
    uint32_t method;                   /* METHOD_NONE: no code */
    const struct model_thread *thread; /* NULL: no thread; lives as long as the answer */
};

struct view_type {
    const char *title; /* as on its tab */
    const char *name;  /* as in a config file: "tree" */
    char key;          /* that brings it up */
    unsigned scope;    /* the one bit of enum key_scope it hears */
    int event;         /* that it is always of; -1: the one in question */
    bool hovers;       /* wants to hear where the mouse is */

    /* The state; NULL: no memory. close(NULL) is fine. */
    void *(*open)(const struct model *m);
    void (*close)(void *state);

    /* What it draws from: sets the question's tree, locks, others, sparks, lines … which are all
     * false. Called whenever it comes up, and before each question. */
    void (*want)(void *state, struct model_question *q);

    /* The model has a new answer (never called before the first one): find the cursor's item
     * again. Also called when the view comes up. */
    void (*update)(void *state, const struct model *m);

    /* Draws into the area, column heads first. model->snapshot may still be NULL. Returns the
     * canvas row of the cursor, which has a mark in its first column; without a cursor a.row. The
     * area may have more rows than any screen: `|` writes the table that way. */
    int (*draw)(void *state, struct canvas *c, struct area a, const struct model *m);

    /* Carries out a command. May change m->question, nothing else of the model. */
    enum view_outcome (*command)(void *state, enum command command, struct model *m);

    /* The following may be NULL: there is no such thing in this view. */

    /* A press of the mouse within the area drawn last; rows and columns are the canvas's. */
    enum view_outcome (*mouse)(void *state, struct area a, const struct mouse *press,
                               struct model *m);

    /* Moves to a row with model->search in it: by 1 to the next, -1 to the one before (both go
     * round), 0 from the cursor's on, as one types. False where there is none. */
    bool (*find)(void *state, int by, const struct model *m);

    bool (*subject)(const void *state, const struct model *m, struct view_subject *out);

    /* Somebody jumps here from another view: the cursor goes to that method or thread, once the
     * answer has it. */
    void (*seek)(void *state, const struct view_subject *s);

    /* The stack, or whatever the row is, as text for a clipboard: a line a frame, leaf first. */
    void (*copy)(const void *state, const struct model *m, struct text *out);
};

/* Indexed by enum live_view. */
#define VIEWS 9
extern const struct view_type *const views[VIEWS];
extern const struct view_type view_methods, view_threads, view_tree, view_locks, view_flame,
    view_alloc, view_lines, view_status, view_overview;

/* How a frame was executed, as one letter: I interpreted, 1 C1, 2 C2, i inlined, ' ' not known. */
char view_tier_letter(enum frame_tier tier);
/* Its kind as a short word: "java", "kernel". */
const char *view_kind_word(enum method_kind kind);
enum role view_frame_role(enum method_kind kind, enum frame_tier tier);

/* A column's head or cell, right-aligned in `cols`. */
void view_percent(struct canvas *c, int row, int col, int cols, double percent);
/* A method's name, with the part that matches the search, or else the filter, marked. What does not fit is
 * cut where it says least: a Java package, a C++ parameter list. */
void view_name(struct canvas *c, int row, int col, int cols, enum role role, const char *name,
               enum method_kind kind, const struct model *m);
/* A row's share of another event; < 0: nothing. */
#define VIEW_OTHER_COLS 7
#define VIEW_NARROW_COLS 60 /* below: names, and the figures that matter most */
#define VIEW_OTHERS 6
void view_other_share(struct canvas *c, int row, int col, double percent);
/* A weight of the event in question: samples of CPU time, else time, bytes or counts; and what to
 * call the column. */
void view_weight(struct canvas *c, int row, int col, int cols, const struct model *m,
                 uint64_t weight, uint64_t samples);
const char *view_weight_head(const struct model *m);
/* The line of the heads, in its role over the whole width. */
void view_heads(struct canvas *c, struct area a, const char *heads);
/* The cursor's row: a mark and the role over the whole width. */
void view_cursor_row(struct canvas *c, struct area a, int row);
/* A line being typed, after what it is. Whatever is before the caret keeps it in sight. Returns the
 * caret's column. */
int view_editor(struct canvas *c, int row, const char *label, const struct line_editor *l);
/* Whether a row with this text is one that is searched for; never without model->search. */
bool view_matches(const struct model *m, const char *text);
/* Presses and the wheel in a list with `heads` rows of heads: moves the cursor. MOUSE_TWICE on a
 * row is true in *enter. False where the press is none of a list's. */
bool view_mouse_list(struct cursor *k, struct area a, int heads, const struct mouse *press,
                     const struct cursor_rows *rows, bool *enter);
/* The cursor of a list to the next row with the search, see struct view_type.find. `text` writes a
 * row's text into out. */
bool view_find_row(struct cursor *k, const struct cursor_rows *rows, int by, const struct model *m,
                   const char *(*text)(const void *arg, uint32_t row, char *out, size_t size),
                   const void *arg);
/* Weight over time of a row as MODEL_SPARKS cells, the hottest row's highest as `most`; like the
 * strip, each cell of time has its place, and the newest runs ahead of a gap. */
void view_spark(struct canvas *c, int row, int col, const struct model *m, const uint64_t *cell,
                uint64_t most);
/* "+1.2", with a mark where it is more than chance. */
void view_change(struct canvas *c, int row, int col, int cols, const struct diff_change *change);

/* Says, under the heads of an empty list, why it is empty. */
void view_empty(struct canvas *c, struct area a, const struct model *m);

#endif
