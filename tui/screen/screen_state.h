/*
 * The state that the files of the screen share.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_SCREEN_STATE_H
#define JTOP_TUI_SCREEN_SCREEN_STATE_H

#include "tui/screen/screen.h"
#include "tui/screen/stack_page.h"
#include "tui/screen/stack_request.h"
#include "tui/view/detail_pane.h"
#include "tui/view/event_list.h"
#include "tui/view/view.h"

/* What the line at the bottom is typed for. */
enum screen_typing { TYPING_FILTER, TYPING_SEARCH, TYPING_PIPE, TYPING_COMMAND };

/* The menu in the status line. */
enum screen_menu { MENU_NONE, MENU_SAVE, MENU_SORT };

/* A place the user was at, to go back to it. */
#define SCREEN_PLACES 32 /* kept; older ones are forgotten */
#define SCREEN_LABEL 160
struct screen_place {
    enum live_view view;
    int event;
    uint16_t inverted; /* as struct screen.inverted */
    struct model_question question;
    struct view_place in;
    char label[SCREEN_LABEL]; /* in the trail: "callers of discount" */
};

#define SCREEN_TABS_MAX 16

/* The detail pane beside a list (screen_detail.c). */
enum screen_pane { PANE_IF_WIDE, PANE_OPEN, PANE_CLOSED, PANE_NEVER };

/* The page of stacks of this moment (screen_stacks.c). */
struct screen_stacks {
    bool open;
    bool locks;                    /* with owners of java.util.concurrent locks */
    struct stack_request *request; /* NULL: no answer is waited for */
    struct stack_selection which;
    struct thread_dump dump; /* the last answer; no text: none yet */
    struct stack_page page;
    time_t when;                                  /* the answer came */
    char error[sizeof((struct err *)0)->message]; /* why there is none; "": there is */
    int top, rows;                                /* first line on screen; rows for lines */
    int found;                                    /* line with the last match; -1: none */
    char search[LINE_EDITOR_BYTES]; /* the view's own text to find, while the page is open */
};

struct screen {
    struct model *model;
    enum live_view view, view_before; /* before: what 't' goes back to */
    int event;                        /* event of all views that have no fixed one */
    uint16_t inverted;                /* direction of each view, a bit by enum live_view */
    struct screen_place place[SCREEN_PLACES], here; /* the way back; the place before a press */
    int places;
    bool returned;   /* the press went back, so its place is not remembered */
    int searched_at; /* number of places when the search was typed */
    void *state[VIEWS];
    unsigned generation[VIEWS]; /* the answer each view has seen; 0: none */
    struct line_editor editor;
    enum screen_typing typing;
    struct event_list events;
    enum screen_menu menu;
    struct screen_stacks stacks;
    enum screen_pane pane;
    struct detail *detail; /* what it shows */
    struct detail_pane detail_pane;
    bool pressed; /* since the last screen_rest */
    bool help;
    bool strip_flipped;      /* the strip is not as the screen's size suggests */
    bool marked_by_baseline; /* the baseline has set the mark */
    bool typed;              /* the filter or the time changed, and the model was not asked yet */
    int help_top, help_last, help_page;
    struct line_editor help_search;
    char said[512];       /* until the next key */
    bool ends_well;       /* the end of `said` is important: it may be a file's name */
    char notice[300];     /* the session's own notice, as last seen */
    bool notice_is_minor; /* the trail is shown in its place */
    /* where things were last drawn, for the mouse */
    struct area area;
    int tabs_row, tabs_above, footer_row, rows, cols;
    int strip_row;      /* -1: not shown */
    uint64_t drag_from; /* second where the left button was pressed on the strip; 0: it was not */
    /* the data of the last wish */
    const char *format;
    struct text text;
    /* set by the caller */
    uint64_t line_rate;
    bool line_slow;
    struct screen_tab tab[SCREEN_TABS_MAX];
    char tab_name[SCREEN_TABS_MAX][64];
    int tabs;
};

/* The keys in force. */
static inline const struct keymap *screen_keys(const struct screen *s) {
    return s->model->settings.keys;
}

