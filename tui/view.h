/*
 * The contract of every view: one struct of function pointers, found in the table `views`. A view
 * draws from the model and keeps its own state (cursor, folds) across answers.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_H
#define JTOP_TUI_VIEW_H

#include "tui/canvas.h"
#include "tui/keymap.h"
#include "tui/model.h"

#include <stdbool.h>

/* What became of a command. */
enum view_outcome {
    VIEW_IGNORED,      /* not one of this view's */
    VIEW_DONE,         /* draw again */
    VIEW_ASK,          /* the view changed model->question: ask, then draw */
    VIEW_SHOW_METHODS, /* same, and go to the methods */
};

struct view_type {
    const char *title; /* as on its tab */
    char key;          /* that brings it up */
    unsigned scope;    /* the one bit of enum key_scope it hears */
    bool tree;         /* draws from snapshot.nodes */

    /* The state; NULL: no memory. close(NULL) is fine. */
    void *(*open)(void);
    void (*close)(void *state);

    /* The model has a new answer (never called before the first one): find the cursor's item
     * again. Also called when the view comes up. */
    void (*update)(void *state, const struct model *m);

    /* Draws into the area, column heads first. model->snapshot may still be NULL. Returns the
     * canvas row of the cursor. */
    int (*draw)(void *state, struct canvas *c, struct area a, const struct model *m);

    /* Carries out a command. May change m->question, nothing else of the model. */
    enum view_outcome (*command)(void *state, enum command command, struct model *m);
};

/* Indexed by enum live_view. */
#define VIEWS 3
extern const struct view_type *const views[VIEWS];
extern const struct view_type view_methods, view_threads, view_tree;

/* How a frame was executed, as one letter: I interpreted, 1 C1, 2 C2, i inlined, ' ' not known. */
char view_tier_letter(enum frame_tier tier);
/* Its kind as a short word: "java", "kernel". */
const char *view_kind_word(enum method_kind kind);
enum role view_frame_role(enum method_kind kind, enum frame_tier tier);

/* A column's head or cell, right-aligned in `cols`. */
void view_percent(struct canvas *c, int row, int col, int cols, double percent);
/* A method's name, with the part that matches the question's filter marked. What does not fit is
 * cut where it says least: a Java package, a C++ parameter list. */
void view_name(struct canvas *c, int row, int col, int cols, enum role role, const char *name,
               enum method_kind kind, const struct model *m);
/* The line of the heads, in its role over the whole width. */
void view_heads(struct canvas *c, struct area a, const char *heads);
/* The cursor's row: a mark and the role over the whole width. */
void view_cursor_row(struct canvas *c, struct area a, int row);
/* Says, under the heads of an empty list, why it is empty. */
void view_empty(struct canvas *c, struct area a, const struct model *m);

#endif
