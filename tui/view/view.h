/*
 * Files:
 *   detail_pane    more about the row at the cursor, beside its list
 *   event_list     list of events over a view, to start, stop and change them
 *   flame_picture  drawing of a flame graph into cells
 *   footer         bottom line with the most useful keys
 *   header         lines above the views: JVM, quality, events
 *   name_order     methods sorted by name, updated as new ones come
 *   strip          two-row chart of the last seconds, with VM pauses
 *   tab_line       line of tabs, with what part of the samples is shown
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
 * The interface of every view: one struct of function pointers, found in the table `views`. A view
 * draws from the model, and keeps its own state (cursor, folds) from one answer to the next.
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

/* The result of a command. */
enum view_outcome {
    VIEW_IGNORED, /* not a command of this view */
    VIEW_DONE,    /* draw again */
    VIEW_ASK,     /* the view changed model->question: ask, then draw again */
    VIEW_GO,      /* the same, and go to another view: view_go() */
};

/* Returns VIEW_GO to that view. All values from VIEW_GO on mean this. */
static inline enum view_outcome view_go(enum live_view view) {
    return (enum view_outcome)(VIEW_GO + (int)view);
}

#define VIEW_CURSOR UINT32_MAX /* the row at the cursor */

/* The item at the cursor, for jumps and zooms. */
struct view_subject {
    uint32_t method;                   /* METHOD_NONE: no code */
    const struct model_thread *thread; /* NULL: no thread; lives as long as the answer */
};

/* Where the user is in a view: enough to find the row again after other views and other
 * questions. */
struct view_place {
    struct cursor cursor;
    uint64_t of;     /* what the rows are of: a tree's seed, a method; 0: of the view itself */
    uint32_t method; /* method at the cursor, to find it in another tree; METHOD_NONE: none */
};

struct view_type {
    const char *title; /* on its tab */
    const char *name;  /* in a config file: "tree" */
    char key;          /* key that shows it */
    unsigned scope;    /* its bit of enum key_scope */
    int event;         /* event it always shows; -1: the current one */
    bool hovers;       /* it needs the mouse's movements */

    /* Makes the view's state; NULL: no memory. close accepts NULL. */
    void *(*open)(const struct model *m);
    void (*close)(void *state);

    /* Sets in the question what the view needs: tree, locks, others, sparks, lines and so on, which
     * are all false before. Called whenever the view is shown, and before each question. Also called
     * after each key, click and answer, with what was wanted before. */
    void (*want)(void *state, struct model_question *q);

    /* The model has a new answer (never called before the first one): finds the cursor's item
     * again. Also called when the view is shown. */
    void (*update)(void *state, const struct model *m);

    /* Draws into the area, column heads first. model->snapshot may still be NULL. Returns the
     * canvas row of the cursor, or a.row if there is no cursor. The cursor's row has a mark in its
     * first column. The area may have more rows than any screen: the command `|` writes the table
     * that way. */
    int (*draw)(void *state, struct canvas *c, struct area a, const struct model *m);

    /* Carries out a command. It may change model->question, but nothing else of the model. */
    enum view_outcome (*command)(void *state, enum command command, struct model *m);

    /* The following may be NULL if the view does not support them. */

    /* Handles a press of the mouse within the area last drawn; rows and columns are the
     * canvas's. */
    enum view_outcome (*mouse)(void *state, struct area a, const struct mouse *press,
                               struct model *m);

    /* Moves to a row that contains model->search: by 1 to the next, -1 to the previous one (both
     * wrap around), 0 to the first from the cursor's row on, while the user types. False if there
     * is none. */
    bool (*find)(void *state, int by, const struct model *m);

    /* For a table. `column` writes the head of a column on screen, counted from 0, and whether rows
     * are sorted by it; false: there is no such column. `sort` sorts by it. */
    bool (*column)(void *state, const struct model *m, const struct canvas *c, int column,
                   char head[32], bool *on);
    bool (*sort)(void *state, const struct model *m, int column);

    bool (*subject)(const void *state, const struct model *m, struct view_subject *out);

    /* Returns the name of the pool of threads that the cursor's row stands for; NULL: none. It lives
     * as long as the answer. */
    const char *(*pool)(const void *state, const struct model *m);

    /* Called for a jump from another view: the cursor goes to that method or thread, once the
     * answer has it. */
    void (*seek)(void *state, const struct view_subject *s);

    /* `leave` notes where the user is. `come_back` is called with such a place before the question
     * of that time is asked again. */
    void (*leave)(const void *state, const struct model *m, struct view_place *out);
    void (*come_back)(void *state, const struct view_place *p);