/* As screen_say, but the beginning is the important part, if there is no room for all. */
void screen_pass(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Carries out a command as its key does. */
enum screen_wish screen_command(struct screen *s, enum command command);

/* Sets in the question what the view on screen needs. */
void screen_want(struct screen *s);
/* Asks the model for what the view on screen needs. */
void screen_ask(struct screen *s);
/* Asks again if the view on screen turns out to need more than the answer has: what is below roots
 * that are open, or the lines of a method. */
void screen_complete(struct screen *s);
void screen_bring_up(struct screen *s, enum live_view view);
/* Updates the view on screen to the newest answer. Other views are updated when they are shown. */
void screen_update_view(struct screen *s);
/* Asks the model if a filter has changed, so that its effect is visible while it is typed. Presses
 * that come together give one question. */
void screen_settle(struct screen *s);

/* The way back (screen_place.c). screen_note_place notes where the user is, before a press;
 * screen_remember_place adds that place to the way back if the press went elsewhere. screen_return
 * goes back one place, false: there is none. screen_reset undoes every restriction, and forgets the
 * way. screen_trail draws the way. */
void screen_note_place(struct screen *s);
void screen_remember_place(struct screen *s);
bool screen_return(struct screen *s);
void screen_reset(struct screen *s);
void screen_trail(const struct screen *s, struct canvas *c, int row, int cols);
/* The menus (screen_menu.c). */
void screen_open_menu(struct screen *s, enum screen_menu menu);
enum screen_wish screen_press_in_menu(struct screen *s, int32_t press);
void screen_draw_menu(const struct screen *s, struct canvas *c, int row, int cols);

/* The palette (screen_palette.c): completes the typed name, carries the command out, draws the names
 * that are possible. */
void screen_complete_command(struct screen *s);
enum screen_wish screen_run_typed(struct screen *s);
void screen_draw_palette(const struct screen *s, struct canvas *c, int row, int col, int cols);

/* Tags (screen_tags.c). screen_tag tags the row at the cursor, or takes its tag away, and goes down.
 * screen_copy makes the text of the tagged rows, or else of the row at the cursor. screen_fill_filter
 * fills the tagged methods into a filter that is typed. screen_tagged writes what the tags weigh, ""
 * if the view has none, and returns out. */
void screen_tag(struct screen *s);
enum screen_wish screen_copy(struct screen *s);
void screen_fill_filter(struct screen *s);
const char *screen_tagged(const struct screen *s, char *out, size_t size);

/* Jumps from the cursor's row to the same item in another view (screen_jump.c). False: no such
 * command. */
bool screen_jump(struct screen *s, enum command command);
/* Windows, scrubbing, marks, comparison (screen_time.c). False: no such command. */
bool screen_move_in_time(struct screen *s, enum command command);
void screen_help(struct screen *s);
/* The detail pane (screen_detail.c). screen_pane_cols returns the columns that it takes from the view;
 * 0: it is closed, or has no room. screen_pane_mouse handles a press on it. */
void screen_toggle_pane(struct screen *s);
int screen_pane_cols(const struct screen *s, const struct canvas *c);
void screen_draw_pane(struct screen *s, struct canvas *c, struct area a);
enum view_outcome screen_pane_mouse(struct screen *s, const struct mouse *press);
/* The page of stacks (screen_stacks.c). `look` takes the JVM's answer if it has come. `status`
 * writes the status row and returns out. */
void screen_stacks_open(struct screen *s);
void screen_stacks_close(struct screen *s);
void screen_stacks_look(struct screen *s);
enum screen_wish screen_stacks_press(struct screen *s, int32_t press);
void screen_stacks_mouse(struct screen *s, const struct mouse *press);
bool screen_stacks_find(struct screen *s, int by);
void screen_stacks_draw(struct screen *s, struct canvas *c);
const char *screen_stacks_status(const struct screen *s, char *out, size_t size);
/* Handle the line that is typed (screen_type.c). */
void screen_type(struct screen *s, enum screen_typing what);
enum screen_wish screen_press_in_editor(struct screen *s, int32_t press);
void screen_find_next(struct screen *s, int by);

#endif
