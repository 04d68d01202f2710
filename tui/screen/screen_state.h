/*
 * What the files of the screen share.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_SCREEN_STATE_H
#define JTOP_TUI_SCREEN_SCREEN_STATE_H

#include "tui/screen/screen.h"
#include "tui/view/event_list.h"
#include "tui/view/view.h"

/* What the line at the bottom is being typed for. */
enum screen_typing { TYPING_FILTER, TYPING_SEARCH, TYPING_PIPE };

#define SCREEN_TABS_MAX 16

struct screen {
    struct model *model;
    enum live_view view, view_before; /* before: what 't' goes back to */
    int event;                        /* that the views are of, but for those of one only */
    void *state[VIEWS];
    unsigned generation[VIEWS]; /* of the answer each view has seen; 0: none */
    struct line_editor editor;
    enum screen_typing typing;
    struct event_list events;
    bool help;
    bool strip_flipped;      /* not as its size has it */
    bool marked_by_baseline; /* counted from here on because of it */
    bool typed;              /* the filter was changed and not asked yet */
    int help_top, help_last, help_page;
    char said[512];
    bool passing;     /* what is said is gone with the next key */
    char notice[300]; /* the session's own, as last seen */
    /* where things were drawn last, for the mouse */
    struct area area;
    int tabs_row, tabs_above, cols;
    /* what the last wish is about */
    const char *format;
    struct text text;
    /* told by the caller */
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

/* As screen_say, until the next key. */
void screen_pass(struct screen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Asks what the view on screen wants to know. */
void screen_ask(struct screen *s);
void screen_bring_up(struct screen *s, enum live_view view);
/* The view on screen is kept at the newest answer; others see it when they come up. */
void screen_update_view(struct screen *s);
/* One sees what a filter leaves while typing it; presses that come together are one question. */
void screen_settle(struct screen *s);

/* From the row of the cursor to what belongs to it (screen_jump.c). False: no such command. */
bool screen_jump(struct screen *s, enum command command);
/* Windows, scrubbing, marks, comparison (screen_time.c). False: no such command. */
bool screen_move_in_time(struct screen *s, enum command command);
/* The line being typed (screen_type.c). */
void screen_type(struct screen *s, enum screen_typing what);
enum screen_wish screen_press_in_editor(struct screen *s, int32_t press);
void screen_find_next(struct screen *s, int by);

#endif