    /* Appends the stack, or what the row shows, as text for a clipboard: one line per frame, leaf
     * first. `row` is VIEW_CURSOR, or a row of a view that has `tag`. */
    void (*copy)(const void *state, const struct model *m, uint32_t row, struct text *out);

    /* Gets what a row stands for, as a tag; the rows are counted from the first one, whether it is on
     * screen or not. False: there is no such row. `tagged` sums up the tagged items; `tagged_of`
     * says what of them: "self", "". */
    bool (*tag)(const void *state, const struct model *m, uint32_t row, struct tag *out);
    void (*tagged)(const void *state, const struct model *m, struct tag_sum *out);
    const char *tagged_of;
};

/* Indexed by enum live_view. */
#define VIEWS 9
extern const struct view_type *const views[VIEWS];
extern const struct view_type view_methods, view_threads, view_tree, view_locks, view_flame,
    view_alloc, view_lines, view_status, view_overview;

/* Returns how a frame was executed, as one letter: I interpreted, 1 C1, 2 C2, i inlined, ' ' not
 * known. */
char view_tier_letter(enum frame_tier tier);
/* Returns a frame's kind as a short word: "java", "kernel". */
const char *view_kind_word(enum method_kind kind);
enum role view_frame_role(enum method_kind kind, enum frame_tier tier);

/* Draws a percentage, right-aligned in `cols`. */
void view_percent(struct canvas *c, int row, int col, int cols, double percent);
/* Draws a method's name. The part that matches the search, or otherwise the filter, is marked. What
 * does not fit is cut from the least useful part: a Java package, a C++ parameter list. */
void view_name(struct canvas *c, int row, int col, int cols, enum role role, const char *name,
               enum method_kind kind, const struct model *m);
/* Draws a row's share of another event; nothing if it is below 0.05 %. */
#define VIEW_OTHER_COLS 7
#define VIEW_NARROW_COLS 60 /* narrower views show only names and the most important figures */
#define VIEW_OTHERS 6
void view_other_share(struct canvas *c, int row, int col, double percent);
/* Draws a weight of the current event: samples for CPU time, otherwise time, bytes or counts.
 * view_weight_head returns the head of that column. */
void view_weight(struct canvas *c, int row, int col, int cols, const struct model *m,
                 uint64_t weight, uint64_t samples);
const char *view_weight_head(const struct model *m);
/* Draws the line of heads, in its role over the whole width. */
void view_heads(struct canvas *c, struct area a, const char *heads);
/* Draws the mark of the cursor's row, and its role over the whole width. */
void view_cursor_row(struct canvas *c, struct area a, int row);
/* Draws the mark of a row that is tagged, beside the cursor's mark. */
#define VIEW_TAG_COL 1
void view_tag_mark(struct canvas *c, struct area a, int row, const struct model *m, struct tag tag);
/* Draws a line that is being typed, after a label. The beginning is cut if needed to keep the caret
 * visible. Returns the caret's column. */
int view_editor(struct canvas *c, int row, const char *label, const struct line_editor *l);
/* True if a row with this text matches the search; always false without model->search. */
bool view_matches(const struct model *m, const char *text);
/* Handles presses and the wheel in a list with `heads` rows of heads: moves the cursor. *enter: it
 * was MOUSE_TWICE on a row. False if the press is not for a list. */
bool view_mouse_list(struct cursor *k, struct area a, int heads, const struct mouse *press,
                     const struct cursor_rows *rows, bool *enter);
/* Moves the cursor of a list to the next row that matches the search, see struct view_type.find.
 * `text` writes a row's text into out. */
bool view_find_row(struct cursor *k, const struct cursor_rows *rows, int by, const struct model *m,
                   const char *(*text)(const void *arg, uint32_t row, char *out, size_t size),
                   const void *arg);
/* Draws a row's weight over time as MODEL_SPARKS cells; `most` is the highest cell of all rows. Each
 * span of time keeps its place, as on an ECG, and a mark follows the newest. */
void view_spark(struct canvas *c, int row, int col, const struct model *m, const uint64_t *cell,
                uint64_t most);
/* Draws a change, "+1.2", with a mark if it is more than chance. */
void view_change(struct canvas *c, int row, int col, int cols, const struct diff_change *change);

/* True if the event is off, and can be started in this session. */
bool view_can_start(const struct model *m, int event);
/* Draws, below the heads of an empty list, why it is empty. */
void view_empty(struct canvas *c, struct area a, const struct model *m);

#endif
